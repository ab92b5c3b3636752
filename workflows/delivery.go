package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

// sendTurn ends the turn: its entries and outbox rows are stored, and the rows
// are sent one after the other, each when the result of the one before it is
// known. It returns the result of the first one, which carries the turn's text
// or its first part. When a part was not taken, the send check refuses the
// parts behind it. What the tables do not show of the state goes along; where
// that was not saved, because the turn came to nothing or had been stored
// before, it stays unsaved.
func (t *turn) sendTurn(ctx workflow.Context, w turnText) wire.SendSMSResult {
	in := wire.SendTurnInput{Begin: t.beginInput(ctx), End: wire.PersistTurnInput{
		ParticipantID: t.participant.state.ParticipantID,
		TurnID:        t.id, Mode: t.mode, Plan: t.plan,
		Source: w.source, Step: w.step, Now: workflow.Now(ctx), State: t.participant.unsavedState(ctx),
	}, LeaveUnsettled: true, Sent: t.onceSent(ctx)}
	handed := t.participant.unsaved
	t.participant.unsaved = unsaved{}
	out := wire.SendTurnResult{First: wire.SendSMSResult{Status: wire.OutboxCanceled}}
	sendCtx := t.sendOptions(ctx, fmt.Sprintf("%s of turn %d", t.plan.Kind, t.number))
	ending := workflow.ExecuteActivity(sendCtx, closing.SendTurn, in)
	err := t.awaitSend(ctx, ending, &out)
	if !ending.IsReady() {
		t.settleLater(ctx, func(ctx workflow.Context) []string { return unsettledOfTurn(ctx, ending) })
	}
	if !out.Saved {
		t.participant.unsaved = handed.mergeLater(t.participant.unsaved)
	}
	if err != nil {
		workflow.GetLogger(ctx).Error("ending turn failed", "turn", t.id, "error", err)
		return wire.SendSMSResult{Status: wire.OutboxFailed}
	}
	t.applyPrepared(out.Begun)
	if out.Decided != nil {
		t.decided = &decidedSend{asked: revisionOf(in.Sent.State), decision: *out.Decided}
	}
	if out.Unsettled != "" {
		t.settleFirst(ctx, append([]string{out.Unsettled}, out.More...))
		return out.First
	}
	t.sendRows(ctx, out.More)
	return out.First
}

// sendRows sends stored rows one after the other. Where one is left with its
// result unknown, it and those behind it are settled beside the turn.
func (t *turn) sendRows(ctx workflow.Context, ids []string) {
	for i, id := range ids {
		if sent := t.sendRow(ctx, id); sent.Status == wire.OutboxSending {
			t.settleLater(ctx, func(workflow.Context) []string { return ids[i:] })
			return
		}
	}
}

// sendRow sends one stored row and returns its result.
func (t *turn) sendRow(ctx workflow.Context, id string) wire.SendSMSResult {
	var out wire.SendSMSResult
	sendCtx := t.sendOptions(ctx, "send "+id)
	sending := workflow.ExecuteActivity(sendCtx, posts.SendSMS, wire.SendSMSInput{OutboxID: id, LeaveUnsettled: true})
	err := t.awaitSend(ctx, sending, &out)
	if !sending.IsReady() {
		t.settleLater(ctx, func(ctx workflow.Context) []string { return unsettledRow(ctx, sending, id) })
	}
	if err != nil {
		workflow.GetLogger(ctx).Warn("text not sent", "outbox", id, "error", err)
	}
	return out
}

// sendToolTexts sends what a tool has written for the person, before the next
// step, so that it arrives before the final text. A person who left or opted
// out meanwhile gets nothing more.
func (t *turn) sendToolTexts(ctx workflow.Context, in wire.ToolEffect) {
	t.sentDuringTurn = t.sentDuringTurn || in.Shown
	for i, id := range in.Send {
		if t.mustStop() {
			return
		}
		sent := t.sendRow(ctx, id)
		left := sent.Status == wire.OutboxSending
		t.sentDuringTurn = t.sentDuringTurn || left || !sent.AcceptedAt.IsZero() || sent.Status == wire.OutboxUnknown
		if left {
			t.settleLater(ctx, func(workflow.Context) []string { return in.Send[i:] })
			return
		}
	}
}

// awaitSend waits for a send, which may wait minutes for the carrier. A
// coaching text does not hold up the confirmation of an opt-out or the notice
// of a removal: the send goes on by itself, and its next attempt is refused by
// the send check.
func (t *turn) awaitSend(ctx workflow.Context, future workflow.Future, out any) error {
	if !models.TurnSpecOf(t.plan.Kind).Coaching {
		return future.Get(ctx, out)
	}
	return t.awaitActivity(ctx, future, out)
}

// settledSend is a turn whose first row was settled after the turn had ended.
type settledSend struct {
	turn   *turn
	result wire.SendSMSResult
}

// settleFirst settles rows of a turn beside the turns that follow it, and has the
// loop take up how the first of them fared. That turns go on is decided by the
// result of an activity, which older histories do not hold: they need no change
// id.
func (t *turn) settleFirst(ctx workflow.Context, ids []string) {
	t.settleBeside(ctx, func(ctx workflow.Context) {
		t.participant.settled = append(t.participant.settled, settledSend{t, t.settleRow(ctx, ids[0])})
		for _, id := range ids[1:] {
			t.settleRow(ctx, id)
		}
	})
}

