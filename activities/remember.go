package activities

import (
	"context"
	"fmt"

	"coachline/models"
)

// rememberEntries are how many entries of the conversation are read for what
// follows a reply: enough for a summary that was left out a few times.
const rememberEntries = 120

// Keeper says whether a turn leaves something to remember, and remembers it.
type Keeper interface {
	Worth(c models.TurnContext) bool
	Remember(ctx context.Context, c models.TurnContext) error
}

// Background starts an activity that no workflow waits for. Starting it again
// for the same turn changes nothing.
type Background interface {
	Remember(ctx context.Context, in models.RememberInput) error
}

// TurnReader loads a turn.
type TurnReader interface {
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
}

// Remembering is what follows a reply once it is out.
type Remembering struct {
	Store  TurnReader
	Keeper Keeper
}

// textsOf counts the participant's texts in a turn.
func textsOf(turn models.TurnContext) int {
	count := 0
	for _, entry := range turn.Window {
		if entry.TurnID == turn.Turn.ID && entry.Role == models.RoleUser {
			count++
		}
	}
	return count
}

// Remember stores what the person told in a turn, and shortens what was said
// before. It runs outside the participant's workflow, since nothing there waits
// for it. Safe to retry: what was asked of a model is not asked again, and a
// turn stores one fact.
func (r *Remembering) Remember(ctx context.Context, in models.RememberInput) error {
	stop := beat(ctx)
	defer stop()
	turn, err := r.Store.TurnContext(ctx, in.TurnID, rememberEntries)
	if own := textsOf(turn); err == nil && own > rememberEntries/2 {
		// What was said before a turn of many texts is not in a summary yet either.
		turn, err = r.Store.TurnContext(ctx, in.TurnID, rememberEntries+own)
	}
	if err != nil {
		return classed(fmt.Errorf("loading turn: %w", err))
	}
	return classed(r.Keeper.Remember(ctx, turn))
}
