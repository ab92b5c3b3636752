package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models/wire"
)

// standing ends take-overs and pauses in the tables.
var standing *activities.StandingActivities

// handleDue acts on a due time that has come: the tables end take-overs and
// pauses, and the rules say what follows from everything else.
func (p *participant) handleDue(ctx workflow.Context, due wire.Due) {
	switch {
	case due.Kind == wire.DueTakeOverEnd:
		p.endStanding(ctx, due.Kind, standing.EndTakeOver, wire.TakeOverEnd{ParticipantID: p.state.ParticipantID, Now: workflow.Now(ctx)})
	case due.Kind == wire.DuePauseEnd && endsPauses(ctx):
		p.endStanding(ctx, due.Kind, standing.EndPause, wire.PauseEnd{ParticipantID: p.state.ParticipantID, Now: workflow.Now(ctx)})
	case p.startsPrompt(ctx, due) && decidesWithStep(ctx):
		p.runDuePrompt(ctx, due)
	default:
		p.handleEvent(ctx, wire.Event{Kind: wire.EventDue, Due: due})
	}
}

// endStanding ends a take-over or a pause whose time has come, in the tables: the notice
// of that has the coach go on, with the texts to answer. Where an operator has put the
// end off meanwhile, it is due again then.
func (p *participant) endStanding(ctx workflow.Context, kind wire.DueKind, end, in any) {
	var until time.Time
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), end, in).Get(ctx, &until); err != nil {
		workflow.GetLogger(ctx).Error("ending a take-over or a pause failed", "kind", string(kind), "error", err)
		return
	}
	if !until.IsZero() {
		p.setDue(wire.Due{Kind: kind, At: until})
	}
}