// settleLater settles the rows that left names, once it returns, beside the
// turns that follow.
func (t *turn) settleLater(ctx workflow.Context, left func(workflow.Context) []string) {
	t.settleBeside(ctx, func(ctx workflow.Context) {
		for _, id := range left(ctx) {
			t.settleRow(ctx, id)
		}
	})
}

// settleBeside runs work that no turn waits for; the run does not end before it.
func (t *turn) settleBeside(ctx workflow.Context, work func(workflow.Context)) {
	done, settable := workflow.NewFuture(ctx)
	t.participant.pendingSends = append(t.participant.pendingSends, done)
	workflow.Go(ctx, func(ctx workflow.Context) {
		work(ctx)
		settable.SetValue(nil)
	})
}

// settleRow waits for a row until its result is known.
func (t *turn) settleRow(ctx workflow.Context, id string) wire.SendSMSResult {
	var out wire.SendSMSResult
	sendCtx := t.sendOptions(ctx, "settle "+id)
	if err := workflow.ExecuteActivity(sendCtx, posts.SendSMS, wire.SendSMSInput{OutboxID: id}).Get(ctx, &out); err != nil {
		workflow.GetLogger(ctx).Warn("text not sent", "outbox", id, "error", err)
	}
	return out
}

// unsettledOfTurn waits for an activity that ends a turn, and names the rows that
// it left unsettled.
func unsettledOfTurn(ctx workflow.Context, ending workflow.Future) []string {
	var out wire.SendTurnResult
	if err := ending.Get(ctx, &out); err != nil || out.Unsettled == "" {
		return nil
	}
	return []string{out.Unsettled}
}

// unsettledRow waits for the send of a row, and names the row where it was left
// unsettled.
func unsettledRow(ctx workflow.Context, sending workflow.Future, id string) []string {
	var out wire.SendSMSResult
	if err := sending.Get(ctx, &out); err != nil || out.Status != wire.OutboxSending {
		return nil
	}
	return []string{id}
}

// hasNoPendingSends reports whether every send under way is waited for by a
// turn.
func (p *participant) hasNoPendingSends() bool {
	p.pendingSends = slices.DeleteFunc(p.pendingSends, workflow.Future.IsReady)
	return len(p.pendingSends) == 0
}

// decidedSend is what the rules said of a text that the carrier took, and the
// revision of the state that they were asked with.
type decidedSend struct {
	asked    revision
	decision wire.Decision
}

// revision tells whether the state has changed while a turn waited: by texts and
// commands that came, or by a turn that ran meanwhile. Nothing else changes it.
type revision struct {
	lastSeq         int64
	turns, commands int
}

func revisionOf(state wire.ParticipantState) revision {
	return revision{lastSeq: state.Inbox.LastSeq, turns: state.Turn, commands: len(state.Commands)}
}

// onceSent returns what the rules are asked when the carrier has taken the turn's
// text; nil for turns from which nothing follows. It goes along with the send: a
// local activity of its own would cost an event of every prompt.
func (t *turn) onceSent(ctx workflow.Context) *wire.DecideInput {
	kind := models.TurnSpecOf(t.plan.Kind).Sent
	if kind == "" {
		return nil
	}
	return &wire.DecideInput{State: t.participant.state.Clone(), Event: wire.Event{Kind: kind, Plan: t.plan}, Now: workflow.Now(ctx)}
}

// applySendResult tells the rules how a prompt fared, and that a check-in went
// out; other turns have nothing to settle. A text of unknown result is settled
// later. What the rules have said already holds while they would be asked with
// the same state. Texts that come back from a reply are of an activity's result, which
// older histories do not hold: they need no change id.
func (t *turn) applySendResult(ctx workflow.Context, sent wire.SendSMSResult) {
	if len(sent.Returned) > 0 {
		t.participant.state.Inbox.Return(sent.Returned)
		t.participant.news = true
	}
	kind := models.TurnSpecOf(t.plan.Kind).Sent
	switch accepted := !sent.AcceptedAt.IsZero(); {
	case sent.Status == wire.OutboxSending || kind == "":
		return
	case !accepted && t.plan.Kind == wire.TurnPrompt:
		kind = wire.EventPromptFailed
	case !accepted:
		return
	}
	t.participant.receiveSignals(ctx)
	if t.decided != nil && t.decided.asked == revisionOf(t.participant.state) {
		t.participant.applyEffects(t.decided.decision.Effects)
		t.participant.prompted = true
		return
	}
	t.participant.handleEvent(ctx, wire.Event{Kind: kind, Plan: t.plan, At: sent.AcceptedAt})
}

var checks *activities.ReconcileActivities

// Reconcile asks the carrier about texts whose status was never reported. A
// schedule starts it; it holds no state.
func Reconcile(ctx workflow.Context) (wire.ReconcileResult, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              wire.QueueSMS,
		StartToCloseTimeout:    30 * time.Minute,
		ScheduleToCloseTimeout: 2 * time.Hour,
		HeartbeatTimeout:       time.Minute,
		Priority:               temporal.Priority{PriorityKey: priorityLast},
		Summary:                "texts without a final status",
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Minute, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute},
	})
	var sum wire.ReconcileResult
	err := workflow.ExecuteActivity(ctx, checks.Reconcile).Get(ctx, &sum)
	return sum, err
}
