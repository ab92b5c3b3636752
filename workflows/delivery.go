package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"coachline/models"
	"coachline/models/aside"
)

// send ends the turn: its entries and outbox rows are stored, and the rows are
// handed to the carrier one after the other, each when the fate of the one
// before it is known. It returns how the first one fared: it is the one that
// carries the turn's text, or its first part. When a part was not taken, the
// gate refuses the parts behind it. What the tables do not show of the state
// goes along; where that was not saved, because the turn came to nothing or had
// been stored before, it is left to show.
func (t *turn) send(ctx workflow.Context, w words) models.SendSMSResult {
	in := models.SendTurnInput{Begin: t.begin(ctx), End: models.PersistTurnInput{
		ParticipantID: t.life.state.ParticipantID,
		TurnID:        t.id, Mode: t.mode, Plan: t.plan,
		Source: w.source, Step: w.step, Now: workflow.Now(ctx), State: t.life.unsaved(ctx),
	}}
	handed := t.life.dirty
	t.life.dirty = dirty{}
	out := models.SendTurnResult{First: models.SendSMSResult{Status: models.OutboxCanceled}}
	sendCtx := t.sendOptions(ctx, fmt.Sprintf("%s of turn %d", t.plan.Kind, t.number))
	err := t.delivered(ctx, workflow.ExecuteActivity(sendCtx, closing.SendTurn, in), &out)
	if !out.Saved {
		t.life.dirty = handed.and(t.life.dirty)
	}
	if err != nil {
		workflow.GetLogger(ctx).Error("ending turn failed", "turn", t.id, "error", err)
		return models.SendSMSResult{Status: models.OutboxFailed}
	}
	t.opened(out.Begun)
	for _, id := range out.More {
		t.sendRow(ctx, id)
	}
	return out.First
}

// sendRow hands one stored row to the carrier and returns how it fared.
func (t *turn) sendRow(ctx workflow.Context, id string) models.SendSMSResult {
	var out models.SendSMSResult
	sendCtx := t.sendOptions(ctx, "send "+id)
	err := t.delivered(ctx, workflow.ExecuteActivity(sendCtx, posts.SendSMS, models.SendSMSInput{OutboxID: id}), &out)
	if err != nil {
		workflow.GetLogger(ctx).Warn("text not sent", "outbox", id, "error", err)
	}
	return out
}

// say hands over what a tool has written for the person, before the next round,
// so that it arrives before the final words (C12). A person who left or opted
// out meanwhile gets nothing more.
func (t *turn) say(ctx workflow.Context, in aside.Result) {
	t.told = t.told || in.Shown
	for _, id := range in.Send {
		if t.silenced() {
			return
		}
		sent := t.sendRow(ctx, id)
		t.told = t.told || !sent.AcceptedAt.IsZero() || sent.Status == models.OutboxUnknown
	}
}

// delivered waits for a send, which may wait minutes for the carrier. A
// coaching text does not hold up the confirmation of an opt-out or the notice
// of a removal: the send goes on by itself, and its next attempt is refused by
// the gate.
func (t *turn) delivered(ctx workflow.Context, future workflow.Future, out any) error {
	switch t.plan.Kind {
	case models.KindNotice, models.KindConsent, models.KindHelp, models.KindSafety, models.KindOperator:
		return future.Get(ctx, out)
	case models.KindMessage, models.KindReply, models.KindGreeting, models.KindPrompt, models.KindReminder,
		models.KindFeedbackQuestion, models.KindFeedbackFollowup, models.KindCheckIn, models.KindResult, models.KindSubagent,
		models.KindDebug, models.KindToolCall, models.KindToolResult:
	}
	err := t.await(ctx, future, out)
	if !future.IsReady() {
		t.life.adrift = append(t.life.adrift, future)
	}
	return err
}

// ashore: no send is under way that nobody waits for.
func (l *life) ashore() bool {
	l.adrift = slices.DeleteFunc(l.adrift, workflow.Future.IsReady)
	return len(l.adrift) == 0
}

// settle tells the rules how a prompt fared, and that a check-in went out;
// other turns have nothing to settle.
func (t *turn) settle(ctx workflow.Context, sent models.SendSMSResult) {
	var kind models.EventKind
	switch accepted := !sent.AcceptedAt.IsZero(); {
	case t.plan.Kind == models.KindPrompt && accepted:
		kind = models.EventPromptSent
	case t.plan.Kind == models.KindPrompt:
		kind = models.EventPromptFailed
	case t.plan.Kind == models.KindCheckIn && accepted:
		kind = models.EventCheckInSent
	default:
		return
	}
	t.life.receive()
	t.life.on(ctx, models.Event{Kind: kind, Plan: t.plan, At: sent.AcceptedAt})
}
