package coach

import (
	"slices"
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// withPoints is a situation of a study with decision points whose schedules have been
// given their slots before day began, and are due then.
func withPoints(t require.TestingT, now, day string, schedules ...wire.Schedule) Input {
	s := at(t, now)
	s.Rules.DecisionPoints = true
	for _, schedule := range schedules {
		var err error
		schedule.Next, err = s.nextSlot(schedule, instant(t, day))
		require.NoError(t, err)
		s.State.Schedules = append(s.State.Schedules, schedule)
		s.State.Due = append(s.State.Due, wire.Due{Kind: wire.DueDailyPrompt, Ref: schedule.ID, At: schedule.Next.SendAt})
	}
	return s
}

func missedOf(d wire.Decision) []string {
	var lines []string
	for _, effect := range d.Effects {
		if effect.Kind == wire.EffectMissPrompt {
			lines = append(lines, effect.Missed.ScheduleID+" "+effect.Missed.Slot.Date+" "+effect.Missed.Reason)
		}
	}
	return lines
}

// TestSlotsOfPeopleWhoAreNotAvailable: in a study with decision points the slots of a
// person who is paused or opted out go on, and each is recorded with the reason.
func TestSlotsOfPeopleWhoAreNotAvailable(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	evening := fixedAt("18:00")
	evening.ID = "s2"
	for _, c := range []struct {
		name, now string
		status    wire.Status
		change    func(*Input)
		want      []string
		armed     bool
	}{
		{"paused", "2026-01-15T11:50:00-05:00", wire.StatusPaused, nil, []string{"s1 2026-01-15 paused"}, true},
		{"opted out", "2026-01-15T11:50:00-05:00", wire.StatusOptedOut, nil, []string{"s1 2026-01-15 opted_out"}, true},
		{"opted out, no worker ran for two days", "2026-01-17T11:50:00-05:00", wire.StatusOptedOut, nil, []string{
			"s1 2026-01-15 opted_out", "s2 2026-01-15 opted_out", "s1 2026-01-16 opted_out", "s2 2026-01-16 opted_out", "s1 2026-01-17 opted_out",
		}, true},
		{"taken over", "2026-01-15T11:50:00-05:00", wire.StatusActive, func(s *Input) { s.State.TakenOverUntil = s.Now.Add(time.Hour) },
			[]string{"s1 2026-01-15 taken_over"}, true},
		{"opted out of a study that is over", "2026-01-15T11:50:00-05:00", wire.StatusOptedOut, func(s *Input) { s.Rules.Silent = true }, nil, false},
		{"completed", "2026-01-15T11:50:00-05:00", wire.StatusCompleted, nil, nil, false},
		{"opted out, without decision points", "2026-01-15T11:50:00-05:00", wire.StatusOptedOut, func(s *Input) { s.Rules.DecisionPoints = false }, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withPoints(t, c.now, day, fixedAt("12:00"), evening)
			s.State.Due = s.State.Due[1:] // the first one fired
			s.State.Status = c.status
			if c.change != nil {
				c.change(&s)
			}
			got := decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))
			require.Equal(t, c.want, missedOf(got))
			armed := slices.ContainsFunc(got.Effects, func(e wire.Effect) bool {
				return e.Kind == wire.EffectSetDue && e.Due.Ref == "s1" && e.Due.At.After(s.Now)
			})
			require.Equal(t, c.armed, armed)
		})
	}
}

// TestSlotsStayDueWithoutPrompts: neither a pause nor an opt-out takes the slots of
// such a study away, and coming back finds none that is not recorded.
func TestSlotsStayDueWithoutPrompts(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	gone := clearDue(wire.DueDailyPrompt)
	for _, to := range []wire.Status{wire.StatusPaused, wire.StatusOptedOut} {
		s := withPoints(t, "2026-01-15T09:00:00-05:00", day, fixedAt("12:00"))
		require.NotContains(t, decide(t, s, wire.Event{Kind: wire.EventStatus, Status: to}).Effects, gone, to)
		s.Rules.DecisionPoints = false
		require.Contains(t, decide(t, s, wire.Event{Kind: wire.EventStatus, Status: to}).Effects, gone, to)
	}
	s := withPoints(t, "2026-01-15T09:00:00-05:00", day, fixedAt("12:00"))
	require.Contains(t, decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusCompleted}).Effects, gone)

	// What an outage held up belongs to the time before the pause.
	s = withPoints(t, "2026-01-17T11:00:00-05:00", day, fixedAt("12:00"))
	got := decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})
	require.Equal(t, []string{"s1 2026-01-15 outage", "s1 2026-01-16 outage"}, missedOf(got))
	require.Contains(t, got.Effects, setDue(wire.DueDailyPrompt, "s1", instant(t, "2026-01-17T11:50:00-05:00")))
	// One that is due now, or waits for the end of quiet hours, does not.
	s.State.Due[0].At = s.Now
	require.Empty(t, missedOf(decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})))

	// A person who comes back: also of a pause that took the slots away.
	s.State.Status, s.State.Due = wire.StatusPaused, nil
	got = decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive})
	require.Equal(t, []string{"s1 2026-01-15 paused", "s1 2026-01-16 paused"}, missedOf(got))
	require.Contains(t, got.Effects, setDue(wire.DueDailyPrompt, "s1", instant(t, "2026-01-17T11:50:00-05:00")))

	// Zone and times that change meanwhile move the slots of a paused person too.
	moved := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: "America/Chicago"})
	require.Contains(t, moved.Effects, setDue(wire.DueDailyPrompt, "s1", instant(t, "2026-01-17T11:50:00-06:00")))
}

// TestEverySlotProperty: for every sequence of pauses, opt-outs, returns and outages
// each date from the first slot on has one prompt or one record of why not.
func TestEverySlotProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &simulation{t: t, s: at(t, noon), prompts: map[string]time.Time{}, dates: map[string]bool{}}
		l.s.Rules.DecisionPoints = true
		l.s.Rules.PromptSpread = time.Duration(rapid.IntRange(0, 10).Draw(t, "spread")) * time.Minute
		clock := Clock(rapid.IntRange(0, minutesPerDay-1).Draw(t, "fixed")).String()
		l.decide(wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed, At: clock}})
		l.decide(wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
			Action: wire.ScheduleCreate, NewID: "s2", Type: wire.ScheduleRandom,
			From: Clock(rapid.IntRange(8*60, 20*60).Draw(t, "window")).String(), To: "23:00",
		}})
		first := map[string]string{}
		for _, schedule := range l.s.State.Schedules {
			first[schedule.ID] = schedule.Next.Date
		}
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			wait := time.Duration(rapid.IntRange(1, 40*60).Draw(t, "minutes")) * time.Minute
			l.until(l.s.Now.Add(wait), rapid.IntRange(0, 4).Draw(t, "outage") == 0)
			to := rapid.SampledFrom([]wire.Status{wire.StatusPaused, wire.StatusOptedOut, wire.StatusActive}).Draw(t, "status")
			l.decide(wire.Event{Kind: wire.EventStatus, Status: to})
		}
		l.until(l.s.Now.Add(time.Minute), false)
		for _, schedule := range l.s.State.Schedules {
			for date := first[schedule.ID]; date < schedule.Next.Date; {
				require.True(t, l.dates[schedule.ID+" "+date], "schedule %s has nothing on %s", schedule.ID, date)
				day, err := parseDate(date)
				require.NoError(t, err)
				date = day.addDays(1).String()
			}
			require.True(t, schedule.Next.SendAt.After(l.s.Now) || schedule.Next.Date == dateOf(l.s.Now, zoneNamed(t, home)).String())
		}
	})
}
