package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		limit    int
		behind   string // with the ellipsis behind the limit
		within   string // with the ellipsis within the limit
	}{
		{"shorter", "abc", 4, "abc", "abc"},
		{"as long", "abcd", 4, "abcd", "abcd"},
		{"longer", "abcde", 4, "abcd…", "abc…"},
		{"space at the end", "abc de", 4, "abc…", "abc…"},
		{"characters, not bytes", "äöüß", 4, "äöüß", "äöüß"},
		{"nothing allowed", "abc", 0, "…", "…"},
		{"less than nothing", "abc", -1, "…", "…"},
		{"empty", "", 0, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.behind, text.Truncate(tt.in, tt.limit))
			require.Equal(t, tt.within, text.TruncateWithin(tt.in, tt.limit))
		})
	}
}

func TestOneLine(t *testing.T) {
	require.Equal(t, "a b c", text.OneLine(" a\n\tb  c\xff "))
}

func TestWords(t *testing.T) {
	require.Equal(t, []string{"i", "ran", "5", "km", "été"}, text.Words("I ran 5-km, été!"))
}
