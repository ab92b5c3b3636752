package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseInstant(t *testing.T) {
	zone := time.FixedZone("there", 2*60*60)
	now := time.Date(2026, 1, 1, 10, 0, 0, 5, zone)
	for text, want := range map[string]time.Time{
		"2026-01-02":           time.Date(2026, 1, 2, 0, 0, 0, 0, zone),
		"2026-01-02T09:30":     time.Date(2026, 1, 2, 9, 30, 0, 0, zone),
		"2026-01-02 09:30":     time.Date(2026, 1, 2, 9, 30, 0, 0, zone),
		"2026-01-02T09:30:00Z": time.Date(2026, 1, 2, 9, 30, 0, 0, time.UTC),
		"36h":                  time.Date(2026, 1, 2, 22, 0, 0, 0, zone),
	} {
		got, err := parseInstant(text, now)
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
}
