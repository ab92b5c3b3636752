package stems_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"coachline/internal/stems"
	"coachline/internal/stems/proof"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name, pattern string
		want          []string
	}{
		{"a literal", `hello`, []string{"hello"}},
		{"one of two", `hello|goodbye`, []string{"goodbye", "hello"}},
		{"neighbours are read together", `(?:hurt|harm) me`, []string{"harm me", "hurt me"}},
		{"what may be left out", `so (?:very )?tired`, []string{"so tired", "so very tired"}},
		{"positions add nothing", `^\bhello\b$`, []string{"hello"}},
		{"the longest part of a row", `\w+ is never (?:\d+ )*on`, []string{" is never "}},
		{"the fewest of equal length", `(?:morning|evening)s? \d+ headaches`, []string{" headaches"}},
		{"what repeats stands once", `(?:so )*(?:tired )+`, []string{"tired "}},
		{"what holds another is covered", `overdos(?:e|ed|ing)`, []string{"overdose", "overdosing"}},
		{"a class of characters", `muert[oa]`, []string{"muerta", "muerto"}},
		{"one way without any", `hello|\pL+`, nil},
		{"nothing at all", ``, nil},
		{"all may be left out", `(?:hello)?`, nil},
		{"either case", `(?i)hello`, nil},
		{"too many to write out", `\pL`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, stems.Of(tt.pattern))
			_, found := proof.Exception(tt.pattern, tt.want)
			assert.Equal(t, tt.want == nil, found)
		})
	}
	assert.Panics(t, func() { stems.Of(`(`) })
}

func TestLikely(t *testing.T) {
	index := stems.NewIndex([]string{`\bhello|hi you\b`, `\w+`, `h(?:ello|owdy) you`, `ab`}, func(p string) string { return p })
	for text, want := range map[string][]string{
		"":                {`\w+`, `ab`},
		"he":              {`\w+`, `ab`},
		"well hello":      {`\w+`, `ab`, `\bhello|hi you\b`},
		"hello hello you": {`\w+`, `ab`, `\bhello|hi you\b`, `h(?:ello|owdy) you`},
		"howdy you":       {`\w+`, `ab`, `h(?:ello|owdy) you`},
		"hell o hi yo":    {`\w+`, `ab`},
	} {
		assert.ElementsMatch(t, want, index.Likely(text), text)
	}
}

// Patterns of all shapes: whatever matches is among what is likely.
func TestWhatMatchesIsLikely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := patterns(3).Draw(t, "pattern")
		if text, found := proof.Exception(pattern, stems.Of(pattern)); found && len(stems.Of(pattern)) > 0 {
			t.Fatalf("%q matches %s and holds none of %q", text, pattern, stems.Of(pattern))
		}
		text := rapid.StringOf(rapid.SampledFrom([]rune("abc é"))).Draw(t, "text")
		likely := stems.NewIndex([]string{pattern}, func(p string) string { return p }).Likely(text)
		if regexp.MustCompile(pattern).MatchString(text) && len(likely) == 0 {
			t.Fatalf("%s matches in %q, with stems %q", pattern, text, stems.Of(pattern))
		}
	})
}

func patterns(depth int) *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "c a", "é", "[ab]", "[a-c]", `\w`, `\b`, "^", "$", ".", "", "(?i:a)", "(?i:bc)"})
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) string {
		a, b := patterns(depth-1).Draw(t, "a"), patterns(depth-1).Draw(t, "b")
		switch rapid.SampledFrom([]string{"row", "row", "either", "maybe", "any", "some", "counted"}).Draw(t, "shape") {
		case "row":
			return a + b
		case "either":
			return "(?:" + a + "|" + b + ")"
		case "maybe":
			return "(?:" + a + ")?" + b
		case "any":
			return "(" + a + ")*" + b
		case "some":
			return "(?:" + a + ")+" + b
		default:
			return "(?:" + a + "){1,2}" + b
		}
	}))
}
