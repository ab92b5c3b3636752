package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// The set has as many messages of each language, half of which are no danger.
func TestLookSet(t *testing.T) {
	set, err := readLookSet(lookSet)
	require.NoError(t, err)
	counts := map[string]map[bool]int{}
	for _, one := range set {
		if counts[one.language] == nil {
			counts[one.language] = map[bool]int{}
		}
		counts[one.language][one.want == models.LookNone]++
	}
	for _, language := range []string{"de", "en", "es", "fr", "pt"} {
		require.Equal(t, map[bool]int{true: 8, false: 8}, counts[language], language)
	}
	for _, bad := range []string{"en\tnone", "en\tdue\thello", "none\thello"} {
		_, err := readLookSet(bad)
		require.Error(t, err, bad)
	}
}
