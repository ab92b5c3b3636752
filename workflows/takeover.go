package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models/wire"
)

// standing ends take-overs in the tables.
var standing *activities.StandingActivities

// endTakeOver ends a take-over whose time has come, in the tables: the notice of
// that gives back to the coach, with the texts to answer. Where an operator has
// put the end off meanwhile, it is due again then.
func (p *participant) endTakeOver(ctx workflow.Context) {
	in := wire.TakeOverEnd{ParticipantID: p.state.ParticipantID, Now: workflow.Now(ctx)}
	var until time.Time
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), standing.EndTakeOver, in).Get(ctx, &until); err != nil {
		workflow.GetLogger(ctx).Error("ending the take-over failed", "error", err)
		return
	}
	if !until.IsZero() {
		p.setDue(wire.Due{Kind: wire.DueTakeOverEnd, At: until})
	}
}
