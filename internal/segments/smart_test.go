package segments_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/segments"
)

func TestSmart(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
	}{
		{"plain", "Nice walk.", "Nice walk."},
		{"quotes", "“It’s ‘fine’” «yes» ‹no› „ja‟", `"It's 'fine'" "yes" 'no' "ja"`},
		{"dashes", "8–9 am — or later—fine − 2", "8-9 am - or later - fine - 2"},
		{"ellipsis and bullets", "So…\n• walk\n◦ sleep", "So...\n- walk\n- sleep"},
		{"spaces", "10\u00a0min\u202fa\u2009day\u200b", "10 min a day"},
		{"arithmetic and arrows", "3 × 10 ≤ 30 → rest", "3 x 10 <= 30 -> rest"},
		{"an emoji needs UCS-2 anyway", "It’s done 🎉", "It’s done 🎉"},
		{"so does a letter", "It’s żółty", "It’s żółty"},
		{"but other parts of a long text need not", strings.Repeat("It’s a walk. ", 30) + "🎉", strings.Repeat("It's a walk. ", 30) + "🎉"},
		{"not when it would cost more", strings.Repeat("…", 60), strings.Repeat("…", 60)},
		{"letters with diacritics of GSM-7", "Übung’s à é ñ", "Übung's à é ñ"},
		{"a middle dot in a word", "col·legi’s", "col·legi’s"},
		{"a middle dot between phrases", "Walk · Rest", "Walk - Rest"},
		{"letters that look like quotes", "Hawaiʻi", "Hawaiʻi"},
		{"signs that are emoji", "©️ ™️ ↔️ ’", "©️ ™️ ↔️ ’"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, segments.Smart(tt.in))
		})
	}
}

func TestSmartKeepsTheCarriersLimit(t *testing.T) {
	full := strings.Repeat("“a", 800)
	require.Equal(t, strings.ReplaceAll(full, "“", `"`), segments.Smart(full), "1600 characters are sent")
	over := strings.Repeat("“a", 799) + "a…"
	require.Equal(t, over, segments.Smart(over), "three dots would make it too long")
	require.Contains(t, segments.Smart(over+"a"), "...", "it was too long before")
}

func TestSmartTouchesNoLetterAndNeverCostsMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 120).Draw(rt, "length")
		in := strings.Join(rapid.SliceOfN(fragment(), n, n).Draw(rt, "text"), "")
		out := segments.Smart(in)
		require.Equal(rt, letters(in), letters(out))
		before, lost := cost(in)
		after, lostAfter := cost(out)
		require.True(rt, lostAfter < lost || lostAfter == lost && after <= before)
		require.Equal(rt, out, segments.Smart(out))
	})
}

// letters keeps what Smart must not touch: letters, marks, digits, emoji.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) && r != 'x' || unicode.Is(unicode.So, r) {
			return r
		}
		return -1
	}, strings.ReplaceAll(text, "×", "x"))
}

func cost(text string) (n, leftOut int) {
	out := segments.Split(text, segments.Options{})
	for _, part := range out.Texts {
		n += segments.Count(part).Segments
	}
	return n, out.LeftOut
}
