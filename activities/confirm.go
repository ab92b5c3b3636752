package activities

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/tools"
	"coachline/internal/wrap"
	"coachline/models"
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

// IsSamePerson implements tools.Confirmations. Where no carrier proves whose a number is,
// the caller of the channel says who writes.
func (c confirmations) IsSamePerson(ctx context.Context) (bool, error) {
	turn, err := c.store.TurnContext(ctx, c.turnID, WindowEntries)
	if err != nil {
		return false, fmt.Errorf("loading turn: %w", err)
	}
	question, err := askPersonText(c.tools.Prompts, c.tools.Programme, turn.Participant)
	isProved := !models.ChannelSpecOf(turn.Turn.Channel).ViaCarrier
	return isProved || tools.IsSamePerson(turn, question, c.now), err
}

// askPersonText asks whether a number is still a person's, as SendAsk does.
func askPersonText(library *prompts.Library, programme string, p models.Participant) (string, error) {
	text, err := library.Fixed(prompts.AskSamePerson, p.Locale, prompts.FixedData{Programme: programme, Name: calledName(p.FirstName())})
	return text, wrap.Error(err, "rendering the question")
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
