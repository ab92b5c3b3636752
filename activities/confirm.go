package activities

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/tools"
)

// confirmations reads what the participant of a turn has confirmed from the
// conversation, which holds the requests that tools recorded.
type confirmations struct {
	store  ToolStore
	turnID string
	now    time.Time
}

// IsConfirmed implements tools.Confirmations.
func (c confirmations) IsConfirmed(ctx context.Context, request string) (bool, error) {
	turn, err := c.store.TurnContext(ctx, c.turnID, WindowEntries)
	if err != nil {
		return false, fmt.Errorf("loading turn: %w", err)
	}
	return tools.HasConfirmed(turn, request, c.now), nil
}
