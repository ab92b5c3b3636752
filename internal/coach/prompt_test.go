package coach

import (
	"testing"
	"time"

	"coachline/models"
	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

// withSlot is a situation whose only schedule has the slot that it had been
// given before day began.
func withSlot(t require.TestingT, now string, schedule wire.Schedule, day string) Input {
	s := at(t, now)
	var err error
	schedule.Next, err = s.nextSlot(schedule, instant(t, day))
	require.NoError(t, err)
	s.State.Schedules = []wire.Schedule{schedule}
	return s
}

// outcome is what a due prompt came to, in words: "miss <date> <reason>",
// "send <date>", "due <local instant>", "next <date>".
func outcome(t require.TestingT, d wire.Decision) []string {
	var lines []string
	for _, effect := range d.Effects {
		switch effect.Kind {
		case wire.EffectMissPrompt:
			lines = append(lines, "miss "+effect.Missed.Slot.Date+" "+effect.Missed.Reason)
		case wire.EffectStartTurn:
			require.Equal(t, wire.TurnPrompt, effect.Turn.Kind)
			require.Equal(t, models.PromptID(person, "s1", effect.Turn.Slot.Date), effect.Turn.PromptID)
			require.Equal(t, "s1", effect.Turn.ScheduleID)
			lines = append(lines, "send "+effect.Turn.Slot.Date)
		case wire.EffectPutSchedule:
			lines = append(lines, "next "+effect.Schedule.Next.Date+" after "+effect.Schedule.LastDate)
		case wire.EffectSetDue:
			require.Equal(t, wire.DueDailyPrompt, effect.Due.Kind)
			require.Equal(t, "s1", effect.Due.Ref)
			lines = append(lines, "due "+effect.Due.At.In(zoneNamed(t, home)).Format("2006-01-02 15:04"))
		default:
			require.Fail(t, "unexpected effect", effect.Kind)
		}
	}
	return lines
}

func TestDuePromptFixed(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	sent := []string{"next 2026-01-16 after 2026-01-15", "due 2026-01-16 11:50", "send 2026-01-15"}
	for _, c := range []struct {
		name, now string
		change    func(*Input)
		want      []string
	}{
		{"on time", "2026-01-15T11:50:00-05:00", nil, sent},
		{"late within grace", "2026-01-15T14:00:00-05:00", nil, sent},
		{"too late", "2026-01-15T14:00:01-05:00", nil,
			[]string{"miss 2026-01-15 outage", "next 2026-01-16 after 2026-01-15", "due 2026-01-16 11:50"}},
		{"three days down, a newer slot within grace", "2026-01-18T12:30:00-05:00", nil, []string{
			"miss 2026-01-15 outage", "miss 2026-01-16 outage", "miss 2026-01-17 outage",
			"next 2026-01-19 after 2026-01-18", "due 2026-01-19 11:50", "send 2026-01-18",
		}},
		{"never two days together, whatever the grace", "2026-01-16T12:30:00-05:00",
			func(s *Input) { s.Rules.PromptGrace = 48 * time.Hour },
			[]string{"miss 2026-01-15 outage", "next 2026-01-17 after 2026-01-16", "due 2026-01-17 11:50", "send 2026-01-16"}},
		{"no grace, on time", "2026-01-15T11:52:00-05:00", func(s *Input) { s.Rules.PromptGrace = 0 }, sent},
		{"no grace, late", "2026-01-15T11:52:01-05:00", func(s *Input) { s.Rules.PromptGrace = 0 },
			[]string{"miss 2026-01-15 outage", "next 2026-01-16 after 2026-01-15", "due 2026-01-16 11:50"}},
		{"too early waits", "2026-01-15T11:00:00-05:00", nil, []string{"next 2026-01-15 after ", "due 2026-01-15 11:50"}},
		{"paused", "2026-01-15T11:50:00-05:00", func(s *Input) { s.State.Status = wire.StatusPaused },
			[]string{"miss 2026-01-15 paused", "next 2026-01-16 after 2026-01-15", "due 2026-01-16 11:50"}},
		{"opted out", "2026-01-15T11:50:00-05:00", func(s *Input) { s.State.Status = wire.StatusOptedOut }, nil},
		{"no slot yet", "2026-01-15T11:00:00-05:00", func(s *Input) { s.State.Schedules[0].Next = wire.Slot{} },
			[]string{"next 2026-01-15 after ", "due 2026-01-15 11:50"}},
		{"schedule gone", "2026-01-15T11:50:00-05:00", func(s *Input) { s.State.Schedules = nil }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withSlot(t, c.now, fixedAt("12:00"), day)
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, outcome(t, decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))))
		})
	}
}

