package segments_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/segments"
)

// filler is n characters of words without a sentence's end.
func filler(n int) string { return strings.TrimSpace(strings.Repeat("word ", n/5+1)[:n-1]) + "x" }

func TestSplit(t *testing.T) {
	link := "https://example.org/" + strings.Repeat("a/b-c", 100)
	para := "Para one ends here."
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"blank", " \n\u00a0 ", nil},
		{"short", " Nice walk! \n", []string{"Nice walk!"}},
		{"exactly two segments", strings.Repeat("a", 306), []string{strings.Repeat("a", 306)}},
		{"paragraph before sentence", filler(150) + ".\n\n" + para + " " + filler(150), []string{filler(150) + ".", para + " " + filler(150)}},
		{"line", filler(200) + "\n" + para + " " + filler(150), []string{filler(200), para + " " + filler(150)}},
		{"an early paragraph stays with the rest", "Hi Ada!\n\n" + filler(200) + ". So " + filler(150), []string{"Hi Ada!\n\n" + filler(200) + ".", "So " + filler(150)}},
		{"a paragraph of a third of a part stands alone", strings.Repeat("a", 101) + "\n" + strings.Repeat("b ", 125),
			[]string{strings.Repeat("a", 101), strings.TrimSpace(strings.Repeat("b ", 125))}},
		{"sentence", filler(200) + "! So " + filler(150), []string{filler(200) + "!", "So " + filler(150)}},
		{"sentence in quotes", filler(200) + `." ` + "So " + filler(150), []string{filler(200) + `."`, "So " + filler(150)}},
		{"emoji belongs to its sentence", strings.Repeat("a ", 45) + "b! 🎉 Then " + filler(80), []string{strings.Repeat("a ", 45) + "b! 🎉", "Then " + filler(80)}},
		{"word", filler(290) + " " + filler(100), []string{filler(290) + " word word word", filler(100)[15:]}},
		{"a word longer than a part", strings.Repeat("a", 400), []string{strings.Repeat("a", 306), strings.Repeat("a", 94)}},
		{"families stay whole", strings.Repeat("👨\u200d👩\u200d👧\u200d👦", 13), []string{strings.Repeat("👨\u200d👩\u200d👧\u200d👦", 12), "👨\u200d👩\u200d👧\u200d👦"}},
		{"a pile of marks that fits a segment stays whole", strings.Repeat("e"+strings.Repeat("\u0301", 66), 3),
			[]string{strings.Repeat("e"+strings.Repeat("\u0301", 66), 2), "e" + strings.Repeat("\u0301", 66)}},
		{"Chinese sentence", strings.Repeat("今", 90) + "。" + strings.Repeat("日", 60), []string{strings.Repeat("今", 90) + "。", strings.Repeat("日", 60)}},
		{"a long URL has its own part", "Look here: " + link, []string{"Look here:", link}},
		{"two texts of three segments rather than three texts", filler(400) + ". So " + filler(400), []string{filler(400) + ".", "So " + filler(400)}},
		{"a URL at the edge goes over whole", filler(280) + " https://example.org/some/page-of-ours now", []string{filler(280), "https://example.org/some/page-of-ours now"}},
		{"UCS-2 costs only the part that needs it", filler(300) + " " + filler(100) + " 🎉", []string{filler(300) + " word", filler(100)[5:] + " 🎉"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := segments.Split(tt.in, segments.Options{})
			require.Equal(t, tt.want, out.Texts)
			require.Zero(t, out.LeftOut)
		})
	}
}

