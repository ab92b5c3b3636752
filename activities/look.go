package activities

import (
	"context"
	"slices"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// lookAgain makes the second looks that messages of a turn wait for, and reports whether
// the safety text answers all of its messages: the turn has ended then. Where others came
// with them, the coach answers. Safe to retry: a verdict that was kept stays.
func (t *ModelActivities) lookAgain(ctx context.Context, in wire.CallModelInput, turn models.TurnContext) (answered bool, err error) {
	if turn.Turn.Outcome == models.OutcomeSafety {
		return true, nil
	}
	if t.Looks == nil || !hasWeakSign(turn) {
		return false, nil
	}
	due, err := t.Looks.DueLooks(ctx, in.ParticipantID)
	if err != nil {
		return false, err
	}
	waiting := map[string]bool{}
	for _, entry := range turn.Window {
		if entry.Role == models.RoleUser && entry.TurnID == in.TurnID {
			waiting[entry.Key] = true
		}
	}
	last := models.LookResult{TurnID: in.TurnID, Now: t.instant()}
	for _, look := range due {
		key := models.InboundKey(look.InboundID)
		if !waiting[key] {
			continue // a later turn has its message
		}
		verdict := t.Replies.LookAgain(ctx, turn, look.InboundID)
		isAnswered, err := t.Looks.SettleLook(ctx, models.LookResult{AlertID: look.AlertID, Verdict: verdict, Now: last.Now})
		if err != nil {
			return false, err
		}
		if isAnswered {
			last.AlertID = look.AlertID
			delete(waiting, key)
		}
	}
	if last.AlertID == "" || len(waiting) > 0 {
		return false, nil
	}
	return t.Looks.SettleLook(ctx, last)
}

// hasWeakSign reports whether a message that the turn answers was marked as a sign of
// danger.
func hasWeakSign(turn models.TurnContext) bool {
	for _, entry := range slices.Backward(turn.Window) {
		switch {
		case entry.Role != models.RoleUser && entry.TurnID != turn.Turn.ID:
			return false
		case entry.Role == models.RoleUser && entry.Danger != models.DangerNone:
			return true
		}
	}
	return false
}

func (t *ModelActivities) instant() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}