func TestDuePromptQuietHours(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	for _, c := range []struct {
		name, now, clock string
		want             []string
	}{
		{"a chosen time is exempt", "2026-01-15T05:50:00-05:00", "06:00",
			[]string{"next 2026-01-16 after 2026-01-15", "due 2026-01-16 05:50", "send 2026-01-15"}},
		{"late by more than the exemption", "2026-01-15T06:53:00-05:00", "07:00",
			[]string{"next 2026-01-15 after ", "due 2026-01-15 08:00"}},
		{"quiet hours end with the grace", "2026-01-15T05:53:00-05:00", "06:00",
			[]string{"next 2026-01-15 after ", "due 2026-01-15 08:00"}},
		{"quiet hours outlast the grace", "2026-01-15T05:52:00-05:00", "05:59",
			[]string{"miss 2026-01-15 quiet_hours", "next 2026-01-16 after 2026-01-15", "due 2026-01-16 05:49"}},
		{"late into the evening", "2026-01-15T21:00:00-05:00", "20:30",
			[]string{"miss 2026-01-15 quiet_hours", "next 2026-01-16 after 2026-01-15", "due 2026-01-16 20:20"}},
		{"deferred and now allowed", "2026-01-15T08:00:00-05:00", "07:00",
			[]string{"next 2026-01-16 after 2026-01-15", "due 2026-01-16 06:50", "send 2026-01-15"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withSlot(t, c.now, fixedAt(c.clock), day)
			require.Equal(t, c.want, outcome(t, decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))))
		})
	}
}

func TestDuePromptRandom(t *testing.T) {
	s := withSlot(t, noon, randomIn("09:00", "20:00"), "2026-01-15T00:00:00-05:00")
	slot := s.State.Schedules[0].Next
	s.Now = slot.SendAt
	got := decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))
	require.Equal(t, "send 2026-01-15", outcome(t, got)[2])
	require.Equal(t, slot, got.Effects[2].Turn.Slot)

	// Settings put the whole window into quiet hours: never silently, never sent.
	s.Rules.Quiet = quietHours(t, "08:30-23:00")
	got = decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))
	lines := outcome(t, got)
	require.Equal(t, []string{"miss 2026-01-15 quiet_hours", "next 2026-01-16 after 2026-01-15"}, lines[:2])
	require.Len(t, lines, 3)

	// On time counts for nothing when the person did not choose the instant.
	s.Rules.Quiet = QuietHours{From: clockOf(slot.SendAt.In(zoneNamed(t, home))), To: clockOf(slot.SendAt.In(zoneNamed(t, home))) + 30}
	got = decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))
	require.Equal(t, setDue(wire.DueDailyPrompt, "s1", slot.SendAt.Add(30*time.Minute)), got.Effects[1])
}

func TestPromptSent(t *testing.T) {
	sentAt := instant(t, noon)
	ev := wire.Event{Kind: wire.EventPromptSent, At: sentAt, Plan: wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: "p2"}}
	pending := wire.Effect{Kind: wire.EffectSetPending, Pending: &wire.PendingPrompt{PromptID: "p2", SentAt: sentAt}}
	next := []wire.Effect{
		pending, setDue(wire.DueReminder, "p2", sentAt.Add(5*time.Hour)), setDue(wire.DueAutoFeedback, "p2", sentAt.Add(5*time.Minute)),
	}
	voids := []wire.Effect{
		clearDue(wire.DueReminder), clearDue(wire.DueAutoFeedback), clearDue(wire.DueFeedbackTimeout), clearDue(wire.DueFeedbackFollowup),
	}
	s := at(t, noon)
	s.Now = s.Now.Add(time.Second)
	require.Equal(t, next, decide(t, s, ev).Effects)
	require.Equal(t, append(voids[:4:4], next...), decide(t, everything(s), ev).Effects, "a new prompt voids the old one's reminder")
	require.Equal(t, next, decide(t, waiting(s, time.Second), ev).Effects, "a text from before the prompt answers nothing")
	require.Equal(t, append(voids[:4:4], clearPending), decide(t, waiting(everything(s), 0), ev).Effects, "the answer overtook us")

	s.Rules.ReminderDelay, s.Rules.AutoFeedbackDelay = 0, 0
	require.Equal(t, []wire.Effect{pending}, decide(t, s, ev).Effects)
}

func TestDueReminder(t *testing.T) {
	pending := &wire.PendingPrompt{PromptID: "p1", SentAt: instant(t, noon)}
	remind := []wire.Effect{clearPending, turn(wire.TurnPlan{Kind: wire.TurnReminder, PromptID: "p1"})}
	evening, morning := "2026-01-15T22:00:00-05:00", instant(t, "2026-01-16T08:00:00-05:00")
	prompts := func(at time.Time) []wire.Due { return []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "s1", At: at}} }
	for _, c := range []struct {
		name, now string
		change    func(*Input)
		want      []wire.Effect
	}{
		{"no answer", noon, nil, remind},
		{"answered", noon, func(s *Input) { s.State.Pending = nil }, nil},
		{"another prompt", noon, func(s *Input) { s.State.Pending = &wire.PendingPrompt{PromptID: "p2"} }, nil},
		{"the answer is in the inbox", noon, func(s *Input) { *s = waiting(*s, 0) }, nil},
		{"paused", noon, func(s *Input) { s.State.Status = wire.StatusPaused }, nil},
		{"quiet", evening, nil, []wire.Effect{setDue(wire.DueReminder, "p1", morning)}},
		{"quiet until after the next prompt", evening, func(s *Input) { s.State.Due = prompts(morning) }, nil},
		{"quiet until before the next prompt", evening, func(s *Input) { s.State.Due = prompts(morning.Add(time.Minute)) },
			[]wire.Effect{setDue(wire.DueReminder, "p1", morning)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, c.now)
			s.State.Pending = pending
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(wire.DueReminder, "p1")).Effects)
		})
	}
}