// A full stop behind an abbreviation, a decimal or a list's number ends no
// sentence: the text is divided at the one before.
func TestSplitSentences(t *testing.T) {
	for _, tt := range []struct{ name, dot, after string }{
		{"decimal", "8.30", "Is it?"},
		{"e.g.", "e.g.", "Monday"},
		{"a.m.", "at 8 a.m.", "Monday"},
		{"title", "Dr.", "Miller"},
		{"initial", "J.", "Miller"},
		{"bracket", "(approx.", "Two hours)"},
		{"small letter", "hm...", "and so on"},
		{"German", "z.B.", "Montag"},
		{"list", "\n1.", "Walk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := filler(200) + "."
			in := first + " So " + filler(60) + " " + tt.dot + " " + tt.after + " " + filler(100)
			out := segments.Split(in, segments.Options{})
			if strings.HasPrefix(tt.dot, "\n") {
				require.True(t, strings.HasPrefix(out.Texts[1], "1. Walk"), "%q", out.Texts)
				return
			}
			require.Equal(t, first, out.Texts[0])
		})
	}
}

func TestSplitTriesFullerPartsBeforeItCuts(t *testing.T) {
	// A line a part would need three parts; sentences need two.
	line := filler(140) + ". " + filler(140) + "."
	in := strings.Join([]string{line, line, line}, "\n")
	out := segments.Split(in, segments.Options{})
	require.Len(t, out.Texts, 2)
	require.Zero(t, out.LeftOut)
}

func TestSplitCuts(t *testing.T) {
	sentence := "Walk a little after lunch every day. "
	in := strings.Repeat(sentence, 40)
	out := segments.Split(in, segments.Options{})
	require.Len(t, out.Texts, 2)
	require.True(t, strings.HasSuffix(out.Texts[1], "every day. ..."), out.Texts[1])
	sent := strings.TrimSuffix(strings.Join(out.Texts, " "), " ...")
	require.True(t, strings.HasPrefix(in, sent))
	require.Equal(t, utf8.RuneCountInString(strings.TrimSpace(in[len(sent):])), out.LeftOut)

	words := segments.Split(strings.Repeat("word ", 300), segments.Options{MaxParts: 1, Segments: 1})
	require.Len(t, words.Texts, 1)
	require.True(t, strings.HasSuffix(words.Texts[0], "word..."), words.Texts[0])
	require.Equal(t, 1, segments.Count(words.Texts[0]).Segments)

	link := segments.Split("https://example.org/page "+strings.Repeat("word ", 300), segments.Options{MaxParts: 1, Segments: 1})
	require.True(t, strings.HasPrefix(link.Texts[0], "https://example.org/page "))
	first := segments.Split(strings.Repeat("x", 140)+" https://example.org/page and more", segments.Options{MaxParts: 1, Segments: 1})
	require.Equal(t, strings.Repeat("x", 140)+"...", first.Texts[0])
	address := segments.Split("https://example.org/"+strings.Repeat("x", 200)+" "+filler(200), segments.Options{MaxParts: 1, Segments: 1})
	require.Equal(t, "https://example.org/"+strings.Repeat("x", 200)+" ...", address.Texts[0], "the dots are no part of the address")

	for length, want := range map[int]int{1596: 1600, 1597: 1597} {
		cut := segments.Split("https://example.org/"+strings.Repeat("x", length-20)+" and more", segments.Options{MaxParts: 1, Segments: 1})
		require.Len(t, cut.Texts[0], want, "dots where the carrier takes them")
	}

	endless := segments.Split("https://example.org/"+strings.Repeat("x", 3000), segments.Options{})
	require.Zero(t, endless.LeftOut)
	require.Len(t, endless.Texts[0], segments.MaxCharacters, "as much as the carrier takes")
	for _, part := range endless.Texts {
		require.LessOrEqual(t, len(part), segments.MaxCharacters)
	}
}

// fragment draws what texts are made of.
func fragment() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"a", "walk", "Nice!", "day.", "e.g.", "8.30", "(so)", "well-known", " ", " ", " ", "  ", "\n", "\n\n", "\r\n", "\u00a0", ", ",
		"é", "ż", "e\u0301", "\u0301", " \u0301", "ж", "今日は", "。", "👍", "👍🏽", "👨\u200d👩\u200d👧\u200d👦", "🇫🇷", "❤\ufe0f", "’", "“", "…", " — ", "€", "{", "×",
		"https://example.org/a?b=c&d=(e)", "www.example.org", strings.Repeat("long", 30), "https://example.org/" + strings.Repeat("x", 300),
	})
}

