package starter

import (
	"context"

	"coachline/models"
)

// Turns reads the records of turns and the consent ledger; package archive
// provides it.
type Turns interface {
	Turns(ctx context.Context, q models.TurnQuery) ([]models.TurnTotals, error)
	Turn(ctx context.Context, participantID string, number int) (models.TurnRecord, error)
	Consents(ctx context.Context, participantID string) ([]models.Consent, error)
}

// Memory reads and erases what is remembered of a person; package memory
// provides it.
type Memory interface {
	Recall(ctx context.Context, participantID string) (models.Memory, error)
	Notes(ctx context.Context, participantID string, n int) ([]models.Note, error)
	History(ctx context.Context, participantID, factID string) ([]models.FactVersion, error)
	Forget(ctx context.Context, f models.Forgetting) error
	ForgetAll(ctx context.Context, f models.Forgetting) (int, error)
}
