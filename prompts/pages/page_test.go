package pages_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/prompts/pages"
)

const good = "---\nname: sleep\ndescription: going to bed on time\n---\nDim the lights.\n"

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         pages.Page
	}{
		{"name, description, text", good, pages.Page{Name: "sleep", Description: "going to bed on time", Body: "Dim the lights."}},
		{"keywords", "---\nname: sleep\ndescription: d\nkeywords: [bed, dormir]\n---\nx", pages.Page{
			Name: "sleep", Description: "d", Keywords: []string{"bed", "dormir"}, Body: "x"}},
		{"tools", "---\nname: a-1_b\ndescription: d\ntools: [scheduler]\n---\nx", pages.Page{
			Name: "a-1_b", Description: "d", Tools: []string{"scheduler"}, Body: "x"}},
		{"no tools at all", "---\nname: a\ndescription: d\ntools: []\n---\nx", pages.Page{Name: "a", Description: "d", Tools: []string{}, Body: "x"}},
		{"a heading opens no section", "---\nname: a\ndescription: d\n---\n# Now\n#\tx\n## y\n---\nz", pages.Page{
			Name: "a", Description: "d", Body: "## Now\n## x\n## y\n---\nz"}},
		{"mark and line ends of another system", "\ufeff---\r\nname: a\r\ndescription: d\r\n---\r\nx\r\ny\r\n", pages.Page{Name: "a", Description: "d", Body: "x\ny"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pages.Parse("f.md", tt.source)
			require.NoError(t, err)
			tt.want.File, tt.want.Source = "f.md", tt.source
			require.Equal(t, tt.want, got)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"no head", "Dim the lights.", "has no head"},
		{"a head without an end", "---\nname: a\n", "has no head"},
		{"no description", "---\nname: a\n---\nx", "has no description"},
		{"blank description", "---\nname: a\ndescription: ' '\n---\nx", "has no description"},
		{"two lines", "---\nname: a\ndescription: |\n  one\n  two\n---\nx", "more than one line"},
		{"a long description", "---\nname: a\ndescription: " + strings.Repeat("é", 301) + "\n---\nx", "more than 300 characters"},
		{"no name", "---\ndescription: d\n---\nx", `has the name ""`},
		{"a path as a name", "---\nname: ../x\ndescription: d\n---\nx", `has the name "../x"`},
		{"a field that is not known", "---\nname: a\ndescription: d\ncolour: red\n---\nx", "colour"},
		{"an empty head", "---\n---\nx", `has the name ""`},
		{"no YAML", "---\n\t{\n---\nx", "reading its head"},
		{"no list", "---\nname: a\ndescription: d\ntools: {a: b}\n---\nx", "reading its tools"},
		{"no text", "---\nname: a\ndescription: d\n---\n \n", "has no text"},
		{"nothing", " \n", "has no text"},
		{"no UTF-8", "---\nname: a\ndescription: d\n---\n\xff", "is not UTF-8"},
		{"8,001 characters", good + strings.Repeat("é", 8001-utf8.RuneCountInString(good)), "has 8001 characters; at most 8000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pages.Parse("f.md", tt.source)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := pages.Parse("f.md", good+strings.Repeat("é", 8000-utf8.RuneCountInString(good)))
	require.NoError(t, err)
}

func TestPermits(t *testing.T) {
	require.True(t, pages.Page{}.Permits("scheduler"))
	require.True(t, pages.Page{Tools: []string{"scheduler"}}.Permits("scheduler"))
	require.False(t, pages.Page{Tools: []string{"scheduler"}}.Permits("search_memory"))
	require.False(t, pages.Page{Tools: []string{}}.Permits("scheduler"))
}

func TestEmptyToolsLineLetsNoneThrough(t *testing.T) {
	page, err := pages.Parse("f.md", "---\nname: a\ndescription: d\ntools:\n---\nx")
	require.NoError(t, err)
	require.False(t, page.Permits("scheduler"), "nothing behind tools: is no tool, not every tool")
}

func file(name string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\n---\ntext of " + name)}
}

func TestRead(t *testing.T) {
	own := fstest.MapFS{"b.md": file("b"), "a.md": file("a"), "d.md": file("d")}
	for _, tt := range []struct {
		name  string
		later fstest.MapFS
		want  []string
	}{
		{"built in", fstest.MapFS{}, []string{"a", "b", "d"}},
		{"one more", fstest.MapFS{"c.md": file("c"), ".keep": file("x")}, []string{"a", "b", "c", "d"}},
		{"in place of one", fstest.MapFS{"b.md": file("other")}, []string{"a", "other", "d"}},
		{"taken away", fstest.MapFS{"b.md": {}, "d.md": {Data: []byte("---\nname: d\n---\n\n")}}, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pages.Read(own, tt.later)
			require.NoError(t, err)
			var names []string
			for _, page := range got {
				names = append(names, page.Name)
			}
			require.Equal(t, tt.want, names)
		})
	}
	none, err := pages.Read()
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestReadNamesTheFile(t *testing.T) {
	own := fstest.MapFS{"a.md": file("a")}
	for _, tt := range []struct {
		name  string
		later fstest.MapFS
		want  string
	}{
		{"no text", fstest.MapFS{"z.md": {}}, "z.md has no text"},
		{"no description", fstest.MapFS{"a.md": {Data: []byte("---\nname: a\n---\nx")}}, "a.md has no description"},
		{"another ending", fstest.MapFS{"notes.txt": file("n")}, "notes.txt is no text"},
		{"a folder", fstest.MapFS{"more/b.md": file("b")}, "more is no text"},
		{"the same name", fstest.MapFS{"b.md": file("a")}, "b.md has the name a, and so has a.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pages.Read(own, tt.later)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// FuzzParse: Parse returns for every file, and what it accepts can stand in a
// request.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{good, "", "---", "---\n---\n", "---\nname: &a [*a]\n---\nx", "---\nname: a\ndescription: d\ntools: [x]\n---\n# y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		page, err := pages.Parse("f.md", source)
		if err != nil {
			return
		}
		require.NotEmpty(t, page.Body)
		require.Regexp(t, `^[a-z0-9_-]+$`, page.Name)
		require.NotEmpty(t, page.Description)
		require.NotContains(t, page.Description, "\n")
		require.NotRegexp(t, `(?m)^# `, page.Body)
	})
}
