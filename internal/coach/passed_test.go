package coach

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// applied is a situation after a decision, as far as slots go, and the dates that had a
// prompt or a row that says why not.
func applied(s Input, d wire.Decision) (after wire.ParticipantState, dates map[string]string) {
	after, dates = s.State.Clone(), map[string]string{}
	drop := func(due wire.Due) {
		after.Due = slices.DeleteFunc(after.Due, func(x wire.Due) bool { return x.Kind == due.Kind && (due.Ref == "" || x.Ref == due.Ref) })
	}
	for _, effect := range d.Effects {
		switch effect.Kind {
		case wire.EffectMissPrompt:
			dates[effect.Missed.Slot.Date] = effect.Missed.Reason
		case wire.EffectStartTurn:
			if effect.Turn.Kind == wire.TurnPrompt {
				dates[effect.Turn.Slot.Date] = "sent"
			}
		case wire.EffectPutSchedule:
			i := slices.IndexFunc(after.Schedules, func(x wire.Schedule) bool { return x.ID == effect.Schedule.ID })
			after.Schedules[i] = *effect.Schedule
		case wire.EffectDropSchedule:
			after.Schedules = nil
		case wire.EffectSetDue:
			drop(effect.Due)
			after.Due = append(after.Due, effect.Due)
		case wire.EffectClearDue:
			drop(effect.Due)
		}
	}
	return after, dates
}

