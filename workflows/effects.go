package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models"
)

// Activity types are referred to through nil receivers; the worker registers
// the real ones.
var (
	rules   *activities.Decisions
	turns   *activities.Turns
	talk    *activities.Talk
	tools   *activities.Tools
	closing *activities.Closing
	posts   *activities.Posts
)

// on asks the rules about an event and applies what they decide. A rule that
// fails for good is a defect of ours: it is logged, and the event changes
// nothing, so that one bad case cannot stop a participant's workflow.
func (l *life) on(ctx workflow.Context, ev models.Event) {
	in := models.DecideInput{State: l.state.Clone(), Event: ev, Now: workflow.Now(ctx)}
	var decision models.Decision
	if err := workflow.ExecuteLocalActivity(local(ctx), rules.Decide, in).Get(ctx, &decision); err != nil {
		workflow.GetLogger(ctx).Error("rule failed, event dropped", "event", ev.Kind, "error", err)
		return
	}
	l.apply(decision.Effects)
}

// apply carries out decided effects in order.
func (l *life) apply(effects []models.Effect) {
	for _, e := range effects {
		l.applyOne(e)
	}
}

func (l *life) applyOne(e models.Effect) {
	switch e.Kind {
	case models.EffectSetDue:
		l.setDue(e.Due)
	case models.EffectClearDue:
		l.clearDue(e.Due.Kind, e.Due.Ref)
	case models.EffectSetMode:
		l.state.Mode, l.dirty.mode = e.Mode, true
	case models.EffectSetStatus:
		l.setStatus(e.Status)
	case models.EffectSetZone:
		l.state.Zone, l.state.ZoneAssumed = e.Zone, e.ZoneAssumed
	case models.EffectPutSchedule:
		l.putSchedule(*e.Schedule)
	case models.EffectDropSchedule:
		l.dropSchedule(e.Schedule.ID)
	case models.EffectSetPending, models.EffectClearPending:
		l.state.Pending = e.Pending // nil when it is cleared
	case models.EffectMissPrompt:
		l.dirty.missed = append(l.dirty.missed, *e.Missed)
	case models.EffectStartTurn:
		l.addPlan(*e.Turn)
	case models.EffectCountCheckIn:
		l.state.CheckIns = e.CheckIns
	case models.EffectStartSubagent:
		// The turn starts it (startSubagents): it has to wait for the start.
	case models.EffectEnd:
		l.state.Ended = true
		// What was planned before the person left must not run after it.
		l.plans = slices.DeleteFunc(l.plans, func(p models.TurnPlan) bool { return p.Kind != models.KindNotice })
	}
}

// addPlan takes a decided turn. With the first one that the person reads the
// greeting is no longer to be sent.
func (l *life) addPlan(plan models.TurnPlan) {
	if plan.Kind == models.KindGreeting || plan.Introduce {
		l.state.GreetingAt = time.Time{}
	}
	l.plans = append(l.plans, plan)
}

func (l *life) setStatus(status models.Status) {
	l.state.Status, l.dirty.status = status, true
	if status == models.StatusOptedOut {
		// Of what was planned before, only the texts are still taken along.
		l.plans = slices.DeleteFunc(l.plans, func(p models.TurnPlan) bool { return p.Kind != models.KindMessage })
	}
}

func (l *life) putSchedule(s models.Schedule) {
	l.dirty.schedules = true
	i := slices.IndexFunc(l.state.Schedules, func(x models.Schedule) bool { return x.ID == s.ID })
	if i < 0 {
		l.state.Schedules = append(l.state.Schedules, s)
		return
	}
	l.state.Schedules[i] = s
}

func (l *life) dropSchedule(id string) {
	l.dirty.schedules = true
	l.state.Schedules = slices.DeleteFunc(l.state.Schedules, func(x models.Schedule) bool { return x.ID == id })
}
