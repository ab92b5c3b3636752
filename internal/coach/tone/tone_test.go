package tone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestOppositesExclude(t *testing.T) {
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for _, tag := range Tags() {
		for _, other := range oppositesOf(tag) {
			require.Contains(t, oppositesOf(other), tag)
			got, change := Merge(models.Tone{Tags: []string{other}}, []string{tag}, Explicit, now)
			require.Equal(t, ChangedTags, change)
			require.Equal(t, []string{tag}, got.Tags)
		}
	}
	require.Len(t, Tags(), 15)
}
