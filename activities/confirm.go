package activities

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/tools"
	"coachline/prompts"
)

// confirmations reads what the participant of a turn has confirmed from the
// conversation, which holds the requests that tools recorded.
type confirmations struct {
	store  Turns
	turnID string
	now    time.Time
	// tools have the texts that are in force for the person.
	tools *ToolActivities
}

// IsConfirmed implements tools.Confirmations.
func (c confirmations) IsConfirmed(ctx context.Context, request string) (bool, error) {
	turn, err := c.store.TurnContext(ctx, c.turnID, WindowEntries)
	if err != nil {
		return false, fmt.Errorf("loading turn: %w", err)
	}
	question, err := c.tools.Prompts.Fixed(prompts.ConfirmForget, turn.Participant.Locale, prompts.FixedData{Programme: c.tools.Programme})
	if err != nil {
		return false, fmt.Errorf("rendering the question: %w", err)
	}
	return tools.HasConfirmed(turn, request, question, c.now), nil
}
