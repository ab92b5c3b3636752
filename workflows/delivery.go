package workflows

import (
	"go.temporal.io/sdk/workflow"

	"coachline/models"
)

// persist writes the turn's entries and outbox rows and returns the rows to
// send, in order.
func (t *turn) persist(ctx workflow.Context, w words) ([]string, bool) {
	in := models.PersistTurnInput{
		ParticipantID: t.life.state.ParticipantID,
		TurnID:        t.id, Mode: t.mode, Plan: t.plan,
		Source: w.source, Step: w.step, Now: workflow.Now(ctx),
	}
	var out models.PersistTurnResult
	if err := workflow.ExecuteLocalActivity(local(ctx), turns.PersistTurn, in).Get(ctx, &out); err != nil {
		workflow.GetLogger(ctx).Error("storing turn failed", "turn", t.id, "error", err)
		return nil, false
	}
	return out.OutboxIDs, true
}

// send hands the rows to the carrier one after the other, each when the fate of
// the one before it is known, and returns how the first one fared: it is the
// one that carries the turn's text, or its first part. When a part was not
// taken, the gate refuses the parts behind it.
func (t *turn) send(ctx workflow.Context, rows []string) models.SendSMSResult {
	first := models.SendSMSResult{Status: models.OutboxCanceled}
	for i, id := range rows {
		var out models.SendSMSResult
		err := workflow.ExecuteActivity(t.sendOptions(ctx, id), posts.SendSMS, models.SendSMSInput{OutboxID: id}).Get(ctx, &out)
		if err != nil {
			workflow.GetLogger(ctx).Warn("text not sent", "outbox", id, "error", err)
			out.Status = models.OutboxFailed
		}
		if i == 0 {
			first = out
		}
	}
	return first
}

// settle tells the rules how a prompt fared; other turns have nothing to
// settle.
func (t *turn) settle(ctx workflow.Context, sent models.SendSMSResult) {
	if t.plan.Kind != models.KindPrompt {
		return
	}
	kind := models.EventPromptFailed
	if !sent.AcceptedAt.IsZero() {
		kind = models.EventPromptSent
	}
	t.life.receive()
	t.life.on(ctx, models.Event{Kind: kind, Plan: t.plan, At: sent.AcceptedAt})
}
