package coach_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models/wire"
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
		state := wire.ParticipantState{ParticipantID: fmt.Sprintf("conv_%d", i), Zone: "UTC", Status: wire.StatusActive}
		ask := wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
			Action: wire.ScheduleCreate, NewID: "s", Type: wire.ScheduleFixed, At: "08:00"}}
		at := func(now time.Time) time.Time {
			decision, err := coach.Decide(coach.Input{State: state, Now: now, Rules: rules, Zones: time.LoadLocation}, ask)
			require.NoError(t, err)
			require.Equal(t, wire.EffectSetDue, decision.Effects[1].Kind)
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

// TestHeldUpPromptsAreSpread: an outage ends and all participants' prompts are
// due. Each goes out once, over the minutes that follow, and at once where
// waiting would lose it.
func TestHeldUpPromptsAreSpread(t *testing.T) {
	rules := coach.Rules{PrepTime: 10 * time.Minute, PromptSpread: 5 * time.Minute, PromptGrace: time.Hour}
	target := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	slot := wire.Slot{Date: "2026-03-02", TargetAt: target, SendAt: target.Add(-8 * time.Minute)}
	situation := func(i int, now time.Time) coach.Input {
		return coach.Input{
			State: wire.ParticipantState{
				ParticipantID: fmt.Sprintf("conv_%d", i), Zone: "UTC", Status: wire.StatusActive,
				Schedules: []wire.Schedule{{ID: "s", Type: wire.ScheduleFixed, At: "08:00", Next: slot}},
			},
			Now: now, Rules: rules, Zones: time.LoadLocation,
		}
	}
	// fall is the instant to which a due prompt is put off, or that it is sent.
	fall := func(s coach.Input, due time.Time) (putOff time.Time, sent bool) {
		decision, err := coach.Decide(s, wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueDailyPrompt, Ref: "s", At: due}})
		require.NoError(t, err)
		for _, effect := range decision.Effects {
			switch effect.Kind {
			case wire.EffectStartTurn:
				return time.Time{}, true
			case wire.EffectSetDue:
				putOff = effect.Due.At
			case wire.EffectPutSchedule:
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

// TestHeldUpIsSpread: an outage ends and what should have followed from
// the prompt of each participant is due. Each of it follows once, over the
// minutes that come.
func TestHeldUpIsSpread(t *testing.T) {
	const spread = 10 * time.Minute
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	rules := coach.Rules{
		PrepTime: spread, PromptSpread: spread, FeedbackTimeout: time.Minute, FeedbackFollowup: time.Hour, CheckIn: time.Hour, CheckInCap: 1,
	}
	situation := func(i int, mode wire.Mode) coach.Input {
		state := wire.ParticipantState{ParticipantID: fmt.Sprintf("conv_%d", i), Zone: "UTC", Status: wire.StatusActive, Mode: mode}
		return coach.Input{State: state, Now: now, Rules: rules, Zones: time.LoadLocation}
	}
	fall := func(s coach.Input, due wire.Due) []wire.Effect {
		decision, err := coach.Decide(s, wire.Event{Kind: wire.EventDue, Due: due})
		require.NoError(t, err)
		return decision.Effects
	}
	for _, c := range []struct {
		kind    wire.DueKind
		mode    wire.Mode
		pending string
		follows wire.TurnKind
	}{
		{wire.DueReminder, wire.ModeIntake, "p", wire.TurnReminder},
		{wire.DueAutoFeedback, wire.ModeIntake, "p", ""},
		{wire.DueFeedbackTimeout, wire.ModeFeedback, "", wire.TurnFeedbackQuestion},
		{wire.DueFeedbackFollowup, wire.ModeFeedback, "", wire.TurnFeedbackFollowup},
		{wire.DueCheckIn, wire.ModeIntake, "", wire.TurnCheckIn},
	} {
		// follows: it has its effect, and is not put off.
		follows := func(effects []wire.Effect) bool {
			return slices.ContainsFunc(effects, func(e wire.Effect) bool {
				return e.Kind == wire.EffectStartTurn && e.Turn.Kind == c.follows || e.Kind == wire.EffectSetMode && c.follows == ""
			})
		}
		waiting := func(i int) coach.Input {
			s := situation(i, c.mode)
			if c.pending != "" {
				s.State.Pending = &wire.PendingPrompt{PromptID: c.pending}
			}
			return s
		}
		t.Run(string(c.kind), func(t *testing.T) {
			early := 0
			for i := range 200 {
				s := waiting(i)
				due := wire.Due{Kind: c.kind, Ref: c.pending, At: now.Add(-time.Hour)}
				effects := fall(s, due)
				require.Len(t, effects, 1)
				require.Equal(t, wire.EffectSetDue, effects[0].Kind)
				put := effects[0].Due
				require.Equal(t, []any{c.kind, c.pending}, []any{put.Kind, put.Ref})
				require.WithinRange(t, put.At, now, now.Add(spread))
				if put.At.Before(now.Add(spread / 2)) {
					early++
				}

				s.Now = put.At
				require.True(t, follows(fall(s, put)), "it is put off once")
			}
			require.InDelta(t, 100, early, 30)

			s := waiting(1)
			s.Rules.PromptSpread = 0
			require.True(t, follows(fall(s, wire.Due{Kind: c.kind, Ref: c.pending, At: now.Add(-time.Hour)})), "no spread")
		})
	}
	t.Run("what was asked for by name is not", func(t *testing.T) {
		effects := fall(situation(1, wire.ModeIntake), wire.Due{Kind: wire.DueDelayedTransition, Ref: string(wire.ModeFeedback), At: now.Add(-time.Hour)})
		require.Equal(t, wire.EffectSetMode, effects[0].Kind)
	})
}

// TestQuietHoursEndOneByOne: quiet hours end for a whole zone at one instant,
// and what waited for it goes out over the minutes that follow.
func TestQuietHoursEndOneByOne(t *testing.T) {
	const spread = 10 * time.Minute
	night := time.Date(2026, 3, 3, 2, 0, 0, 0, time.UTC)
	opens := time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC)
	put := func(i int, kind wire.DueKind, change func(*coach.Input)) wire.Due {
		s := coach.Input{
			State: wire.ParticipantState{
				ParticipantID: fmt.Sprintf("conv_%d", i), Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback,
				Pending: &wire.PendingPrompt{PromptID: "p"},
			},
			Now: night, Zones: time.LoadLocation,
			Rules: coach.Rules{
				PrepTime: spread, PromptSpread: spread, PromptGrace: 12 * time.Hour, FeedbackFollowup: time.Hour,
				Quiet: coach.QuietHours{From: 21 * 60, To: 8 * 60},
			},
		}
		if kind == wire.DueDailyPrompt {
			slot := wire.Slot{Date: "2026-03-03", TargetAt: night, SendAt: night.Add(-time.Minute)}
			s.State.Schedules = []wire.Schedule{{ID: "p", Type: wire.ScheduleRandom, From: "12:00", To: "13:00", Next: slot}}
		}
		if change != nil {
			change(&s)
		}
		decision, err := coach.Decide(s, wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: kind, Ref: "p", At: s.Now}})
		require.NoError(t, err)
		for _, effect := range decision.Effects {
			if effect.Kind == wire.EffectSetDue {
				return effect.Due
			}
		}
		return wire.Due{}
	}
	for _, kind := range []wire.DueKind{wire.DueReminder, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup, wire.DueDailyPrompt} {
		t.Run(string(kind), func(t *testing.T) {
			early := 0
			for i := range 200 {
				due := put(i, kind, nil)
				require.Equal(t, kind, due.Kind)
				require.WithinRange(t, due.At, opens, opens.Add(spread))
				if due.At.Before(opens.Add(spread / 2)) {
					early++
				}
			}
			require.InDelta(t, 100, early, 30)
			require.Equal(t, opens, put(1, kind, func(s *coach.Input) { s.Rules.PromptSpread = 0 }).At, "no spread")
			require.Equal(t, opens, put(1, kind, func(s *coach.Input) { s.Rules.Quiet.From = 8*60 + 1 }).At, "a minute of the day is not quiet")
		})
	}
	t.Run("a prompt that would be too late then", func(t *testing.T) {
		grace := func(s *coach.Input) { s.Rules.PromptGrace = opens.Sub(night) }
		require.Equal(t, opens, put(1, wire.DueDailyPrompt, grace).At)
	})
	t.Run("a reminder that the next prompt overtakes", func(t *testing.T) {
		next := func(s *coach.Input) {
			s.State.Due = []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "p", At: opens.Add(time.Second)}}
		}
		require.Zero(t, put(1, wire.DueReminder, next))
	})
}
