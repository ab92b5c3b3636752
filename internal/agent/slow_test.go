package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// A model that was measured to be slow is asked for no plan, unless the operator wants
// one.
func TestSlowModelsMakeNoPlans(t *testing.T) {
	for _, tt := range []struct {
		speed float64
		plans int
	}{{0, 1}, {60, 0}, {2000, 1}} {
		w := newWorld(t).useSmallModel()
		require.NoError(t, w.rows.Store.SaveCapability(t.Context(), models.Capability{Model: smallName, Endpoint: w.settings.Endpoint, TokensPerSecond: tt.speed}))
		w.openAgent()
		w.model.on(planner, textAnswers("Reply to the user.")...)
		w.addText("what did I say about my knee and the stairs?").runStep()
		require.Equal(t, tt.plans, w.model.count(planner), "%v tokens a second", tt.speed)
	}
	w := newWorld(t).useSmallModel()
	require.NoError(t, w.rows.Store.SaveCapability(t.Context(), models.Capability{Model: smallName, Endpoint: w.settings.Endpoint, TokensPerSecond: 60}))
	on := true
	w.settings.Planner = &on
	w.openAgent()
	w.model.on(planner, textAnswers("Reply to the user.")...)
	w.addText("what did I say about my knee and the stairs?").runStep()
	require.Equal(t, 1, w.model.count(planner))
}
