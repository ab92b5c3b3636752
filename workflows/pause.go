package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

// handleDue acts on a due time that has come: the tables end take-overs and
// pauses, and the rules say what follows from everything else.
func (p *participant) handleDue(ctx workflow.Context, due wire.Due) {
	switch {
	case due.Kind == wire.DueTakeOverEnd:
		p.endTakeOver(ctx)
	case due.Kind == wire.DuePauseEnd && endsPauses(ctx):
		p.endPause(ctx)
	case p.startsPrompt(ctx, due) && decidesWithStep(ctx):
		p.runDuePrompt(ctx, due)
	default:
		p.handleEvent(ctx, wire.Event{Kind: wire.EventDue, Due: due})
	}
}

// endPause ends a pause whose time has come, in the tables: the notice of that
// resumes, with the texts to answer. Where an operator has put the end off
// meanwhile, it is due again then.
func (p *participant) endPause(ctx workflow.Context) {
	in := wire.PauseEnd{ParticipantID: p.state.ParticipantID, Now: workflow.Now(ctx)}
	var until time.Time
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), standing.EndPause, in).Get(ctx, &until); err != nil {
		workflow.GetLogger(ctx).Error("ending the pause failed", "error", err)
		return
	}
	if !until.IsZero() {
		p.setDue(wire.Due{Kind: wire.DuePauseEnd, At: until})
	}
}
