package activities

import (
	"context"

	"coachline/models"
)

// Closing ends turns.
type Closing struct {
	Turns *Turns
	Posts *Posts
}

// SendTurn writes what a turn leaves behind and hands the first of its rows to
// the carrier; the rows behind it are left to SendSMS. It is one activity, so
// that the workflow's history holds the decision how the turn ends before
// anything of it is stored: a worker that dies at any moment can only be
// followed by the same end again. Safe to retry.
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
	ids, err := c.Turns.persist(ctx, in.End)
	if err != nil || len(ids) == 0 {
		return out, classed(err)
	}
	out.More = ids[1:]
	out.First, err = c.Posts.send(ctx, ids[0])
	return out, err
}
