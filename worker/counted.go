package worker

import (
	"context"
	"time"

	"coachline/activities"
	"coachline/internal/metrics"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
)

// countedRows is the store as the activities use it; what is worth a number is
// counted once it is stored.
type countedRows struct {
	*store.Store
	metrics *metrics.Metrics
	tools   *tools.Registry
}

// AcceptTranscript counts the alarm that a voice note raised, and the opting out
// that it meant.
func (r countedRows) AcceptTranscript(ctx context.Context, t models.Transcript) (models.AcceptedInbound, error) {
	accepted, err := r.Store.AcceptTranscript(ctx, t)
	if err == nil {
		r.metrics.Transcript(accepted)
	}
	return accepted, err
}

// TurnContext notes the texts that the turn answers.
func (r countedRows) TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error) {
	turn, err := r.Store.TurnContext(ctx, turnID, window)
	if err == nil {
		metrics.Of(ctx).Loaded(turn)
	}
	return turn, err
}

// OpenTurn does so for a turn that begins.
func (r countedRows) OpenTurn(ctx context.Context, in models.PrepareTurnInput, window int) (models.PrepareTurnResult, models.TurnContext, error) {
	begun, turn, err := r.Store.OpenTurn(ctx, in, window)
	if err == nil {
		metrics.Of(ctx).Loaded(turn)
	}
	return begun, turn, err
}

// EndingTurn does so for the end of a turn.
func (r countedRows) EndingTurn(ctx context.Context, turnID string) (models.TurnContext, error) {
	turn, err := r.Store.EndingTurn(ctx, turnID)
	if err == nil {
		metrics.Of(ctx).Loaded(turn)
	}
	return turn, err
}

// SaveState counts the prompts that were missed.
func (r countedRows) SaveState(ctx context.Context, in models.SaveStateInput) error {
	err := r.Store.SaveState(ctx, in)
	if err == nil {
		r.metrics.Missed(in.Missed)
	}
	return err
}

// CommitTool counts the call. A model may ask for a tool by any name it likes,
// and those are no label.
func (r countedRows) CommitTool(ctx context.Context, commit models.ToolCommit) error {
	err := r.Store.CommitTool(ctx, commit)
	if err == nil {
		tool, _ := r.tools.Lookup(commit.Run.Name)
		r.metrics.ToolRun(tool.Name, commit.Run.Failed)
	}
	return err
}

// ClaimSend counts a text that a gate refuses.
func (r countedRows) ClaimSend(ctx context.Context, outboxID string, now time.Time) (models.SendClaim, error) {
	claim, err := r.Store.ClaimSend(ctx, outboxID, now)
	if err == nil {
		r.metrics.Claimed(ctx, claim)
	}
	return claim, err
}

// FinishTurn counts a first text that a gate refuses, and the prompts that were
// missed.
func (r countedRows) FinishTurn(ctx context.Context, o models.TurnOutcome) (models.EndedTurn, error) {
	turn, err := r.Store.FinishTurn(ctx, o)
	if err == nil && turn.First.Outbox.ID != "" {
		r.metrics.Claimed(ctx, turn.First)
	}
	if turn.Saved {
		r.metrics.Missed(o.State.Missed)
	}
	return turn, err
}

// StartPost counts a text that the send check refuses before it is written.
func (r countedRows) StartPost(ctx context.Context, claim models.SendClaim, now time.Time) (models.Outbox, error) {
	row, err := r.Store.StartPost(ctx, claim, now)
	if err == nil && row.Status != models.OutboxSending {
		r.metrics.Claimed(ctx, models.SendClaim{Outbox: row})
	}
	return row, err
}

// ReleaseSend counts a text that will be tried again.
func (r countedRows) ReleaseSend(ctx context.Context, ref models.ClaimRef, now time.Time) error {
	err := r.Store.ReleaseSend(ctx, ref, now)
	if err == nil {
		r.metrics.Sent(ctx, models.OutboxReady)
	}
	return err
}

// PostponeSend counts a text that will be tried once more.
func (r countedRows) PostponeSend(ctx context.Context, ref models.ClaimRef, now time.Time) error {
	err := r.Store.PostponeSend(ctx, ref, now)
	if err == nil {
		r.metrics.Sent(ctx, models.OutboxReady)
	}
	return err
}

// ReleaseMissing counts a text that will be posted again.
func (r countedRows) ReleaseMissing(ctx context.Context, ref models.ClaimRef, now time.Time) error {
	err := r.Store.ReleaseMissing(ctx, ref, now)
	if err == nil {
		r.metrics.Sent(ctx, models.OutboxReady)
	}
	return err
}

// RecordAccepted counts a text that the carrier took.
func (r countedRows) RecordAccepted(ctx context.Context, ref models.ClaimRef, receipt models.Receipt, now time.Time) error {
	err := r.Store.RecordAccepted(ctx, ref, receipt, now)
	if err == nil {
		r.metrics.Sent(ctx, models.OutboxAccepted)
	}
	return err
}

// RecordFailed counts a text that failed or whose result is unknown.
func (r countedRows) RecordFailed(ctx context.Context, f models.SendFailure) error {
	err := r.Store.RecordFailed(ctx, f)
	if err == nil {
		r.metrics.NotSent(ctx, f)
	}
	return err
}

// AcceptStatus counts the carrier's word, found by a reconciliation, that a
// participant opted out.
func (r countedRows) AcceptStatus(ctx context.Context, report models.StatusCallback) (bool, error) {
	found, err := r.Store.AcceptStatus(ctx, report)
	if found && report.Class.Spec().OptsOut {
		r.metrics.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
	return found, err
}

// The counted activities are registered in the place of those that they embed,
// under the same names.

type countedTurnLoader struct {
	*activities.TurnLoader
	metrics *metrics.Metrics
}

// PrepareTurn as an activity of its own keeps texts that get no answer; turns
// that say something begin with another one.
func (t *countedTurnLoader) PrepareTurn(ctx context.Context, in models.PrepareTurnInput) (models.PrepareTurnResult, error) {
	out, err := t.TurnLoader.PrepareTurn(ctx, in)
	if err == nil {
		t.metrics.Kept(in.Plan.Kind)
	}
	return out, err
}

type countedTurnEnd struct {
	*activities.TurnEnd
	metrics *metrics.Metrics
}

// SendTurn counts the turn.
func (c *countedTurnEnd) SendTurn(ctx context.Context, in models.SendTurnInput) (models.SendTurnResult, error) {
	ctx = metrics.Begin(ctx)
	out, err := c.TurnEnd.SendTurn(ctx, in)
	if err == nil {
		c.metrics.TurnEnded(ctx, in.End, out)
	}
	return out, err
}

type countedSends struct{ *activities.SendActivities }

// SendSMS gives the attempt an exchange to be counted by.
func (p *countedSends) SendSMS(ctx context.Context, in models.SendSMSInput) (models.SendSMSResult, error) {
	return p.SendActivities.SendSMS(metrics.Begin(ctx), in)
}

type countedReconcile struct {
	*activities.ReconcileActivities
	metrics *metrics.Metrics
}

// Reconcile counts what was asked about and settled.
func (c *countedReconcile) Reconcile(ctx context.Context) (models.ReconcileResult, error) {
	sum, err := c.ReconcileActivities.Reconcile(ctx)
	c.metrics.Reconciled(sum, err)
	return sum, err
}
