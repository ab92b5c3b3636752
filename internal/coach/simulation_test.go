package coach

import (
	"slices"
	"testing"
	"time"

	"coachline/models/wire"

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

func (l *simulation) decide(ev wire.Event) {
	got := decide(l.t, l.s, ev)
	for _, effect := range got.Effects {
		l.apply(effect)
	}
	seen := map[wire.Due]bool{}
	for _, due := range l.s.State.Due {
		key := wire.Due{Kind: due.Kind, Ref: due.Ref}
		require.False(l.t, seen[key])
		seen[key] = true
	}
}

func (l *simulation) apply(effect wire.Effect) {
	state := &l.s.State
	drop := func(match func(wire.Due) bool) { state.Due = slices.DeleteFunc(slices.Clone(state.Due), match) }
	switch effect.Kind {
	case wire.EffectSetDue:
		drop(func(d wire.Due) bool { return d.Kind == effect.Due.Kind && d.Ref == effect.Due.Ref })
		state.Due = append(state.Due, effect.Due)
	case wire.EffectClearDue:
		drop(func(d wire.Due) bool {
			return d.Kind == effect.Due.Kind && (effect.Due.Ref == "" || d.Ref == effect.Due.Ref)
		})
	case wire.EffectSetMode:
		state.Mode = effect.Mode
	case wire.EffectSetStatus:
		state.Status = effect.Status
	case wire.EffectSetZone:
		state.Zone, state.ZoneAssumed = effect.Zone, effect.ZoneAssumed
	case wire.EffectPutSchedule:
		state.Schedules = slices.DeleteFunc(slices.Clone(state.Schedules), func(s wire.Schedule) bool { return s.ID == effect.Schedule.ID })
		state.Schedules = append(state.Schedules, *effect.Schedule)
	case wire.EffectDropSchedule:
		state.Schedules = slices.DeleteFunc(slices.Clone(state.Schedules), func(s wire.Schedule) bool { return s.ID == effect.Schedule.ID })
	case wire.EffectSetPending:
		state.Pending = effect.Pending
	case wire.EffectClearPending:
		state.Pending = nil
	case wire.EffectMissPrompt:
		l.once(effect.Missed.ScheduleID, effect.Missed.Slot)
	case wire.EffectStartTurn:
		l.turn(*effect.Turn)
	case wire.EffectCountCheckIn:
		state.CheckIns = effect.CheckIns
	case wire.EffectEnd:
		state.Ended = true
	}
}

// once holds that a schedule's date is sent or missed, and only once.
func (l *simulation) once(id string, slot wire.Slot) {
	key := id + " " + slot.Date
	require.False(l.t, l.dates[key], key)
	l.dates[key] = true
}

func (l *simulation) turn(plan wire.TurnPlan) {
	now := l.s.Now
	local := now.In(zoneNamed(l.t, l.s.State.Zone))
	switch plan.Kind {
	case wire.TurnPrompt:
		require.Equal(l.t, wire.StatusActive, l.s.State.Status)
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
		l.decide(wire.Event{Kind: wire.EventPromptSent, Plan: plan, At: now})
	case wire.TurnReminder, wire.TurnFeedbackQuestion, wire.TurnFeedbackFollowup:
		require.Equal(l.t, wire.StatusActive, l.s.State.Status)
		require.False(l.t, l.s.Rules.Quiet.Contains(local))
		require.Contains(l.t, l.prompts, plan.PromptID)
		require.True(l.t, l.lastText.Before(l.prompts[plan.PromptID]), "nobody is asked again after an answer")
	case wire.TurnCheckIn:
		require.Equal(l.t, wire.StatusActive, l.s.State.Status)
		require.Nil(l.t, l.s.State.Pending)
		require.Empty(l.t, l.s.State.Inbox.Items)
		require.False(l.t, l.s.Rules.Quiet.Contains(local))
		require.False(l.t, l.s.Rules.Quiet.Contains(plan.Until.Add(-time.Second).In(local.Location())))
		require.True(l.t, plan.Until.After(now))
		l.decide(wire.Event{Kind: wire.EventCheckInSent, Plan: plan, At: now})
		date := dateOf(now, local.Location()).String()
		require.Equal(l.t, date, l.s.State.CheckIns.Date)
		require.LessOrEqual(l.t, l.s.State.CheckIns.Sent, l.s.Rules.CheckInCap)
	case wire.TurnReply, wire.TurnMessage:
		require.Equal(l.t, plan.Kind == wire.TurnReply, l.s.State.Status == wire.StatusActive)
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
		l.decide(wire.Event{Kind: wire.EventDue, Due: due})
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
		l.decide(wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
			Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed,
			At: Clock(rapid.IntRange(0, minutesPerDay-1).Draw(t, "fixed")).String(),
		}})
		l.decide(wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
			Action: wire.ScheduleCreate, NewID: "s2", Type: wire.ScheduleRandom,
			From: Clock(rapid.IntRange(8*60, 20*60).Draw(t, "window")).String(), To: "23:00",
		}})
		require.Len(t, l.s.State.Schedules, 2)
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			wait := time.Duration(rapid.IntRange(1, 40*60).Draw(t, "minutes")) * time.Minute
			l.until(l.s.Now.Add(wait), rapid.IntRange(0, 4).Draw(t, "outage") == 0)
			switch rapid.SampledFrom([]string{"nothing", "text", "text", "zone", "pause", "resume", "mode"}).Draw(t, "event") {
			case "text":
				l.lastText = l.s.Now
				l.s.State.Inbox.Items = append(l.s.State.Inbox.Items, wire.InboxItem{ReceivedAt: l.s.Now})
				l.decide(wire.Event{Kind: wire.EventTexts, At: l.s.Now})
			case "zone":
				zone := rapid.SampledFrom(testZones()).Draw(t, "zone")
				l.decide(wire.Event{Kind: wire.EventZone, Zone: zone})
			case "pause":
				l.decide(wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})
			case "resume":
				l.decide(wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive})
			case "mode":
				l.decide(wire.Event{Kind: wire.EventTransitionAsk, Mode: wire.ModeIntake, Delay: time.Hour})
			}
			for _, id := range []string{"s1", "s2"} {
				set := slices.ContainsFunc(l.s.State.Due, func(d wire.Due) bool { return d.Kind == wire.DueDailyPrompt && d.Ref == id })
				require.Equal(t, l.s.State.Status == wire.StatusActive, set, "schedule %s", id)
			}
		}
	})
}
