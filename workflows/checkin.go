package workflows

import (
	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

// checkIn asks the model once whether there is something to write without being
// asked. Every answer that is not a text is silence: a model that is down, an
// answer that says no or says nothing clear. So is a text of the person that
// came meanwhile, and the beginning of quiet hours. A silent turn has its row
// and leaves nothing else behind.
func (t *turn) checkIn(ctx workflow.Context) (turnText, bool) {
	out, err := t.callModel(ctx, t.stepInput(ctx, 1, true))
	t.participant.receiveSignals(ctx)
	switch {
	case t.mustStop():
		return turnText{}, false
	case err != nil:
		workflow.GetLogger(ctx).Warn("model gave no answer", "turn", t.id, "step", 1, "error", err)
	case out.HasText && !t.participant.hasTexts() && workflow.Now(ctx).Before(t.plan.Until):
		return turnText{source: wire.SourceStep, step: 1}, true
	}
	return turnText{source: wire.SourceSilent}, true
}
