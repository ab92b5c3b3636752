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

// TestHeldUpPromptsAreSpread: an outage ends and everybody's prompt is due. Each
// goes out once, over the minutes that follow, and at once where waiting would
// lose it.
func TestHeldUpPromptsAreSpread(t *testing.T) {
	rules := coach.Rules{PrepTime: 10 * time.Minute, PromptSpread: 5 * time.Minute, PromptGrace: time.Hour}
	target := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	slot := models.Slot{Date: "2026-03-02", TargetAt: target, SendAt: target.Add(-8 * time.Minute)}
	situation := func(i int, now time.Time) coach.Situation {
		return coach.Situation{
			State: models.ParticipantState{
				ParticipantID: fmt.Sprintf("conv_%d", i), Zone: "UTC", Status: models.StatusActive,
				Schedules: []models.Schedule{{ID: "s", Type: models.ScheduleFixed, At: "08:00", Next: slot}},
			},
			Now: now, Rules: rules, Zones: time.LoadLocation,
		}
	}
	// fall is the instant to which a due prompt is put off, or that it is sent.
	fall := func(s coach.Situation, due time.Time) (putOff time.Time, sent bool) {
		decision, err := coach.Decide(s, models.Event{Kind: models.EventDue, Due: models.Due{Kind: models.DueDailyPrompt, Ref: "s", At: due}})
		require.NoError(t, err)
		for _, effect := range decision.Effects {
			switch effect.Kind {
			case models.EffectStartTurn:
				return time.Time{}, true
			case models.EffectSetDue:
				putOff = effect.Due.At
			case models.EffectPutSchedule:
				if effect.Schedule.Next == slot {
					require.Empty(t, effect.Schedule.LastDate, "the date is not done")
				}
			default:
				require.Fail(t, "unexpected effect", effect.Kind)
			}
		}
		return putOff, false
	}
	back := target.Add(20 * time.Minute)
	perMinute := map[int]int{}
	for i := range 1000 {
		putOff, sent := fall(situation(i, back), slot.SendAt)
		require.False(t, sent)
		require.WithinRange(t, putOff, back, back.Add(rules.PromptSpread))
		perMinute[int(putOff.Sub(back)/time.Minute)]++
		_, sent = fall(situation(i, putOff), putOff)
		require.True(t, sent, "it is put off once")
	}
	require.Len(t, perMinute, 5)
	for minute, n := range perMinute {
		require.InDelta(t, 200, n, 60, "minute %d", minute)
	}
	for _, c := range []struct {
		name   string
		now    time.Time
		change func(*coach.Rules)
	}{
		{"on time", slot.SendAt.Add(2 * time.Minute), nil},
		{"no spread", back, func(r *coach.Rules) { r.PromptSpread = 0 }},
		{"the grace ends", target.Add(time.Hour), nil},
		{"quiet hours begin", back, func(r *coach.Rules) {
			r.Quiet = coach.QuietHours{From: 8*60 + 21, To: 9 * 60}
			r.PromptSpread = 10 * time.Minute
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := situation(6, c.now)
			if c.change != nil {
				c.change(&s.Rules)
			}
			_, sent := fall(s, slot.SendAt)
			require.True(t, sent, "at once")
		})
	}
}
