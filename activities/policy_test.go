package activities

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A carrier that refuses connections is asked less and less often, and never less
// than once a minute.
func TestBusyPause(t *testing.T) {
	var pauses []time.Duration
	for _, attempt := range []int{1, 2, 3, 6, 7, 1_000_000} {
		pauses = append(pauses, busyPause(attempt))
	}
	require.Equal(t, []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 32 * time.Second, time.Minute, time.Minute,
	}, pauses)
}
