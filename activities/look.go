package activities

import (
	"context"
	"slices"
	"time"

	"coachline/models"
)

// lookAgain makes the second looks that messages of a turn wait for, and reports whether
// the safety text answers one of them: the turn has ended then. Safe to retry: a verdict
// that was kept stays.
func (t *ModelActivities) lookAgain(ctx context.Context, in models.CallModelInput, turn models.TurnContext) (answered bool, err error) {
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
	for _, look := range due {
		key := models.InboundKey(look.InboundID)
		if !slices.ContainsFunc(turn.Window, func(entry models.Message) bool { return entry.Key == key }) {
			continue // a later turn has its message
		}
		isAnswered, err := t.Looks.SettleLook(ctx, models.LookResult{
			AlarmID: look.AlarmID, TurnID: in.TurnID, Verdict: t.Replies.LookAgain(ctx, turn, look.InboundID), Now: t.instant(),
		})
		if err != nil {
			return false, err
		}
		answered = answered || isAnswered
	}
	return answered, nil
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
