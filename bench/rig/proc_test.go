package rig

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFiguresOfAProcess(t *testing.T) {
	began := time.Now()
	used := func() time.Duration {
		d, err := processorOf(os.Getpid())
		require.NoError(t, err)
		return d
	}
	for first := used(); used() < first+3*tick; {
		require.Less(t, time.Since(began), time.Minute, "work takes processor time")
	}
	_, err := processorOf(-1)
	require.ErrorContains(t, err, "-1")
}

func TestChildHasItsOwnSettings(t *testing.T) {
	got := withoutSettings([]string{"PATH=/bin", "COACH_DEBOUNCE=9", "OPENAI_API_KEY=x", "GOGC=50", "DATABASE_URL=x", "TEMPORAL_ADDRESS=x", "TWILIO_FROM=x"})
	require.Equal(t, []string{"PATH=/bin", "GOGC=50"}, got)
}
