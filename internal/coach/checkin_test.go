package coach

import (
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

// lookedAfter is at with check-ins six hours after the last contact.
func lookedAfter(t *testing.T, now string) Input {
	s := at(t, now)
	s.Rules.CheckIn, s.Rules.CheckInCap = 6*time.Hour, 1
	return s
}

func TestCheckInWaitsForAnIntervalWithoutContact(t *testing.T) {
	due := func(s Input) wire.Effect { return setDue(wire.DueCheckIn, "", s.Now.Add(6*time.Hour)) }
	for _, c := range []struct {
		name  string
		ev    wire.Event
		alter func(s *Input)
		want  func(s Input) []wire.Effect
	}{
		{"a text", wire.Event{Kind: wire.EventTexts}, func(s *Input) { *s = waiting(*s, time.Second) }, func(s Input) []wire.Effect {
			return []wire.Effect{due(s), setDue(wire.DueDebounce, "", s.Now.Add(2*time.Second))}
		}},
		{"an operator's message", wire.Event{Kind: wire.EventSend, OutboxID: "o1"}, nil, func(s Input) []wire.Effect {
			return []wire.Effect{due(s), turn(wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: "o1"})}
		}},
		{"the greeting", wire.Event{Kind: wire.EventEnrolled}, nil, func(s Input) []wire.Effect {
			return []wire.Effect{due(s), turn(wire.TurnPlan{Kind: wire.TurnGreeting})}
		}},
		{"a prompt that the carrier took", wire.Event{Kind: wire.EventPromptSent, Plan: wire.TurnPlan{PromptID: "p1"}, At: instant(t, noon).Add(-time.Minute)},
			func(s *Input) { s.Rules.ReminderDelay, s.Rules.AutoFeedbackDelay = 0, 0 }, func(s Input) []wire.Effect {
				return []wire.Effect{setDue(wire.DueCheckIn, "", s.Now.Add(6*time.Hour-time.Minute)), {Kind: wire.EffectSetPending,
					Pending: &wire.PendingPrompt{PromptID: "p1", SentAt: s.Now.Add(-time.Minute)}}}
			}},
		{"back into coaching", wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive}, func(s *Input) { s.State.Status = wire.StatusPaused },
			func(s Input) []wire.Effect { return []wire.Effect{due(s), setStatus(wire.StatusActive)} }},
		{"a workflow that takes over", wire.Event{Kind: wire.EventRestored}, nil, func(s Input) []wire.Effect { return []wire.Effect{due(s)} }},
		{"an operator's message while paused", wire.Event{Kind: wire.EventSend, OutboxID: "o1"}, func(s *Input) { s.State.Status = wire.StatusPaused },
			func(Input) []wire.Effect {
				return []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: "o1"})}
			}},
		{"no contact", wire.Event{Kind: wire.EventMode, Mode: wire.ModeIntake}, nil, func(Input) []wire.Effect { return nil }},
		{"off", wire.Event{Kind: wire.EventTexts}, func(s *Input) { s.Rules.CheckIn = 0 }, func(Input) []wire.Effect { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lookedAfter(t, noon)
			if c.alter != nil {
				c.alter(&s)
			}
			require.Equal(t, c.want(s), decide(t, s, c.ev).Effects)
		})
	}
	t.Run("leaving, opting out and pausing take it away", func(t *testing.T) {
		for _, ev := range []wire.Event{
			{Kind: wire.EventUnenrolled}, {Kind: wire.EventStatus, Status: wire.StatusOptedOut, Confirm: true},
			{Kind: wire.EventStatus, Status: wire.StatusPaused}, {Kind: wire.EventStatus, Status: wire.StatusCompleted},
		} {
			s := everything(lookedAfter(t, noon))
			effects := decide(t, s, ev).Effects
			require.Contains(t, effects, clearDue(wire.DueCheckIn))
			for _, effect := range effects {
				require.NotEqual(t, wire.EffectSetDue, effect.Kind)
			}
		}
	})
	t.Run("another zone leaves its instant", func(t *testing.T) {
		s := everything(lookedAfter(t, noon))
		for _, effect := range decide(t, s, wire.Event{Kind: wire.EventZone, Zone: "Asia/Tokyo"}).Effects {
			require.NotEqual(t, wire.DueCheckIn, effect.Due.Kind)
		}
	})
}

