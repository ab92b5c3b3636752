package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

func TestCutAtSentence(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"Nice walk! Tomorrow we", "Nice walk!"},
		{"One. Two? Three", "One. Two?"},
		{"no end in sight", ""},
		{"A line\nand a bit", "A line"},
		{"Whole.", "Whole."},
		{"It costs 3.50 and", ""},
	} {
		require.Equal(t, tt.want, text.CutAtSentence(tt.in), tt.in)
	}
}
