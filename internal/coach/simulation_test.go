package coach

import (
	"slices"
	"testing"
	"time"

	"coachline/models"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// simulation applies effects as workflow code does and holds what must never happen.
type simulation struct {
	t        *rapid.T
	s        Input
	prompts  map[string]time.Time // prompt id -> sent
	dates    map[string]bool      // dates that were sent or recorded as missed
	sent     map[string]time.Time // schedule id -> its last prompt
	lastText time.Time
}

func (l *simulation) decide(ev models.Event) {
	got := decide(l.t, l.s, ev)
	for _, effect := range got.Effects {
		l.apply(effect)
	}
	seen := map[models.Due]bool{}
	for _, due := range l.s.State.Due {
		key := models.Due{Kind: due.Kind, Ref: due.Ref}
		require.False(l.t, seen[key])
		seen[key] = true
	}
}

func (l *simulation) apply(effect models.Effect) {
	state := &l.s.State
	drop := func(match func(models.Due) bool) { state.Due = slices.DeleteFunc(slices.Clone(state.Due), match) }
	switch effect.Kind {
	case models.EffectSetDue:
		drop(func(d models.Due) bool { return d.Kind == effect.Due.Kind && d.Ref == effect.Due.Ref })
		state.Due = append(state.Due, effect.Due)
	case models.EffectClearDue:
		drop(func(d models.Due) bool {
			return d.Kind == effect.Due.Kind && (effect.Due.Ref == "" || d.Ref == effect.Due.Ref)
		})
	case models.EffectSetMode:
		state.Mode = effect.Mode
	case models.EffectSetStatus:
		state.Status = effect.Status
	case models.EffectSetZone:
		state.Zone, state.ZoneAssumed = effect.Zone, effect.ZoneAssumed
	case models.EffectPutSchedule:
		state.Schedules = slices.DeleteFunc(slices.Clone(state.Schedules), func(s models.Schedule) bool { return s.ID == effect.Schedule.ID })
		state.Schedules = append(state.Schedules, *effect.Schedule)
	case models.EffectDropSchedule:
		state.Schedules = slices.DeleteFunc(slices.Clone(state.Schedules), func(s models.Schedule) bool { return s.ID == effect.Schedule.ID })
	case models.EffectSetPending:
		state.Pending = effect.Pending
	case models.EffectClearPending:
		state.Pending = nil
	case models.EffectMissPrompt:
		l.once(effect.Missed.ScheduleID, effect.Missed.Slot)
	case models.EffectStartTurn:
		l.turn(*effect.Turn)
	case models.EffectCountCheckIn:
		state.CheckIns = effect.CheckIns
	case models.EffectEnd:
		state.Ended = true
	}
}

// once holds that a schedule's date is sent or missed, and only once.
func (l *simulation) once(id string, slot models.Slot) {
	key := id + " " + slot.Date
	require.False(l.t, l.dates[key], key)
	l.dates[key] = true
}

func (l *simulation) turn(plan models.TurnPlan) {
	now := l.s.Now
	local := now.In(zoneNamed(l.t, l.s.State.Zone))
	switch plan.Kind {
	case models.TurnPrompt:
		require.Equal(l.t, models.StatusActive, l.s.State.Status)
		require.NotContains(l.t, l.prompts, plan.PromptID)
		l.once(plan.ScheduleID, plan.Slot)
		require.False(l.t, now.Before(plan.Slot.SendAt))
		require.False(l.t, now.After(plan.Slot.TargetAt.Add(max(l.s.Rules.PromptGrace, lateness))))
		if now.After(plan.Slot.SendAt.Add(lateness)) {
			require.False(l.t, l.s.Rules.Quiet.Contains(local), "late and in quiet hours")
		}
		if last, ok := l.sent[plan.ScheduleID]; ok {
			require.NotEqual(l.t, dateOf(last, local.Location()), dateOf(now, local.Location()),
				"two prompts on one local date: %s, %s", last.In(local.Location()), local)
		}
		if l.sent == nil {
			l.sent = map[string]time.Time{}
		}
		l.sent[plan.ScheduleID] = now
		l.prompts[plan.PromptID] = now
		l.decide(models.Event{Kind: models.EventPromptSent, Plan: plan, At: now})
	case models.TurnReminder, models.TurnFeedbackQuestion, models.TurnFeedbackFollowup:
		require.Equal(l.t, models.StatusActive, l.s.State.Status)
		require.False(l.t, l.s.Rules.Quiet.Contains(local))
		require.Contains(l.t, l.prompts, plan.PromptID)
		require.True(l.t, l.lastText.Before(l.prompts[plan.PromptID]), "nobody is asked again after an answer")
	case models.TurnCheckIn:
		require.Equal(l.t, models.StatusActive, l.s.State.Status)
		require.Nil(l.t, l.s.State.Pending)
		require.Empty(l.t, l.s.State.Inbox.Items)
		require.False(l.t, l.s.Rules.Quiet.Contains(local))
		require.False(l.t, l.s.Rules.Quiet.Contains(plan.Until.Add(-time.Second).In(local.Location())))
		require.True(l.t, plan.Until.After(now))
		l.decide(models.Event{Kind: models.EventCheckInSent, Plan: plan, At: now})
		date := dateOf(now, local.Location()).String()
		require.Equal(l.t, date, l.s.State.CheckIns.Date)
		require.LessOrEqual(l.t, l.s.State.CheckIns.Sent, l.s.Rules.CheckInCap)
	case models.TurnReply, models.TurnMessage:
		require.Equal(l.t, plan.Kind == models.TurnReply, l.s.State.Status == models.StatusActive)
		l.s.State.Inbox.Items = nil
	}
}

// until runs everything that falls due up to an instant; with an outage nothing
// runs before its end.
func (l *simulation) until(end time.Time, outage bool) {
	if outage {
		l.s.Now = end
	}
	for {
		i := -1
		for n, due := range l.s.State.Due {
			if !due.At.After(end) && (i < 0 || due.At.Before(l.s.State.Due[i].At)) {
				i = n
			}
		}
		if i < 0 {
			l.s.Now = end
			return
		}
		due := l.s.State.Due[i]
		l.s.State.Due = slices.Delete(slices.Clone(l.s.State.Due), i, i+1)
		if due.At.After(l.s.Now) {
			l.s.Now = due.At
		}
		l.decide(models.Event{Kind: models.EventDue, Due: due})
	}
}

// For every sequence of events: no local date of a schedule twice, no nudge
// after an answer, nothing at night that the person did not choose, no prompt
// while paused, no check-in beyond the cap or beside a prompt, and an active
// schedule always has its next slot.
func TestLifeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &simulation{t: t, s: at(t, noon), prompts: map[string]time.Time{}, dates: map[string]bool{}}
		l.s.Rules.CheckIn = time.Duration(rapid.IntRange(0, 9).Draw(t, "check-in")) * time.Hour
		l.s.Rules.CheckInCap = 2
		l.s.Rules.PromptSpread = time.Duration(rapid.IntRange(0, 10).Draw(t, "spread")) * time.Minute
		l.decide(models.Event{Kind: models.EventScheduleTool, Schedule: &models.ScheduleAsk{
			Action: models.ScheduleCreate, NewID: "s1", Type: models.ScheduleFixed,
			At: Clock(rapid.IntRange(0, minutesPerDay-1).Draw(t, "fixed")).String(),
		}})
		l.decide(models.Event{Kind: models.EventScheduleTool, Schedule: &models.ScheduleAsk{
			Action: models.ScheduleCreate, NewID: "s2", Type: models.ScheduleRandom,
			From: Clock(rapid.IntRange(8*60, 20*60).Draw(t, "window")).String(), To: "23:00",
		}})
		require.Len(t, l.s.State.Schedules, 2)
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			wait := time.Duration(rapid.IntRange(1, 40*60).Draw(t, "minutes")) * time.Minute
			l.until(l.s.Now.Add(wait), rapid.IntRange(0, 4).Draw(t, "outage") == 0)
			switch rapid.SampledFrom([]string{"nothing", "text", "text", "zone", "pause", "resume", "mode"}).Draw(t, "event") {
			case "text":
				l.lastText = l.s.Now
				l.s.State.Inbox.Items = append(l.s.State.Inbox.Items, models.InboxItem{ReceivedAt: l.s.Now})
				l.decide(models.Event{Kind: models.EventTexts, At: l.s.Now})
			case "zone":
				zone := rapid.SampledFrom(testZones()).Draw(t, "zone")
				l.decide(models.Event{Kind: models.EventZone, Zone: zone})
			case "pause":
				l.decide(models.Event{Kind: models.EventStatus, Status: models.StatusPaused})
			case "resume":
				l.decide(models.Event{Kind: models.EventStatus, Status: models.StatusActive})
			case "mode":
				l.decide(models.Event{Kind: models.EventTransitionAsk, Mode: models.ModeIntake, Delay: time.Hour})
			}
			for _, id := range []string{"s1", "s2"} {
				set := slices.ContainsFunc(l.s.State.Due, func(d models.Due) bool { return d.Kind == models.DueDailyPrompt && d.Ref == id })
				require.Equal(t, l.s.State.Status == models.StatusActive, set, "schedule %s", id)
			}
		}
	})
}
