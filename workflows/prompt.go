package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

// promptLateness is how late a prompt may be for its first step to decide it. The
// rules defer most of those that are later.
const promptLateness = time.Minute

// startsPrompt reports whether a prompt most likely follows from a due time, so
// that the rules are asked with its first step. For everything else a local
// activity is cheaper, and for people who are sent none: the last slot tells.
func (p *participant) startsPrompt(ctx workflow.Context, due wire.Due) bool {
	if due.Kind != wire.DueDailyPrompt || p.state.Status != wire.StatusActive || !p.state.TakenOverUntil.IsZero() ||
		workflow.Now(ctx).Sub(due.At) > promptLateness {
		return false
	}
	for _, schedule := range p.state.Schedules {
		if schedule.ID == due.Ref {
			return schedule.LastDate == "" || !schedule.LastAt.IsZero()
		}
	}
	return false
}

// runDuePrompt runs the turn of a due prompt, whose first step asks the rules: a
// local activity of its own would cost an event of every prompt. A turn that they
// do not want is over with that, and its number is not used again, because an
// attempt of the step may have stored it.
func (p *participant) runDuePrompt(ctx workflow.Context, due wire.Due) {
	asked := wire.DecideInput{State: p.state.Clone(), Event: wire.Event{Kind: wire.EventDue, Due: due}, Now: workflow.Now(ctx)}
	t := p.newTurn(wire.TurnPlan{Kind: wire.TurnPrompt})
	t.due = &asked
	t.runToEnd(ctx)
}

// takePlan applies what the rules decided with the first step, and takes the plan
// of the turn. A step that failed, or that the turn did not wait for, has not told
// it; then they are asked the same again.
func (t *turn) takePlan(ctx workflow.Context, decided *wire.Decision) {
	if t.due == nil {
		return
	}
	asked := *t.due
	t.due = nil
	if decided == nil {
		decided = t.participant.decide(ctx, asked)
	}
	plan := decided.PromptPlan()
	for _, effect := range decided.Effects {
		if plan == nil || effect.Turn != plan {
			t.participant.applyOne(effect)
		}
	}
	if plan == nil {
		t.unplanned = true
		return
	}
	t.plan = *plan
}
