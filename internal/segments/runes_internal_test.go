package segments

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKindsOfRunes(t *testing.T) {
	for _, r := range []rune{firstFlag, lastFlag} {
		require.True(t, isFlagLetter(r))
	}
	require.False(t, isFlagLetter(firstFlag-1))
	require.False(t, isFlagLetter(lastFlag+1))
	for _, r := range []rune{'😀', '🏽', '\ufe0f', '\u200d'} {
		require.True(t, isPictograph(r), "%U", r)
	}
	require.False(t, isPictograph('a'))
}
