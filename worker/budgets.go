package worker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"coachline/models"
)

// budgetInterval is how often a worker reads for whom the model is stopped.
const budgetInterval = 5 * time.Second

// budgetReader tells of spent budgets; the store does.
type budgetReader interface {
	SpentBudgets(ctx context.Context, now time.Time) (models.SpentBudgets, error)
}

// budgets remembers for whom the model is stopped, so that no reply waits for the
// database because of it.
type budgets struct {
	rows   budgetReader
	now    func() time.Time
	logger *slog.Logger
	spent  atomic.Pointer[models.SpentBudgets]
}

// Stops reports whether the model is stopped for a participant of a study.
func (b *budgets) Stops(participantID, studyID string) bool {
	spent := b.spent.Load()
	return spent != nil && spent.Stops(participantID, studyID)
}

// follow reads the budgets at once and then about every interval until ctx ends.
// What was read last counts while the database does not answer.
func (b *budgets) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if spent, err := b.rows.SpentBudgets(ctx, b.now()); err == nil {
			b.spent.Store(&spent)
		} else if ctx.Err() == nil {
			b.logger.Warn("reading spent budgets failed, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(budgetInterval):
		}
	}
}
