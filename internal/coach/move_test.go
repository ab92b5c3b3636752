package coach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// operatorAsk is what an operator asks for at noon of a person with one schedule at
// 18:00 that has had no prompt today.
func operatorAsk(t *testing.T, ask wire.ScheduleAsk, change func(*Input)) wire.Decision {
	s := withSlot(t, noon, fixedAt("18:00"), "2026-01-14T17:50:00-05:00")
	s.Rules.Quiet = QuietHours{From: 21 * 60, To: 8 * 60}
	had := s.State.Schedules[0]
	s.State.Schedules = nil
	created := scheduleTool(t, s, create(wire.ScheduleAsk{NewID: had.ID, Type: had.Type, At: had.At}))
	s.State.Schedules = []wire.Schedule{*created.Effects[0].Schedule}
	s.State.Due = []wire.Due{created.Effects[1].Due}
	if change != nil {
		change(&s)
	}
	ask.ByOperator = true
	if ask.ID == "" && ask.NewID == "" {
		ask.ID = had.ID
	}
	return scheduleTool(t, s, ask)
}

func move(t *testing.T, to string) wire.ScheduleAsk {
	return wire.ScheduleAsk{Action: wire.ScheduleMove, MoveTo: instant(t, to)}
}

// A moved prompt goes out at the new time; the one after it keeps its own.
func TestMoveNextPrompt(t *testing.T) {
	got := operatorAsk(t, move(t, "2026-01-15T19:30:00-05:00"), nil)
	require.Empty(t, got.Refused)
	put := *got.Effects[0].Schedule
	require.Equal(t, "18:00", put.At)
	require.Equal(t, wire.Slot{Date: "2026-01-15", TargetAt: instant(t, "2026-01-15T19:30:00-05:00"), SendAt: instant(t, "2026-01-15T19:30:00-05:00")}, put.Next)
	require.Equal(t, setDue(wire.DueDailyPrompt, put.ID, put.Next.SendAt), got.Effects[1])

	s := withSlot(t, "2026-01-15T19:30:00-05:00", fixedAt("18:00"), "2026-01-14T17:50:00-05:00")
	s.State.Schedules = []wire.Schedule{put}
	sent := decide(t, s, wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueDailyPrompt, Ref: put.ID, At: put.Next.SendAt}})
	require.Equal(t, wire.EffectStartTurn, sent.Effects[len(sent.Effects)-1].Kind)
	require.Equal(t, instant(t, "2026-01-16T17:50:00-05:00"), sent.Effects[0].Schedule.Next.SendAt)
}

func TestMoveIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name, to, want string
		change         func(*Input)
	}{
		{"passed", "2026-01-15T11:00:00-05:00", "to: must be in the future", nil},
		{"quiet", "2026-01-15T22:10:00-05:00", "to: the prompt would go out at 22:10 EST, within the person's quiet hours 21:00-08:00", nil},
		{"beyond the next", "2026-01-16T18:30:00-05:00", "to: must be before the prompt that follows, at 2026-01-16T17:50:00-05:00", nil},
		{"a second one of a date", "2026-01-15T19:00:00-05:00", "to: the prompt of that date has gone out", func(s *Input) {
			s.State.Schedules[0].LastAt, s.State.Schedules[0].LastDate = instant(t, "2026-01-15T09:00:00-05:00"), "2026-01-14"
		}},
		{"paused", "2026-01-15T19:00:00-05:00", "to: no prompt is planned, because the participant is paused", func(s *Input) { s.State.Status = wire.StatusPaused }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := operatorAsk(t, move(t, tt.to), tt.change)
			require.Contains(t, got.Refused, tt.want)
			require.Empty(t, got.Effects)
		})
	}
	require.Contains(t, operatorAsk(t, wire.ScheduleAsk{Action: wire.ScheduleMove, ID: "s77"}, nil).Refused, `there is no schedule "s77"`)
}

// A change keeps id and dates; what a person may choose in quiet hours an operator
// may not, and the fields have the names of the API.
func TestReplaceSchedule(t *testing.T) {
	replace := func(ask wire.ScheduleAsk, change func(*Input)) wire.Decision {
		ask.Action = wire.ScheduleReplace
		return operatorAsk(t, ask, change)
	}
	had := func(s *Input) {
		s.State.Schedules[0].LastAt, s.State.Schedules[0].LastDate = instant(t, "2026-01-15T09:00:00-05:00"), "2026-01-15"
	}
	got := replace(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "19:00"}, had)
	require.Empty(t, got.Refused)
	put := *got.Effects[0].Schedule
	require.Equal(t, []any{"19:00", "2026-01-15", instant(t, "2026-01-16T18:50:00-05:00")}, []any{put.At, put.LastDate, put.Next.SendAt})
	require.Equal(t, put.ID, got.Effects[1].Due.Ref)

	based := wire.Schedule{Type: put.Type, At: put.At, Zone: put.Zone}
	stale := replace(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "19:30", Based: &based}, had)
	require.Equal(t, wire.ScheduleChanged, stale.Refused)
	require.Empty(t, stale.Effects)
	isNow := func(s *Input) { based = s.State.Schedules[0] }
	require.Empty(t, replace(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "19:30", Based: &based}, isNow).Refused)

	for want, ask := range map[string]wire.ScheduleAsk{
		"at: the prompt would go out at 07:55 EST": {Type: wire.ScheduleFixed, At: "08:05"},
		"at is missing":         {Type: wire.ScheduleFixed},
		"from and to are equal": {Type: wire.ScheduleRandom, From: "10:00", To: "10:00"},
		"timezone: \"Mars\"":    {Type: wire.ScheduleFixed, At: "19:00", Zone: "Mars"},
		"the window 22:00-23:00 lies wholly in the quiet hours 21:": {Type: wire.ScheduleRandom, From: "22:00", To: "23:00"},
	} {
		got := replace(ask, nil)
		require.Contains(t, got.Refused, want)
		require.Empty(t, got.Effects)
	}
	put = *replace(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "19:00", NotBefore: instant(t, "2026-01-16T19:00:00-05:00")}, had).Effects[0].Schedule
	require.Equal(t, instant(t, "2026-01-17T18:50:00-05:00"), put.Next.SendAt, "the day of the instant is left out")
	twin := replace(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "19:00"}, func(s *Input) {
		s.State.Schedules = append(s.State.Schedules, wire.Schedule{ID: "s5", Type: wire.ScheduleFixed, At: "19:00"})
	})
	require.Equal(t, "at: there is a schedule at that time already", twin.Refused)
	require.Contains(t, operatorAsk(t, create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "05:00"}), nil).Refused, "only the person can choose such a time")
}
