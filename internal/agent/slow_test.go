package agent_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
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

// A model that gives no answer leaves why, and what was tried, on record; one that takes
// too long counts as slow from then on.
func TestFailuresAreOnRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		err        models.ModelError
		kind, want string
	}{
		"time-out": {models.ModelError{Class: models.ModelBusy, Message: "no answer in time", TimedOut: true}, "time_out", "model failed time_out: no answer in time"},
		"refused":  {models.ModelError{Class: models.ModelRefused, Status: 404, Message: "status 404 Not Found"}, "refused", "model failed refused: status 404 Not Found"},
		"overflow": {models.ModelError{Class: models.ModelOverflow, Message: "status 400 Bad Request"}, "overflow", "model failed overflow: status 400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).useSmallModel()
			w.model.on(chat, said{err: &tt.err})
			w.model.began = func(string) { w.now = w.now.Add(time.Minute) }
			_, err := w.addText("hello there, how are you").callStep(wire.CallModelInput{})
			require.Error(t, err)
			stages, err := w.rows.Stages(t.Context(), w.turnID())
			require.NoError(t, err)
			kind, detail := models.FallbackReason(nil, stages)
			require.Equal(t, tt.kind, kind)
			require.Equal(t, tt.want, detail)
			if name == "overflow" {
				require.True(t, slices.ContainsFunc(stages, func(s models.Stage) bool { return s.Decision == "model again after overflow" }), "what was tried")
			}
			known, err := w.rows.Store.Capability(t.Context(), smallName, w.settings.Endpoint)
			if tt.err.TimedOut {
				require.NoError(t, err)
				require.Greater(t, known.TokensPerSecond, 0.0)
				require.Less(t, known.TokensPerSecond, 200.0)
			}
		})
	}
}
