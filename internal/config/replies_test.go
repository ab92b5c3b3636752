package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimitsOfAReply(t *testing.T) {
	cfg, err := Load(nil, nil)
	require.NoError(t, err)
	r := cfg.Replies
	require.Equal(t, []any{6, 2, 1200, 3, 8 * time.Second}, []any{r.RecalledFacts, r.CarriedCalls, r.CarriedChars, r.ToolSearches, r.StageTimeout})
	for _, bad := range []string{"COACH_RECALLED_FACTS=0", "COACH_CARRIED_CALLS=-1", "COACH_CARRIED_CHARS=100", "COACH_TOOL_SEARCHES=21", "COACH_STAGE_TIMEOUT=2m"} {
		_, err := Load([]string{bad}, nil)
		require.ErrorContains(t, err, bad[:15], bad)
	}
}

func TestNegativeReminderIsNone(t *testing.T) {
	cfg, err := Load([]string{"COACH_REMINDER_DELAY=-5h"}, nil)
	require.NoError(t, err)
	require.Zero(t, cfg.Coaching.ReminderDelay)
}
