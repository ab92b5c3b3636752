package coach_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
)

// TestCohortIsSpread: many people choose 08:00; their prompts go out over the
// whole spread, none before the preparation time begins and none after the
// target, each at the same second every day.
func TestCohortIsSpread(t *testing.T) {
	now := time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)
	target := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	rules := coach.Rules{PrepTime: 10 * time.Minute, PromptSpread: 5 * time.Minute, PromptGrace: time.Hour}
	perMinute := map[int]int{}
	for i := range 1000 {
		state := models.ParticipantState{ParticipantID: fmt.Sprintf("conv_%d", i), Zone: "UTC", Status: models.StatusActive}
		ask := models.Event{Kind: models.EventScheduleTool, Schedule: &models.ScheduleAsk{
			Action: models.ScheduleCreate, NewID: "s", Type: models.ScheduleFixed, At: "08:00"}}
		at := func(now time.Time) time.Time {
			decision, err := coach.Decide(coach.Situation{State: state, Now: now, Rules: rules, Zones: time.LoadLocation}, ask)
			require.NoError(t, err)
			require.Equal(t, models.EffectSetDue, decision.Effects[1].Kind)
			return decision.Effects[1].Due.At
		}
		first := at(now)
		early := target.Sub(first)
		require.LessOrEqual(t, early, rules.PrepTime)
		require.Greater(t, early, rules.PrepTime-rules.PromptSpread)
		require.Equal(t, first.Add(24*time.Hour), at(now.Add(24*time.Hour)))
		perMinute[int(early/time.Minute)]++
	}
	require.Len(t, perMinute, 5)
	for minute, n := range perMinute {
		require.InDelta(t, 200, n, 60, "minute %d", minute)
	}
}
