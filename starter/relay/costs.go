package relay

import (
	"context"
	"time"

	"coachline/internal/prices"
	"coachline/models"
)

// costInterval is the least time between two sweeps of costs.
const costInterval = 5 * time.Second

// Costs keeps the ledger.
type Costs interface {
	// RecordCosts adds to the ledger what was spent since the last time.
	RecordCosts(ctx context.Context, list *prices.List) error
}

// Budgets say what may be spent.
type Budgets interface {
	// CheckBudgets returns the budgets that crossed a level since the last time.
	CheckBudgets(ctx context.Context, now time.Time) ([]models.Budget, error)
}

// sweepCosts brings the ledger and the budgets up to date, and logs and counts
// budgets that crossed a level.
func (r *Relay) sweepCosts(ctx context.Context) error {
	now := r.cfg.Now()
	if r.cfg.Costs == nil || now.Before(r.costsDue) {
		return nil
	}
	r.costsDue = now.Add(costInterval)
	if err := r.cfg.Costs.RecordCosts(ctx, r.cfg.Prices); err != nil {
		return err
	}
	crossed, err := r.cfg.Budgets.CheckBudgets(ctx, now)
	for _, b := range crossed {
		r.cfg.Metrics.BudgetCrossed(b.State)
		does := "replies go on until it is spent"
		if b.State == models.BudgetSpent {
			does = "the model is stopped for it and fixed texts are sent"
		}
		r.cfg.Logger.Warn("a budget crossed its level; raise it with coachline budget set", "now", does, "budget", b.ID, "scope", b.Scope, "participant", b.ParticipantID,
			"period", b.Period, "state", b.State, "spent_micros", b.Spent, "micros", b.Micros, "currency", b.Currency)
	}
	return err
}
