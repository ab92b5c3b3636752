package relay

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/metrics"
	"coachline/internal/prices"
	"coachline/models"
)

type costRows struct {
	recorded, checked int
	crossed           []models.Budget
}

func (c *costRows) RecordCosts(context.Context, *prices.List) error { c.recorded++; return nil }

func (c *costRows) CheckBudgets(context.Context, time.Time) ([]models.Budget, error) {
	c.checked++
	return c.crossed, nil
}

func TestSweepCosts(t *testing.T) {
	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	var log bytes.Buffer
	now := testNow
	kept := &costRows{crossed: []models.Budget{{ID: 4, State: models.BudgetSpent}, {ID: 5, State: models.BudgetWarned}}}
	r := &Relay{cfg: Config{Costs: kept, Budgets: kept, Metrics: m, Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }}}
	for range 3 {
		require.NoError(t, r.sweepCosts(t.Context()))
	}
	require.Equal(t, 1, kept.recorded, "not with each sweep")
	now = now.Add(costInterval)
	kept.crossed = nil
	require.NoError(t, r.sweepCosts(t.Context()))
	require.Equal(t, 2, kept.checked)
	require.Contains(t, log.String(), "the model is stopped for it")
	require.Contains(t, log.String(), "replies go on until it is spent")
}
