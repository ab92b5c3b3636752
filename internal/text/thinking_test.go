package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

func TestSplitThinking(t *testing.T) {
	for _, test := range []struct{ name, in, visible, thinking string }{
		{"none", " a < b \n", " a < b \n", ""},
		{"before", "<think>x</think>a", "a", "x"},
		{"between", "a <thinking>x</thinking>b", "a b", "x"},
		{"several", "<think>x</think>a<THINK>y</Think >", "a", "xy"},
		{"one in another", "<think>x<think>y</think>z</think>a", "a", "xyz"},
		{"without an end", "a<think>x", "a", "x"},
		{"without a beginning", "x</think>a", "a", "x"},
		{"a tag of two halves", "<thi<think>x</think>nk>a", "", "xa"},
		{"nothing else", "<think>\n\n</think>\n\n", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			visible, thinking, _ := text.SplitThinking(test.in)
			require.Equal(t, test.visible, visible)
			require.Equal(t, test.thinking, thinking)
		})
	}
}

func FuzzSplitThinking(f *testing.F) {
	for _, seed := range []string{"", "a", "<think>x</think>a", "x</think>a<think>y", "<<think>think>a</think>", "<thi<think>nk>", "<thi<think>x</think>nk>a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		visible, thinking, found := text.SplitThinking(answer)
		if !found {
			require.Empty(t, thinking)
		}
		require.LessOrEqual(t, len(visible)+len(thinking), len(answer))
		again, _, found := text.SplitThinking(visible)
		require.False(t, found, "a tag was left in %q", visible)
		require.Equal(t, visible, again)
	})
}
