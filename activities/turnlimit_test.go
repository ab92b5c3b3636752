package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/prices"
	"coachline/models"
)

// TestTurnHasALimit: a turn asks no model any more once its calls have cost what a turn
// may; what has no price counts nothing.
func TestTurnHasALimit(t *testing.T) {
	list, err := prices.Parse([]byte(`{"currency": "USD", "models": {"large": {"input": 2, "output": 8}}, "destinations": {}}`))
	require.NoError(t, err)
	step := func(model string) models.Step {
		return models.Step{Model: model, Usage: models.Usage{Prompt: 20_000, Completion: 1250}} // 0.05
	}
	for _, tt := range []struct {
		limit int64
		steps []models.Step
		want  bool
	}{
		{100_000, nil, false},
		{100_000, []models.Step{step("large")}, false},
		{100_000, []models.Step{step("large"), step("large")}, true},
		{100_001, []models.Step{step("large"), step("large")}, false},
		{0, []models.Step{step("large"), step("large")}, false},
		{100_000, []models.Step{step("unknown"), step("unknown")}, false},
	} {
		a := &ModelActivities{Prices: list, TurnMicros: tt.limit}
		require.Equal(t, tt.want, a.isTurnSpent(models.TurnContext{Steps: tt.steps}), tt)
	}
}
