package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"coachline/models"
)

// TestToolCallsAreDecidedInActivities: a tool call that changes the workflow's
// state, one that is refused and one beyond the limit are decided by activities
// that the history holds before they run, the first one by its model call.
func TestToolCallsAreDecidedInActivities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(quiet))
	six := map[string]any{"action": "create", "type": "fixed", "fixed_time": "18:00"}
	w.model.answer = scripted(map[string][]models.ToolCall{"six": {
		call("scheduler", six), call("unheard_of", six), call("scheduler", six), call("scheduler", six), call("scheduler", six),
		call("transition_state", map[string]any{"target_state": "FEEDBACK", "delay_minutes": 30}),
	}})
	var mu sync.Mutex
	var decided, local []string
	w.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
		mu.Lock()
		defer mu.Unlock()
		local = append(local, info.ActivityType.Name)
	})
	w.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		mu.Lock()
		defer mu.Unlock()
		if info.ActivityType.Name == "DecideTool" {
			decided = append(decided, info.ActivityType.Name)
			require.Equal(t, 10*time.Second, info.StartToCloseTimeout)
		}
	})
	w.text(0, "at six please")
	w.run(time.Hour)
	require.NotContains(t, local, "DecideTool")
	require.Len(t, decided, 5)
	turn, err := w.store.Turns.TurnContext(context.Background(), "conv_1-t1", 0)
	require.NoError(t, err)
	require.Len(t, turn.Runs, 6, "every call has its result")
	require.Len(t, w.status().Due, 2, "one schedule and no transition beyond the limit")
}

// TestFirstCallIsDecidedWithItsStep: the only call of a step, also a refused
// one, costs no activity of its own, and the model sees its result.
func TestFirstCallIsDecidedWithItsStep(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]models.ToolCall{
		"decided": call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "18:00"}),
		"refused": call("unheard_of", nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withRules(quiet))
			w.model.answer = scripted(map[string][]models.ToolCall{"six": {asked}})
			var mu sync.Mutex
			var ran []string
			w.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, info.ActivityType.Name)
			})
			w.text(0, "at six please")
			w.run(time.Hour)
			require.Equal(t, []string{"CallModel", "CallModel", "SendTurn"}, ran)
			turn, err := w.store.Turns.TurnContext(context.Background(), "conv_1-t1", 0)
			require.NoError(t, err)
			require.Len(t, turn.Runs, 1, "the call has its result")
			require.Equal(t, name == "refused", turn.Runs[0].Failed)
			require.Equal(t, name == "decided", len(w.status().Due) == 1)
		})
	}
}