func TestDueCheckIn(t *testing.T) {
	put := func(at string) []wire.Effect {
		return []wire.Effect{setDue(wire.DueCheckIn, "", instant(t, at))}
	}
	looks := func(s Input, until string) []wire.Effect {
		return []wire.Effect{setDue(wire.DueCheckIn, "", s.Now.Add(6*time.Hour)),
			turn(wire.TurnPlan{Kind: wire.TurnCheckIn, Until: instant(t, until)})}
	}
	count := func(date string, n int) func(*Input) {
		return func(s *Input) { s.State.CheckIns = wire.CheckIns{Date: date, Sent: n} }
	}
	for _, c := range []struct {
		name, now string
		alter     func(s *Input)
		want      func(s Input) []wire.Effect
	}{
		{"by day", noon, nil, func(s Input) []wire.Effect { return looks(s, "2026-01-15T21:00:00-05:00") }},
		{"check-in in quiet hours", "2026-01-15T23:30:00-05:00", nil, func(Input) []wire.Effect { return put("2026-01-16T08:00:00-05:00") }},
		{"after midnight", "2026-01-16T00:30:00-05:00", nil, func(Input) []wire.Effect { return put("2026-01-16T08:00:00-05:00") }},
		{"the night that the clock springs forward", "2026-03-07T23:30:00-05:00", nil, func(Input) []wire.Effect { return put("2026-03-08T08:00:00-04:00") }},
		{"the day has had its check-in", noon, count("2026-01-15", 1), func(Input) []wire.Effect { return put("2026-01-16T08:00:00-05:00") }},
		{"it was yesterday's", noon, count("2026-01-14", 1), func(s Input) []wire.Effect { return looks(s, "2026-01-15T21:00:00-05:00") }},
		{"a day with two", noon, func(s *Input) { s.Rules.CheckInCap = 2; count("2026-01-15", 1)(s) },
			func(s Input) []wire.Effect { return looks(s, "2026-01-15T21:00:00-05:00") }},
		{"no quiet hours", noon, func(s *Input) { s.Rules.Quiet = QuietHours{} }, func(s Input) []wire.Effect { return looks(s, "2026-01-16T12:00:00-05:00") }},
		{"no quiet hours, and the day has had its check-in", noon, func(s *Input) { s.Rules.Quiet = QuietHours{}; count("2026-01-15", 1)(s) },
			func(Input) []wire.Effect { return put("2026-01-16T00:00:00-05:00") }},
		{"quiet where the person may be", "2026-01-15T09:00:00-05:00", func(s *Input) {
			s.State.ZoneAssumed, s.Rules.Band = true, []*time.Location{zoneNamed(t, "Pacific/Honolulu")}
		}, func(Input) []wire.Effect { return put("2026-01-15T13:00:00-05:00") }},
		{"a prompt waits for an answer", noon, func(s *Input) { s.State.Pending = &wire.PendingPrompt{PromptID: "p1"} }, nil},
		{"a text waits for an answer", noon, func(s *Input) { *s = waiting(*s, time.Second) }, nil},
		{"paused", noon, func(s *Input) { s.State.Status = wire.StatusPaused }, nil},
		{"off meanwhile", noon, func(s *Input) { s.Rules.CheckIn = 0 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lookedAfter(t, c.now)
			if c.alter != nil {
				c.alter(&s)
			}
			var want []wire.Effect
			if c.want != nil {
				want = c.want(s)
			}
			require.Equal(t, want, decide(t, s, dueEvent(wire.DueCheckIn, "")).Effects)
		})
	}
}

func TestCheckInIsCountedOnItsLocalDate(t *testing.T) {
	s := lookedAfter(t, noon)
	s.Rules.CheckInCap = 3
	sent := wire.Event{Kind: wire.EventCheckInSent, At: instant(t, "2026-01-15T19:30:00-05:00")}
	for i, want := range []wire.CheckIns{{Date: "2026-01-15", Sent: 1}, {Date: "2026-01-15", Sent: 2}} {
		effects := decide(t, s, sent).Effects
		require.Equal(t, []wire.Effect{setDue(wire.DueCheckIn, "", sent.At.Add(6*time.Hour)), {Kind: wire.EffectCountCheckIn, CheckIns: want}}, effects, i)
		s.State.CheckIns = effects[1].CheckIns
	}
	sent.At = sent.At.Add(24 * time.Hour)
	require.Equal(t, wire.CheckIns{Date: "2026-01-16", Sent: 1}, decide(t, s, sent).Effects[1].CheckIns)
}
