package activities

import (
	"context"
	"fmt"

	"coachline/models"
)

// Closing ends turns.
type Closing struct {
	Turns *Turns
	Posts *Posts
	// Keeper judges what a turn leaves behind, After sees to it.
	Keeper Keeper
	After  Background
}

// SendTurn writes what a turn leaves behind and hands the first of its rows to
// the carrier; the rows behind it are left to SendSMS. It is one activity, so
// that the workflow's history holds the decision how the turn ends before
// anything of it is stored: a worker that dies at any moment can only be
// followed by the same end again. Once the text is out, what is worth keeping
// of the turn is remembered in the background. Safe to retry.
func (c *Closing) SendTurn(ctx context.Context, in models.SendTurnInput) (models.SendTurnResult, error) {
	stop := beat(ctx)
	defer stop()
	out := models.SendTurnResult{First: models.SendSMSResult{Status: models.OutboxCanceled}}
	if in.Begin != nil {
		begun, err := c.Turns.PrepareTurn(ctx, *in.Begin)
		if err != nil {
			return out, err
		}
		out.Begun = &begun
		if begun.Skip {
			return out, nil
		}
	}
	ended, err := c.Turns.persist(ctx, in.End)
	if err != nil {
		return out, classed(err)
	}
	if len(ended.OutboxIDs) > 0 {
		out.More = ended.OutboxIDs[1:]
		if out.First, err = c.first(ctx, ended.EndedTurn); err != nil {
			return out, err
		}
	}
	return out, c.remember(ctx, in.End, ended.turn)
}

// first sends the first row: it was claimed as it was written, or an earlier
// attempt wrote it.
func (c *Closing) first(ctx context.Context, turn models.EndedTurn) (models.SendSMSResult, error) {
	if turn.First.Outbox.ID != "" {
		return c.Posts.deliver(ctx, turn.First)
	}
	return c.Posts.send(ctx, turn.OutboxIDs[0])
}

// remember is begun by a model's words alone: fixed texts stand in for a reply
// that never was.
func (c *Closing) remember(ctx context.Context, end models.PersistTurnInput, turn models.TurnContext) error {
	if end.Source != models.SourceStep && end.Source != models.SourceSilent || !c.Keeper.Worth(turn) {
		return nil
	}
	if err := c.After.Remember(ctx, models.RememberInput{TurnID: end.TurnID}); err != nil {
		return fmt.Errorf("beginning to remember: %w", err)
	}
	return nil
}
