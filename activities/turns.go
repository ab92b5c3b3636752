package activities

import (
	"context"
	"fmt"

	"coachline/models"
	"coachline/prompts"
)

// WindowEntries is how many entries of the conversation a turn can see.
const WindowEntries = 50

// TurnStore opens and closes turns.
type TurnStore interface {
	BeginTurn(ctx context.Context, in models.PrepareTurnInput) (models.PrepareTurnResult, error)
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
	FinishTurn(ctx context.Context, out models.TurnOutcome) ([]string, error)
	SaveState(ctx context.Context, in models.SaveStateInput) error
}

// OutboxReader reads a row that somebody else queued.
type OutboxReader interface {
	Outbox(ctx context.Context, id string) (models.Outbox, error)
}

// Turns is the short database work around a turn; all of it runs as local
// activities and is safe to retry.
type Turns struct {
	Store     TurnStore
	Queued    OutboxReader
	Prompts   *prompts.Library
	Programme string
	Limits    models.Limits
}

// PrepareTurn opens the turn's row, moves the waiting texts into the
// conversation and says how to go on.
func (t *Turns) PrepareTurn(ctx context.Context, in models.PrepareTurnInput) (models.PrepareTurnResult, error) {
	out, err := t.Store.BeginTurn(ctx, in)
	if err != nil {
		return out, classed(fmt.Errorf("opening turn: %w", err))
	}
	out.Limits = t.Limits
	return out, nil
}

// SaveState mirrors the workflow's state into tables for operators' queries.
func (t *Turns) SaveState(ctx context.Context, in models.SaveStateInput) error {
	if err := t.Store.SaveState(ctx, in); err != nil {
		return classed(fmt.Errorf("saving state: %w", err))
	}
	return nil
}

// PersistTurn writes the conversation entries and the outbox rows of a turn in
// one transaction and returns the rows to send. A finished turn returns the
// rows it has.
func (t *Turns) PersistTurn(ctx context.Context, in models.PersistTurnInput) (models.PersistTurnResult, error) {
	turn, err := t.Store.TurnContext(ctx, in.TurnID, WindowEntries)
	if err != nil {
		return models.PersistTurnResult{}, classed(fmt.Errorf("loading turn: %w", err))
	}
	outcome, err := t.outcome(ctx, in, turn)
	if err != nil {
		return models.PersistTurnResult{}, classed(err)
	}
	ids, err := t.Store.FinishTurn(ctx, outcome)
	if err != nil {
		return models.PersistTurnResult{}, classed(fmt.Errorf("storing turn: %w", err))
	}
	return models.PersistTurnResult{OutboxIDs: ids}, nil
}

// outcome assembles what the turn leaves behind.
func (t *Turns) outcome(ctx context.Context, in models.PersistTurnInput, turn models.TurnContext) (models.TurnOutcome, error) {
	out := models.TurnOutcome{
		TurnID: in.TurnID, ParticipantID: in.ParticipantID, Outcome: string(in.Source),
		PromptVersion: t.Prompts.Version(), ClearPrepared: in.Source == models.SourcePrepared, At: in.Now,
	}
	out.Entries = toolEntries(in, turn)
	text, outboxID, err := t.text(ctx, in, turn)
	if err != nil {
		return out, err
	}
	if text != "" {
		out.Entries = append(out.Entries, models.Message{
			ParticipantID: in.ParticipantID, TurnID: in.TurnID, Key: in.TurnID + "-text",
			Role: models.RoleAssistant, Kind: in.Plan.Kind, Text: text, OutboxID: outboxID, At: in.Now,
		})
		out.Outbox = append(out.Outbox, models.Outbox{
			ID: outboxID, ParticipantID: in.ParticipantID, TurnID: in.TurnID, Part: 1,
			Kind: in.Plan.Kind, PromptID: in.Plan.PromptID, Body: text, CreatedAt: in.Now, UpdatedAt: in.Now,
		})
	}
	if in.Plan.Kind == models.KindPrompt {
		out.HabitPrompt = text
	}
	if debug := t.debugText(in, turn); debug != "" {
		out.Outbox = append(out.Outbox, models.Outbox{
			ID: models.OutboxID(in.TurnID, 2), ParticipantID: in.ParticipantID, TurnID: in.TurnID, Part: 2,
			Kind: models.KindDebug, Body: debug, CreatedAt: in.Now, UpdatedAt: in.Now,
		})
	}
	return out, nil
}