// constantsOf are the values of the constants of a type of package wire.
func constantsOf(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob("../../models/wire/*.go")
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^\t\w+ +` + name + ` = "(\w+)"`)
	var values []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range declared.FindAllSubmatch(raw, -1) {
			values = append(values, string(match[1]))
		}
	}
	require.NotEmpty(t, values, name)
	return values
}

// Whatever an operator, a person or a model changes around the time of a prompt, also
// after days without a worker: each day up to the next prompt has one, or a row that says
// why not; a command that ends the prompts leaves a row for each that had come. A kind of
// event, status, action or due time that is new has to be named here.
func TestNoSlotIsLostWithoutARow(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	operator := func(ask wire.ScheduleAsk) wire.Event {
		ask.ByOperator = true
		return wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask}
	}
	events := map[string]wire.Event{
		"same clock":  {Kind: wire.EventZone, Zone: "America/Toronto"},
		"west":        {Kind: wire.EventZone, Zone: "Pacific/Honolulu"},
		"east":        {Kind: wire.EventZone, Zone: "Asia/Tokyo"},
		"Europe":      {Kind: wire.EventZone, Zone: "Europe/Berlin"},
		"known":       {Kind: wire.EventZone, Zone: "America/New_York"},
		"later time":  operator(wire.ScheduleAsk{Action: wire.ScheduleReplace, ID: "s1", Type: wire.ScheduleFixed, At: "18:00"}),
		"earlier":     operator(wire.ScheduleAsk{Action: wire.ScheduleReplace, ID: "s1", Type: wire.ScheduleFixed, At: "08:30"}),
		"window":      operator(wire.ScheduleAsk{Action: wire.ScheduleReplace, ID: "s1", Type: wire.ScheduleRandom, From: "10:00", To: "12:00"}),
		"move":        operator(wire.ScheduleAsk{Action: wire.ScheduleMove, ID: "s1", MoveTo: instant(t, "2026-01-15T19:00:00-05:00")}),
		"delete":      {Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleDelete, ID: "s1"}},
		"create":      {Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed, At: "09:00"}},
		"pause":       {Kind: wire.EventPaused},
		"opt-out":     {Kind: wire.EventStatus, Status: wire.StatusOptedOut, Confirm: true},
		"completed":   {Kind: wire.EventStatus, Status: wire.StatusCompleted},
		"withdrawn":   {Kind: wire.EventStatus, Status: wire.StatusWithdrawn},
		"active":      {Kind: wire.EventStatus, Status: wire.StatusActive},
		"taken over":  {Kind: wire.EventTakenOver, At: instant(t, "2026-01-20T09:00:00-05:00")},
		"handed back": {Kind: wire.EventHandedBack},
		"mode":        {Kind: wire.EventMode, Mode: wire.ModeFeedback},
		"send":        {Kind: wire.EventSend, OutboxID: "o1"},
		"text":        {Kind: wire.EventTexts},
		"list":        {Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleList}},
		"paused":      {Kind: wire.EventStatus, Status: wire.StatusPaused},
		"ended":       {Kind: wire.EventUnenrolled},
		"enrolled":    {Kind: wire.EventEnrolled},
		"sent":        {Kind: wire.EventPromptSent},
		"failed":      {Kind: wire.EventPromptFailed},
		"transition":  {Kind: wire.EventTransitionAsk, Mode: wire.ModeFeedback},
		"help":        {Kind: wire.EventHelp},
		"check-in":    {Kind: wire.EventCheckInSent},
		"less":        {Kind: wire.EventAskLessSent},
		"subagent":    {Kind: wire.EventSubagentAsk, Plan: wire.TurnPlan{Subagent: wire.Subagent{TurnID: "t1"}}},
		"its end":     {Kind: wire.EventSubagentDone, Plan: wire.TurnPlan{Subagent: wire.Subagent{TurnID: "t1", Tell: true}}},
	}
	for _, kind := range constantsOf(t, "DueKind") {
		events["due "+kind] = wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueKind(kind)}}
	}
	covers := func(constants string, of func(wire.Event) string) {
		had := []string{string(wire.EventRestored)} // its schedules come from the tables, which know no slots
		for _, ev := range events {
			had = append(had, of(ev))
		}
		require.Subset(t, had, constantsOf(t, constants))
	}
	covers("EventKind", func(ev wire.Event) string { return string(ev.Kind) })
	covers("Status", func(ev wire.Event) string { return string(ev.Status) })
	covers("ScheduleAction", func(ev wire.Event) string {
		if ev.Schedule == nil {
			return ""
		}
		return string(ev.Schedule.Action)
	})
	for name, ev := range events {
		for _, how := range []struct {
			points bool
			spread time.Duration // with it, what an outage held up goes out later
		}{{false, 0}, {true, 0}, {false, 10 * time.Minute}, {true, 10 * time.Minute}} {
			for _, late := range []time.Duration{-time.Hour, -time.Minute, 0, time.Minute, 3 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour, 25 * time.Hour, 50 * time.Hour} {
				s := withPoints(t, day, day, fixedAt("09:00"))
				s.Rules.DecisionPoints, s.Rules.PromptSpread = how.points, how.spread
				slot := s.State.Schedules[0].Next
				s.Now = slot.SendAt.Add(late)
				if ev.Due.Kind == wire.DueDailyPrompt { // who fires it takes it out beforehand
					ev.Due, s.State.Due = s.State.Due[0], nil
					if late < 0 {
						continue
					}
				}
				d := decide(t, s, ev)
				after, dates := applied(s, d)
				until := ""
				if i := slices.IndexFunc(after.Due, func(due wire.Due) bool { return due.Kind == wire.DueDailyPrompt }); i >= 0 && len(after.Schedules) > 0 {
					until = after.Schedules[0].Next.Date
				}
				for at := slot.SendAt; ; at = at.Add(24 * time.Hour) {
					date := at.In(time.FixedZone("EST", -5*3600)).Format(time.DateOnly)
					if until != "" && date >= until || until == "" && at.After(s.Now) {
						break
					}
					require.NotEmpty(t, dates[date], "%s, %s after the time, %+v: %s is neither sent nor recorded; next %s", name, late, how, date, until)
				}
				require.NotContains(t, dates, until, "%s, %s: a date has one prompt or row", name, late)
			}
		}
	}
}

// TestTwoPromptsOfAMove: of two prompts that are due when a person moves one goes out, and
// the other leaves a row.
func TestTwoPromptsOfAMove(t *testing.T) {
	const day = "2026-01-15T00:00:00-05:00"
	later := fixedAt("09:30")
	later.ID = "s2"
	s := withPoints(t, day, day, fixedAt("09:00"), later)
	s.Rules.DecisionPoints = false
	s.Now = s.State.Schedules[1].Next.SendAt.Add(time.Minute)
	d := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: "America/Toronto"})
	sent := slices.DeleteFunc(slices.Clone(d.Effects), func(e wire.Effect) bool { return e.Kind != wire.EffectStartTurn })
	require.Len(t, sent, 1)
	require.Equal(t, "s1", sent[0].Turn.ScheduleID)
	require.Equal(t, []string{"s2 2026-01-15 " + string(MissedMoved)}, missedOf(d))
}
