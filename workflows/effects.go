package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

// Activity types are referred to through nil receivers; the worker registers
// the real ones.
var (
	rules   *activities.DecisionActivities
	turns   *activities.TurnLoader
	talk    *activities.ModelActivities
	tools   *activities.ToolActivities
	closing *activities.TurnEnd
	posts   *activities.SendActivities
)

// handleEvent asks the rules about an event and applies what they decide. A
// rule that fails for good is a defect of ours: it is logged, and the event
// changes nothing, so that one bad case cannot stop a participant's workflow. It
// returns why the rules refused what was asked for, and nothing otherwise.
func (p *participant) handleEvent(ctx workflow.Context, ev wire.Event) (refused string) {
	decision := p.decide(ctx, wire.DecideInput{State: p.state.Clone(), Event: ev, Now: workflow.Now(ctx)})
	p.applyEffects(decision.Effects)
	return decision.Refused
}

// decide asks the rules; where they fail, nothing follows.
func (p *participant) decide(ctx workflow.Context, in wire.DecideInput) *wire.Decision {
	var decision wire.Decision
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), rules.Decide, in).Get(ctx, &decision); err != nil {
		workflow.GetLogger(ctx).Error("rule failed, event dropped", "event", in.Event.Kind, "error", err)
		return &wire.Decision{}
	}
	return &decision
}

// applyEffects carries out decided effects in order.
func (p *participant) applyEffects(effects []wire.Effect) {
	for _, e := range effects {
		p.applyOne(e)
	}
}

func (p *participant) applyOne(e wire.Effect) {
	switch e.Kind {
	case wire.EffectSetDue:
		p.setDue(e.Due)
	case wire.EffectClearDue:
		p.clearDue(e.Due.Kind, e.Due.Ref)
	case wire.EffectSetMode:
		p.state.Mode, p.unsaved.mode = e.Mode, true
		p.state.Feedback = p.state.Feedback.Enter(e.Mode)
	case wire.EffectSetStatus:
		p.setStatus(e.Status)
	case wire.EffectSetZone:
		p.state.Zone, p.state.ZoneAssumed = e.Zone, e.ZoneAssumed
	case wire.EffectPutSchedule:
		p.putSchedule(*e.Schedule)
	case wire.EffectDropSchedule:
		p.dropSchedule(e.Schedule.ID)
	case wire.EffectSetPending, wire.EffectClearPending:
		p.setPending(e.Pending)
	case wire.EffectMissPrompt, wire.EffectLeaveOut:
		p.noteLeftOut(e)
	case wire.EffectStartTurn:
		p.addPlan(*e.Turn)
	case wire.EffectCountCheckIn, wire.EffectCountInitiated, wire.EffectSetSubagents:
		p.applyCount(e)
	case wire.EffectTakeOver:
		p.setTakeOver(e.Until)
	case wire.EffectStartSubagent:
		// The turn starts it (startSubagents): it has to wait for the start.
	case wire.EffectEnd:
		p.state.Ended = true
		// What was planned before the person left must not run after it.
		p.plans = slices.DeleteFunc(p.plans, func(plan wire.TurnPlan) bool { return plan.Kind != wire.TurnNotice })
	}
}

// setPending takes a new prompt, of which nothing is known yet, or nil when its time is
// over.
func (p *participant) setPending(prompt *wire.PendingPrompt) {
	p.state.Pending = prompt
	if prompt != nil {
		p.state.Feedback = wire.FeedbackNone
	}
}

// noteLeftOut notes what is not sent, for the tables.
func (p *participant) noteLeftOut(e wire.Effect) {
	if e.Kind == wire.EffectMissPrompt {
		p.unsaved.missed = append(p.unsaved.missed, *e.Missed)
		return
	}
	p.unsaved.leftOut = append(p.unsaved.leftOut, *e.LeftOut)
}

func (p *participant) applyCount(e wire.Effect) {
	switch e.Kind { //nolint:exhaustive // those that count
	case wire.EffectCountCheckIn:
		p.state.CheckIns = e.CheckIns
	case wire.EffectCountInitiated:
		p.state.Initiated = e.Initiated
	default:
		p.state.Subagents = e.Subagents
	}
}

// addPlan takes a decided turn. With the first one that the person reads the
// greeting is no longer to be sent.
func (p *participant) addPlan(plan wire.TurnPlan) {
	if plan.Kind == wire.TurnGreeting || plan.Introduce {
		p.state.GreetingAt = time.Time{}
	}
	p.plans = append(p.plans, plan)
}

func (p *participant) setStatus(status wire.Status) {
	p.state.Status, p.unsaved.status = status, true
	if status == wire.StatusOptedOut {
		// Of what was planned before, only the texts are still taken along.
		for _, plan := range p.plans {
			p.addMissed(plan, string(wire.StatusOptedOut))
		}
		p.plans = slices.DeleteFunc(p.plans, func(plan wire.TurnPlan) bool { return plan.Kind != wire.TurnMessage })
	}
}

// setTakeOver notes until when an operator writes in the place of the coach; zero
// is not at all. What the coach was about to write is not planned any more.
func (p *participant) setTakeOver(until time.Time) {
	p.state.TakenOverUntil = until
	if until.IsZero() {
		return
	}
	for _, plan := range p.plans {
		p.addMissed(plan, models.MissedTakenOver)
	}
	p.plans = slices.DeleteFunc(p.plans, func(plan wire.TurnPlan) bool { return models.TurnSpecOf(plan.Kind).Coaching })
}

func (p *participant) putSchedule(s wire.Schedule) {
	p.unsaved.schedules = true
	i := slices.IndexFunc(p.state.Schedules, func(x wire.Schedule) bool { return x.ID == s.ID })
	if i < 0 {
		p.state.Schedules = append(p.state.Schedules, s)
		return
	}
	p.state.Schedules[i] = s
}

func (p *participant) dropSchedule(id string) {
	p.unsaved.schedules = true
	p.state.Schedules = slices.DeleteFunc(p.state.Schedules, func(x wire.Schedule) bool { return x.ID == id })
}
