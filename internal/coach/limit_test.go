package coach

import (
	"testing"
	"time"

	"coachline/models"

	"github.com/stretchr/testify/require"
)

// rationed is at with two texts a day and the back-off; yesterday is its day before.
func rationed(t require.TestingT, now string) Input {
	s := at(t, now)
	s.Rules.MaxInitiated, s.Rules.BackOff = 2, true
	return s
}

func counted(count models.Initiated) models.Effect {
	return models.Effect{Kind: models.EffectCountInitiated, Initiated: count}
}

func leftOut(promptID, reason string) models.Effect {
	return models.Effect{Kind: models.EffectLeaveOut, LeftOut: &models.LeftOut{PromptID: promptID, Reason: reason}}
}

// TestPromptIsLeftOut: what becomes of the slot at noon of Thursday, January 15.
func TestPromptIsLeftOut(t *testing.T) {
	unanswered := func(days int, last string) models.Initiated {
		return models.Initiated{Date: last, Sent: 1, Unanswered: days, LastDate: last}
	}
	asked := func(last string) models.Initiated {
		count := unanswered(9, last)
		count.Asked = true
		return count
	}
	const send, ask = "send", "ask"
	for _, c := range []struct {
		name  string
		count models.Initiated
		rules func(*Rules)
		want  string // send, ask, or why it is missed
	}{
		{"nothing sent", models.Initiated{}, nil, send},
		{"one sent today", models.Initiated{Date: "2026-01-15", Sent: 1}, nil, send},
		{"two sent today", models.Initiated{Date: "2026-01-15", Sent: 2}, nil, MissedDailyLimit},
		{"two sent yesterday", models.Initiated{Date: "2026-01-14", Sent: 2}, nil, send},
		{"two sent today, no limit", models.Initiated{Date: "2026-01-15", Sent: 2}, func(r *Rules) { r.MaxInitiated = 0 }, send},
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
			for _, effect := range decide(t, s, dueEvent(models.DueDailyPrompt, "s1")).Effects {
				switch {
				case effect.Kind == models.EffectMissPrompt:
					require.Equal(t, "2026-01-15", effect.Missed.Slot.Date)
					missed = effect.Missed.Reason
				case effect.Kind == models.EffectPutSchedule:
					require.Equal(t, "2026-01-16", effect.Schedule.Next.Date)
				case effect.Kind == models.EffectStartTurn && effect.Turn.Kind == models.TurnPrompt:
					got = send
				case effect.Kind == models.EffectStartTurn && effect.Turn.Kind == models.TurnAskLess:
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
	ofPrompt := models.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 1, LastDate: "2026-01-15"}
	both := ofPrompt
	both.Sent = 2
	question := turn(models.TurnPlan{Kind: models.TurnFeedbackQuestion, PromptID: "p1"})
	reminder := turn(models.TurnPlan{Kind: models.TurnReminder, PromptID: "p1"})
	later := models.Due{Kind: models.DueReminder, Ref: "p1", At: instant(t, noon).Add(time.Hour)}
	timeout := models.Due{Kind: models.DueFeedbackTimeout, Ref: "p1", At: instant(t, noon).Add(time.Hour)}
	for _, c := range []struct {
		name, now string
		due       models.DueKind
		change    func(*Input)
		want      []models.Effect
	}{
		{"question first", noon, models.DueFeedbackTimeout, func(s *Input) { s.State.Due = []models.Due{later} },
			[]models.Effect{counted(both), clearPending, clearDue(models.DueReminder), leftOut("p1", LeftOutOneFollowUp), question}},
		{"reminder first", noon, models.DueReminder, func(s *Input) { s.State.Due = []models.Due{timeout} },
			[]models.Effect{counted(both), clearPending, clearDue(models.DueFeedbackTimeout), leftOut("p1", LeftOutOneFollowUp), reminder}},
		{"question alone", noon, models.DueFeedbackTimeout, nil, []models.Effect{counted(both), clearPending, question}},
		{"question after the reminder", noon, models.DueFeedbackTimeout, func(s *Input) { s.State.Pending = nil },
			[]models.Effect{leftOut("p1", LeftOutOneFollowUp)}},
		{"follow-up after the question", noon, models.DueFeedbackFollowup, func(s *Input) { s.State.Pending = nil },
			[]models.Effect{leftOut("p1", LeftOutOneFollowUp)}},
		{"question in quiet hours", "2026-01-15T22:00:00-05:00", models.DueFeedbackTimeout, nil, []models.Effect{leftOut("p1", LeftOutNextDay)}},
		{"reminder in quiet hours", "2026-01-15T22:00:00-05:00", models.DueReminder, nil, []models.Effect{leftOut("p1", LeftOutNextDay)}},
		{"reminder of yesterday's prompt", morning, models.DueReminder,
			func(s *Input) { s.State.Pending.SentAt = instant(t, "2026-01-14T20:50:00-05:00") }, []models.Effect{leftOut("p1", LeftOutNextDay)}},
		{"the day is used up", noon, models.DueReminder, func(s *Input) { s.State.Initiated.Sent = 2 }, []models.Effect{leftOut("p1", MissedDailyLimit)}},
		{"the day's other prompt is to come", noon, models.DueFeedbackTimeout, func(s *Input) { s.State.Schedules = []models.Schedule{slotAt(t, "2026-01-15T18:00:00-05:00")} },
			[]models.Effect{leftOut("p1", MissedDailyLimit)}},
		{"tomorrow's prompt is to come", noon, models.DueFeedbackTimeout, func(s *Input) { s.State.Schedules = []models.Schedule{slotAt(t, "2026-01-16T18:00:00-05:00")} },
			[]models.Effect{counted(both), clearPending, question}},
		{"one text a week", noon, models.DueReminder, func(s *Input) { s.State.Initiated.Unanswered, s.State.Initiated.Asked = 9, true },
			[]models.Effect{leftOut("p1", MissedBackedOff)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rationed(t, c.now)
			s.State.Mode, s.State.Initiated = models.ModeFeedback, ofPrompt
			s.State.Pending = &models.PendingPrompt{PromptID: "p1", SentAt: instant(t, "2026-01-15T08:00:00-05:00")}
			if c.change != nil {
				c.change(&s)
			}
			require.Equal(t, c.want, decide(t, s, dueEvent(c.due, "p1")).Effects)
		})
	}
}

// slotAt is a schedule whose next prompt goes out at an instant.
func slotAt(t require.TestingT, at string) models.Schedule {
	schedule := fixedAt("18:00")
	schedule.Next = models.Slot{Date: at[:len(time.DateOnly)], TargetAt: instant(t, at), SendAt: instant(t, at)}
	return schedule
}

// TestQuestionWithoutPrompt: feedback that the model asked for in a conversation keeps
// its follow-up, within the day's texts.
func TestQuestionWithoutPrompt(t *testing.T) {
	s := rationed(t, noon)
	s.State.Mode = models.ModeFeedback
	require.Equal(t, []models.Effect{
		counted(models.Initiated{Date: "2026-01-15", Sent: 1}), setDue(models.DueFeedbackFollowup, "", s.Now.Add(3*time.Hour)),
		turn(models.TurnPlan{Kind: models.TurnFeedbackQuestion}),
	}, decide(t, s, dueEvent(models.DueFeedbackTimeout, "")).Effects)
	s.State.Initiated = models.Initiated{Date: "2026-01-15", Sent: 2}
	require.Empty(t, decide(t, s, dueEvent(models.DueFeedbackTimeout, "")).Effects)
}

// TestInitiatedIsCounted: what an event does to the count.
func TestInitiatedIsCounted(t *testing.T) {
	before := models.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 7, LastDate: "2026-01-14", Asked: true}
	heard := models.Initiated{Date: "2026-01-15", Sent: 1}
	sent := models.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 8, LastDate: "2026-01-15", Asked: true}
	prompt := models.TurnPlan{Kind: models.TurnPrompt, PromptID: "p1"}
	for _, c := range []struct {
		name   string
		ev     models.Event
		change func(*Input)
		want   models.Initiated
	}{
		{"a text", models.Event{Kind: models.EventTexts}, func(s *Input) { *s = waiting(*s, 0) }, heard},
		{"HELP", models.Event{Kind: models.EventHelp}, nil, heard},
		{"START", models.Event{Kind: models.EventStatus, Status: models.StatusActive, Confirm: true}, nil, heard},
		{"an operator's resume", models.Event{Kind: models.EventStatus, Status: models.StatusActive}, nil, before},
		{"a prompt", models.Event{Kind: models.EventPromptSent, Plan: prompt, At: instant(t, noon)}, nil, sent},
		{"a prompt of a day that counted", models.Event{Kind: models.EventPromptSent, Plan: prompt, At: instant(t, noon)},
			func(s *Input) { s.State.Initiated.LastDate = "2026-01-15" }, models.Initiated{Date: "2026-01-15", Sent: 1, Unanswered: 7, LastDate: "2026-01-15", Asked: true}},
		{"a prompt that a text overtook", models.Event{Kind: models.EventPromptSent, Plan: prompt, At: instant(t, noon).Add(-time.Minute)},
			func(s *Input) { *s = waiting(*s, 0) }, before},
		{"a prompt that failed", models.Event{Kind: models.EventPromptFailed, Plan: prompt}, nil,
			models.Initiated{Date: "2026-01-15", Unanswered: 7, LastDate: "2026-01-14", Asked: true}},
		{"a check-in", models.Event{Kind: models.EventCheckInSent, At: instant(t, noon)}, nil,
			models.Initiated{Date: "2026-01-15", Sent: 2, Unanswered: 8, LastDate: "2026-01-15", Asked: true}},
		{"the question whether to write less", models.Event{Kind: models.EventAskLessSent, At: instant(t, noon)},
			func(s *Input) { s.State.Initiated.Asked = false }, sent},
		{"an operator's message", models.Event{Kind: models.EventSend, OutboxID: "o1"}, nil, before},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rationed(t, noon)
			s.State.Initiated = before
			if c.change != nil {
				c.change(&s)
			}
			got := s.State.Initiated
			for _, effect := range decide(t, s, c.ev).Effects {
				if effect.Kind == models.EffectCountInitiated {
					got = effect.Initiated
				}
			}
			require.Equal(t, c.want, got)
			s.Rules.MaxInitiated, s.Rules.BackOff = 0, false
			require.NotContains(t, kindsOf(decide(t, s, c.ev)), models.EffectCountInitiated, "nothing is counted without a limit")
		})
	}
}

func kindsOf(d models.Decision) []models.EffectKind {
	var kinds []models.EffectKind
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
		{"used up", func(s *Input) { s.State.Initiated = models.Initiated{Date: "2026-01-15", Sent: 2} }, "2026-01-16T08:00:00-05:00"},
		{"kept for a prompt", func(s *Input) {
			s.Rules.MaxInitiated, s.State.Schedules = 1, []models.Schedule{slotAt(t, "2026-01-15T18:00:00-05:00")}
		}, "2026-01-16T08:00:00-05:00"},
		{"every second day", func(s *Input) { s.State.Initiated = models.Initiated{Unanswered: 3, LastDate: "2026-01-14"} }, "2026-01-16T08:00:00-05:00"},
		{"once a week", func(s *Input) {
			s.State.Initiated = models.Initiated{Unanswered: 8, LastDate: "2026-01-14", Asked: true}
		}, "2026-01-21T08:00:00-05:00"},
		{"seven days", func(s *Input) { s.State.Initiated = models.Initiated{Unanswered: 7, LastDate: "2026-01-12"} }, "ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rationed(t, noon)
			s.Rules.CheckIn, s.Rules.CheckInCap = 6*time.Hour, 1
			if c.change != nil {
				c.change(&s)
			}
			got := ""
			for _, effect := range decide(t, s, dueEvent(models.DueCheckIn, "")).Effects {
				switch {
				case effect.Kind == models.EffectStartTurn && effect.Turn.Kind == models.TurnAskLess:
					got = "ask"
				case effect.Kind == models.EffectStartTurn:
					got = ""
				case effect.Kind == models.EffectSetDue:
					got = effect.Due.At.In(zoneNamed(t, home)).Format(time.RFC3339)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
