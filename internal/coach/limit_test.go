package coach

import (
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

// rationed is at with two texts a day and the back-off; yesterday is its day before.
func rationed(t require.TestingT, now string) Input {
	s := at(t, now)
	s.Rules.MaxInitiated, s.Rules.BackOff = 2, true
	return s
}

func counted(count wire.Initiated) wire.Effect {
	return wire.Effect{Kind: wire.EffectCountInitiated, Initiated: count}
}

func leftOut(promptID, reason string) wire.Effect {
	return wire.Effect{Kind: wire.EffectLeaveOut, LeftOut: &wire.LeftOut{PromptID: promptID, Reason: reason}}
}

// TestPromptIsLeftOut: what becomes of the slot at noon of Thursday, January 15.
func TestPromptIsLeftOut(t *testing.T) {
	unanswered := func(days int, last string) wire.Initiated {
		return wire.Initiated{Date: last, Sent: 1, Unanswered: days, LastDate: last}
	}
	asked := func(last string) wire.Initiated {
		count := unanswered(9, last)
		count.Asked = true
		return count
	}
	const send, ask = "send", "ask"
	for _, c := range []struct {
		name  string
		count wire.Initiated
		rules func(*Rules)
		want  string // send, ask, or why it is missed
	}{
		{"nothing sent", wire.Initiated{}, nil, send},
		{"one sent today", wire.Initiated{Date: "2026-01-15", Sent: 1}, nil, send},
		{"two sent today", wire.Initiated{Date: "2026-01-15", Sent: 2}, nil, MissedDailyLimit},
		{"two sent yesterday", wire.Initiated{Date: "2026-01-14", Sent: 2}, nil, send},
		{"two sent today, no limit", wire.Initiated{Date: "2026-01-15", Sent: 2}, func(r *Rules) { r.MaxInitiated = 0 }, send},
		{"two days unanswered", unanswered(2, "2026-01-14"), nil, send},
		{"three days unanswered", unanswered(3, "2026-01-14"), nil, MissedBackedOff},
		{"three days, the day before yesterday", unanswered(3, "2026-01-13"), nil, send},
		{"the third day goes on", unanswered(3, "2026-01-15"), nil, send},
		{"the fifth day goes on", unanswered(5, "2026-01-15"), nil, send},
		{"no back-off", unanswered(6, "2026-01-14"), func(r *Rules) { r.BackOff = false }, send},
		{"back-off without a limit", unanswered(6, "2026-01-14"), func(r *Rules) { r.MaxInitiated = 0 }, MissedBackedOff},
		{"the seventh day goes on", unanswered(7, "2026-01-15"), nil, send},
		{"seven days, yesterday", unanswered(7, "2026-01-14"), nil, MissedBackedOff},
		{"seven days", unanswered(7, "2026-01-13"), nil, ask},
		{"asked six days ago", asked("2026-01-09"), nil, MissedBackedOff},
		{"asked a week ago", asked("2026-01-08"), nil, send},
		{"asked today", asked("2026-01-15"), nil, MissedBackedOff},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withSlot(t, "2026-01-15T11:50:00-05:00", fixedAt("12:00"), "2026-01-15T00:00:00-05:00")
			s.Rules.MaxInitiated, s.Rules.BackOff = 2, true
			s.State.Initiated = c.count
			if c.rules != nil {
				c.rules(&s.Rules)
			}
			got, missed := "", ""
			for _, effect := range decide(t, s, dueEvent(wire.DueDailyPrompt, "s1")).Effects {
				switch {
				case effect.Kind == wire.EffectMissPrompt:
					require.Equal(t, "2026-01-15", effect.Missed.Slot.Date)
					missed = effect.Missed.Reason
				case effect.Kind == wire.EffectPutSchedule:
					require.Equal(t, "2026-01-16", effect.Schedule.Next.Date)
				case effect.Kind == wire.EffectStartTurn && effect.Turn.Kind == wire.TurnPrompt:
					got = send
				case effect.Kind == wire.EffectStartTurn && effect.Turn.Kind == wire.TurnAskLess:
					require.Equal(t, MissedBackedOff, missed)
					got = ask
				}
			}
			if got == "" {
				got = missed
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestOneFollowUp: of the question and the reminder of a prompt the first one that is
// due goes out, on the day of the prompt and where the day has a text left.
func TestOneFollowUp(t *testing.T) {
	morning := "2026-01-15T08:00:00-05:00"
	ofPrompt := wire.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 1, LastDate: "2026-01-15"}
	both := ofPrompt
	both.Sent = 2
	question := turn(wire.TurnPlan{Kind: wire.TurnFeedbackQuestion, PromptID: "p1"})
	reminder := turn(wire.TurnPlan{Kind: wire.TurnReminder, PromptID: "p1"})
	later := wire.Due{Kind: wire.DueReminder, Ref: "p1", At: instant(t, noon).Add(time.Hour)}
	timeout := wire.Due{Kind: wire.DueFeedbackTimeout, Ref: "p1", At: instant(t, noon).Add(time.Hour)}
	for _, c := range []struct {
		name, now string
		due       wire.DueKind
		change    func(*Input)
		want      []wire.Effect
	}{
		{"question first", noon, wire.DueFeedbackTimeout, func(s *Input) { s.State.Due = []wire.Due{later} },
			[]wire.Effect{counted(both), clearPending, clearDue(wire.DueReminder), leftOut("p1", LeftOutOneFollowUp), question}},
		{"reminder first", noon, wire.DueReminder, func(s *Input) { s.State.Due = []wire.Due{timeout} },
			[]wire.Effect{counted(both), clearPending, clearDue(wire.DueFeedbackTimeout), leftOut("p1", LeftOutOneFollowUp), reminder}},
		{"question alone", noon, wire.DueFeedbackTimeout, nil, []wire.Effect{counted(both), clearPending, question}},
		{"question after the reminder", noon, wire.DueFeedbackTimeout, func(s *Input) { s.State.Pending = nil },
			[]wire.Effect{leftOut("p1", LeftOutOneFollowUp)}},
		{"follow-up after the question", noon, wire.DueFeedbackFollowup, func(s *Input) { s.State.Pending = nil },
			[]wire.Effect{leftOut("p1", LeftOutOneFollowUp)}},
		{"question in quiet hours", "2026-01-15T22:00:00-05:00", wire.DueFeedbackTimeout, nil, []wire.Effect{leftOut("p1", LeftOutNextDay)}},
		{"reminder in quiet hours", "2026-01-15T22:00:00-05:00", wire.DueReminder, nil, []wire.Effect{leftOut("p1", LeftOutNextDay)}},
		{"reminder of yesterday's prompt", morning, wire.DueReminder,
			func(s *Input) { s.State.Pending.SentAt = instant(t, "2026-01-14T20:50:00-05:00") }, []wire.Effect{leftOut("p1", LeftOutNextDay)}},
		{"the day is used up", noon, wire.DueReminder, func(s *Input) { s.State.Initiated.Sent = 2 }, []wire.Effect{leftOut("p1", MissedDailyLimit)}},
		{"the day's other prompt is to come", noon, wire.DueFeedbackTimeout, func(s *Input) { s.State.Schedules = []wire.Schedule{slotAt(t, "2026-01-15T18:00:00-05:00")} },
			[]wire.Effect{leftOut("p1", MissedDailyLimit)}},
		{"tomorrow's prompt is to come", noon, wire.DueFeedbackTimeout, func(s *Input) { s.State.Schedules = []wire.Schedule{slotAt(t, "2026-01-16T18:00:00-05:00")} },
			[]wire.Effect{counted(both), clearPending, question}},
		{"one text a week", noon, wire.DueReminder, func(s *Input) { s.State.Initiated.Unanswered, s.State.Initiated.Asked = 9, true },
			[]wire.Effect{leftOut("p1", MissedBackedOff)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rationed(t, c.now)
			s.State.Mode, s.State.Initiated = wire.ModeFeedback, ofPrompt
			s.State.Pending = &wire.PendingPrompt{PromptID: "p1", SentAt: instant(t, "2026-01-15T08:00:00-05:00")}
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(c.due, "p1")).Effects)
		})
	}
}

// slotAt is a schedule whose next prompt goes out at an instant.
func slotAt(t require.TestingT, at string) wire.Schedule {
	schedule := fixedAt("18:00")
	schedule.Next = wire.Slot{Date: at[:len(time.DateOnly)], TargetAt: instant(t, at), SendAt: instant(t, at)}
	return schedule
}

// TestQuestionWithoutPrompt: feedback that the model asked for in a conversation keeps
// its follow-up, within the day's texts.
func TestQuestionWithoutPrompt(t *testing.T) {
	s := rationed(t, noon)
	s.State.Mode = wire.ModeFeedback
	require.Equal(t, []wire.Effect{
		counted(wire.Initiated{Date: "2026-01-15", Sent: 1}), setDue(wire.DueFeedbackFollowup, "", s.Now.Add(3*time.Hour)),
		turn(wire.TurnPlan{Kind: wire.TurnFeedbackQuestion}),
	}, decide(t, s, dueEvent(wire.DueFeedbackTimeout, "")).Effects)
	s.State.Initiated = wire.Initiated{Date: "2026-01-15", Sent: 2}
	require.Empty(t, decide(t, s, dueEvent(wire.DueFeedbackTimeout, "")).Effects)
}

// TestInitiatedIsCounted: what an event does to the count.
func TestInitiatedIsCounted(t *testing.T) {
	before := wire.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 7, LastDate: "2026-01-14", Asked: true}
	heard := wire.Initiated{Date: "2026-01-15", Sent: 1}
	sent := wire.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 8, LastDate: "2026-01-15", Asked: true}
	prompt := wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: "p1"}
	for _, c := range []struct {
		name   string
		ev     wire.Event
		change func(*Input)
		want   wire.Initiated
	}{
		{"a text", wire.Event{Kind: wire.EventTexts}, func(s *Input) { *s = waiting(*s, 0) }, heard},
		{"HELP", wire.Event{Kind: wire.EventHelp}, nil, heard},
		{"START", wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive, Confirm: true}, nil, heard},
		{"an operator's resume", wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive}, nil, before},
		{"a prompt", wire.Event{Kind: wire.EventPromptSent, Plan: prompt, At: instant(t, noon)}, nil, sent},
		{"a prompt of a day that counted", wire.Event{Kind: wire.EventPromptSent, Plan: prompt, At: instant(t, noon)},
			func(s *Input) { s.State.Initiated.LastDate = "2026-01-15" }, wire.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 7, LastDate: "2026-01-15", Asked: true}},
		{"a prompt that a text overtook", wire.Event{Kind: wire.EventPromptSent, Plan: prompt, At: instant(t, noon).Add(-time.Minute)},
			func(s *Input) { *s = waiting(*s, 0) }, before},
		{"a prompt that failed", wire.Event{Kind: wire.EventPromptFailed, Plan: prompt}, nil,
			wire.Initiated{Date: "2026-01-15", Unanswered: 7, LastDate: "2026-01-14", Asked: true}},
		{"a check-in", wire.Event{Kind: wire.EventCheckInSent, At: instant(t, noon)}, nil,
			wire.Initiated{Date: "2026-01-15", Sent: 2, Unanswered: 8, LastDate: "2026-01-15", Asked: true}},
		{"the question whether to write less", wire.Event{Kind: wire.EventAskLessSent, At: instant(t, noon)},
			func(s *Input) { s.State.Initiated.Asked = false }, sent},
		{"an operator's message", wire.Event{Kind: wire.EventSend, OutboxID: "o1"}, nil, before},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rationed(t, noon)
			s.State.Initiated = before
			if c.change != nil {
				c.change(&s)
			}
			got := s.State.Initiated
			for _, effect := range decide(t, s, c.ev).Effects {
				if effect.Kind == wire.EffectCountInitiated {
					got = effect.Initiated
				}
			}
			require.Equal(t, c.want, got)
			s.Rules.MaxInitiated, s.Rules.BackOff = 0, false
			require.NotContains(t, kindsOf(decide(t, s, c.ev)), wire.EffectCountInitiated, "nothing is counted without a limit")
		})
	}
}