// address also takes what is glued to it, as the product does.
var address = regexp.MustCompile(`(?:https?://|www\.)[^\s\p{Z}“今日は。]+`)

// longAddress leaves space for a scheme that letters before it are taken for.
const longAddress = segments.MaxCharacters - 20

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 150).Draw(rt, "length")
		in := strings.Join(rapid.SliceOfN(fragment(), n, n).Draw(rt, "text"), "")
		o := segments.Options{MaxParts: rapid.SampledFrom([]int{1, 3, 3, 99}).Draw(rt, "parts"), Segments: rapid.IntRange(1, 3).Draw(rt, "segments")}
		check(rt, in, o)
	})
}

type failer interface {
	require.TestingT
	Helper()
}

// check holds what is true of every split.
func check(t failer, in string, o segments.Options) {
	t.Helper()
	out := segments.Split(in, o)
	require.LessOrEqual(t, len(out.Texts), o.MaxParts)
	pos := 0
	for i, part := range out.Texts {
		require.NotEmpty(t, strings.TrimSpace(part))
		require.LessOrEqual(t, len(utf16.Encode([]rune(part))), segments.MaxCharacters)
		whole := part
		if out.LeftOut > 0 && i == len(out.Texts)-1 {
			whole = strings.TrimSuffix(part, "...")
			require.False(t, part == whole && len(part) < longAddress, "a cut shows")
			whole = strings.TrimRightFunc(whole, unicode.IsSpace)
		}
		found := strings.Index(in[pos:], whole)
		require.GreaterOrEqual(t, found, 0)
		require.Empty(t, strings.TrimSpace(in[pos:pos+found]), "only white space is lost")
		divides(t, in, pos+found)
		pos += found + len(whole)
		divides(t, in, pos)
		if segments.Count(part).Segments > o.Segments {
			require.Regexp(t, `^\S*(?:https?://|www\.)\S+( ?\.\.\.)?$`, part, "only an address may be longer")
		}
	}
	rest := strings.TrimSpace(in[pos:])
	require.Equal(t, utf8.RuneCountInString(rest), out.LeftOut)
}

// divides fails where a place lies within a character or an address.
func divides(t failer, in string, at int) {
	t.Helper()
	if at == 0 || at == len(in) {
		return
	}
	for _, span := range address.FindAllStringIndex(in, -1) {
		inside := at > span[0] && at < span[1] && utf8.RuneCountInString(in[span[0]:span[1]]) < longAddress
		require.False(t, inside, "an address was divided at %d: %q", at, in)
	}
	end := 0
	clusters := uniseg.NewGraphemes(in)
	for clusters.Next() {
		_, end = clusters.Positions()
		if end >= at {
			break
		}
	}
	require.Equal(t, at, end, "a character was divided in %q", in)
}

func FuzzSplit(f *testing.F) {
	f.Add("Nice walk! "+strings.Repeat("word ", 200), 3, 2)
	f.Add(strings.Repeat("👨\u200d👩\u200d👧", 60), 3, 1)
	f.Add("https://example.org/"+strings.Repeat("x", 2000)+" a", 2, 2)
	f.Add("e"+strings.Repeat("\u0301", 300), 3, 1)
	f.Fuzz(func(t *testing.T, in string, parts, size int) {
		o := segments.Options{MaxParts: min(max(parts, 1), 20), Segments: min(max(size, 1), 10)}
		out := segments.Split(in, o)
		require.LessOrEqual(t, len(out.Texts), o.MaxParts)
		joined := strings.Join(out.Texts, "")
		if out.LeftOut == 0 {
			require.Equal(t, bare(in), bare(joined))
		}
		for _, part := range out.Texts {
			require.NotEmpty(t, part)
			require.LessOrEqual(t, len(utf16.Encode([]rune(part))), segments.MaxCharacters)
		}
		require.False(t, slices.Contains(out.Texts, ""))
	})
}

// bare is a text without white space.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }
