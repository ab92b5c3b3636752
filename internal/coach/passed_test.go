package coach

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// applied is a situation after a decision, as far as slots go, and the dates that had a
// prompt or a row that says why not.
func applied(s Input, d models.Decision) (after models.ParticipantState, dates map[string]string) {
	after, dates = s.State.Clone(), map[string]string{}
	drop := func(due models.Due) {
		after.Due = slices.DeleteFunc(after.Due, func(x models.Due) bool { return x.Kind == due.Kind && (due.Ref == "" || x.Ref == due.Ref) })
	}
	for _, effect := range d.Effects {
		switch effect.Kind {
		case models.EffectMissPrompt:
			dates[effect.Missed.Slot.Date] = effect.Missed.Reason
		case models.EffectStartTurn:
			if effect.Turn.Kind == models.TurnPrompt {
				dates[effect.Turn.Slot.Date] = "sent"
			}
		case models.EffectPutSchedule:
			i := slices.IndexFunc(after.Schedules, func(x models.Schedule) bool { return x.ID == effect.Schedule.ID })
			after.Schedules[i] = *effect.Schedule
		case models.EffectDropSchedule:
			after.Schedules = nil
		case models.EffectSetDue:
			drop(effect.Due)
			after.Due = append(after.Due, effect.Due)
		case models.EffectClearDue:
			drop(effect.Due)
		}
	}
	return after, dates
}

// Whatever an operator, a person or a model changes around the time of a prompt, also
// after days without a worker: each day up to the next prompt has one, or a row that says
// why not; a command that ends the prompts leaves a row for each that had come.
func TestNoSlotIsLostWithoutARow(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	operator := func(ask models.ScheduleAsk) models.Event {
		ask.ByOperator = true
		return models.Event{Kind: models.EventScheduleTool, Schedule: &ask}
	}
	events := map[string]models.Event{
		"same clock":  {Kind: models.EventZone, Zone: "America/Toronto"},
		"west":        {Kind: models.EventZone, Zone: "Pacific/Honolulu"},
		"east":        {Kind: models.EventZone, Zone: "Asia/Tokyo"},
		"Europe":      {Kind: models.EventZone, Zone: "Europe/Berlin"},
		"known":       {Kind: models.EventZone, Zone: "America/New_York"},
		"later time":  operator(models.ScheduleAsk{Action: models.ScheduleReplace, ID: "s1", Type: models.ScheduleFixed, At: "18:00"}),
		"earlier":     operator(models.ScheduleAsk{Action: models.ScheduleReplace, ID: "s1", Type: models.ScheduleFixed, At: "08:30"}),
		"window":      operator(models.ScheduleAsk{Action: models.ScheduleReplace, ID: "s1", Type: models.ScheduleRandom, From: "10:00", To: "12:00"}),
		"move":        operator(models.ScheduleAsk{Action: models.ScheduleMove, ID: "s1", MoveTo: instant(t, "2026-01-15T19:00:00-05:00")}),
		"delete":      {Kind: models.EventScheduleTool, Schedule: &models.ScheduleAsk{Action: models.ScheduleDelete, ID: "s1"}},
		"create":      {Kind: models.EventScheduleTool, Schedule: &models.ScheduleAsk{Action: models.ScheduleCreate, NewID: "s1", Type: models.ScheduleFixed, At: "09:00"}},
		"pause":       {Kind: models.EventPaused},
		"opt-out":     {Kind: models.EventStatus, Status: models.StatusOptedOut, Confirm: true},
		"completed":   {Kind: models.EventStatus, Status: models.StatusCompleted},
		"withdrawn":   {Kind: models.EventStatus, Status: models.StatusWithdrawn},
		"active":      {Kind: models.EventStatus, Status: models.StatusActive},
		"taken over":  {Kind: models.EventTakenOver, At: instant(t, "2026-01-20T09:00:00-05:00")},
		"handed back": {Kind: models.EventHandedBack},
		"mode":        {Kind: models.EventMode, Mode: models.ModeFeedback},
		"send":        {Kind: models.EventSend, OutboxID: "o1"},
		"text":        {Kind: models.EventTexts},
	}
	for name, ev := range events {
		for _, points := range []bool{false, true} {
			for _, late := range []time.Duration{-time.Hour, -time.Minute, 0, time.Minute, 3 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour, 25 * time.Hour, 50 * time.Hour} {
				s := withPoints(t, day, day, fixedAt("09:00"))
				s.Rules.DecisionPoints = points
				slot := s.State.Schedules[0].Next
				s.Now = slot.SendAt.Add(late)
				d := decide(t, s, ev)
				after, dates := applied(s, d)
				until := ""
				if i := slices.IndexFunc(after.Due, func(due models.Due) bool { return due.Kind == models.DueDailyPrompt }); i >= 0 && len(after.Schedules) > 0 {
					until = after.Schedules[0].Next.Date
				}
				for at := slot.SendAt; ; at = at.Add(24 * time.Hour) {
					date := at.In(time.FixedZone("EST", -5*3600)).Format(time.DateOnly)
					if until != "" && date >= until || until == "" && at.After(s.Now) {
						break
					}
					require.NotEmpty(t, dates[date], "%s, %s after the time, decision points %v: %s is neither sent nor recorded; next %s", name, late, points, date, until)
				}
				require.NotContains(t, dates, until, "%s, %s: a date has one prompt or row", name, late)
			}
		}
	}
}