func kindsOf(d wire.Decision) []wire.EffectKind {
	var kinds []wire.EffectKind
	for _, effect := range d.Effects {
		kinds = append(kinds, effect.Kind)
	}
	return kinds
}

// TestCheckInIsPutOff: where a day's texts are used up, or kept for a prompt, and during
// the back-off.
func TestCheckInIsPutOff(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   string // when it is due; empty: it is written now; ask: the question goes out
	}{
		{"nothing sent", nil, ""},
		{"used up", func(s *Input) { s.State.Initiated = wire.Initiated{Date: "2026-01-15", Sent: 2} }, "2026-01-16T08:00:00-05:00"},
		{"kept for a prompt", func(s *Input) {
			s.Rules.MaxInitiated, s.State.Schedules = 1, []wire.Schedule{slotAt(t, "2026-01-15T18:00:00-05:00")}
		}, "2026-01-16T08:00:00-05:00"},
		{"every second day", func(s *Input) { s.State.Initiated = wire.Initiated{Unanswered: 3, LastDate: "2026-01-14"} }, "2026-01-16T08:00:00-05:00"},
		{"once a week", func(s *Input) {
			s.State.Initiated = wire.Initiated{Unanswered: 8, LastDate: "2026-01-14", Asked: true}
		}, "2026-01-21T08:00:00-05:00"},
		{"seven days", func(s *Input) { s.State.Initiated = wire.Initiated{Unanswered: 7, LastDate: "2026-01-12"} }, "ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rationed(t, noon)
			s.Rules.CheckIn, s.Rules.CheckInCap = 6*time.Hour, 1
			if c.change != nil {
				c.change(&s)
			}
			got := ""
			for _, effect := range decide(t, s, dueEvent(wire.DueCheckIn, "")).Effects {
				switch {
				case effect.Kind == wire.EffectStartTurn && effect.Turn.Kind == wire.TurnAskLess:
					got = "ask"
				case effect.Kind == wire.EffectStartTurn:
					got = ""
				case effect.Kind == wire.EffectSetDue:
					got = effect.Due.At.In(zoneNamed(t, home)).Format(time.RFC3339)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
