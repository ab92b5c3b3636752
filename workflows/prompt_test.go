package workflows_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// noteActivities notes the activities that run, local ones with a leading "local ".
func (w *world) noteActivities() func() []string {
	var mu sync.Mutex
	var names []string
	note := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, name)
	}
	w.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) { note("local " + info.ActivityType.Name) })
	w.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) { note(info.ActivityType.Name) })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return names
	}
}

var onlyPrompts = withRules(func(r *coach.Rules) { r.AutoFeedbackDelay, r.ReminderDelay = 0, 0 })

// TestPromptIsDecidedWithItsStep: a prompt costs a model call and a send, and no
// activity that decides it.
func TestPromptIsDecidedWithItsStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), onlyPrompts)
	ran := w.noteActivities()
	w.run(26 * time.Hour)
	require.Equal(t, []string{"CallModel", "SendTurn", "CallModel", "SendTurn"}, ran())
	require.Len(t, w.carrier.of(models.KindPrompt), 2)
	require.Equal(t, 2, w.status().Turns)
}

// TestPromptWhoseStepFailsIsDecidedAgain: the fixed text goes out at the slot, and
// tomorrow's slot is set.
func TestPromptWhoseStepFailsIsDecidedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), onlyPrompts)
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelRefused}
	}
	ran := w.noteActivities()
	w.run(12 * time.Hour)
	require.Equal(t, []string{"CallModel", "local Decide", "SendTurn"}, ran())
	require.Len(t, w.carrier.of(models.KindPrompt), 1)
	require.Len(t, w.status().Due, 1, "tomorrow's slot")
}

// TestPromptThatIsNotWaitedFor: the turn does not wait for its step, and
// the slots that follow are known all the same.
func TestPromptThatIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"opted out": func(w *world) {
			w.env.UpdateWorkflow(wire.UpdateParticipant, "u", &updated{}, wire.ParticipantChanged{Status: wire.StatusOptedOut, Confirm: true})
		},
		"taken over": func(w *world) {
			w.env.UpdateWorkflow(wire.UpdateTakeOver, "u", &updated{}, wire.TakeOverRequest{Until: w.env.Now().Add(30 * time.Hour)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), onlyPrompts)
			w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
				change(w)
				return say("too late"), nil
			}
			w.run(6 * time.Hour)
			require.Empty(t, w.carrier.of(models.KindPrompt))
			state := w.status()
			require.Zero(t, state.Waiting)
			if name == "taken over" {
				require.Len(t, state.Due, 2, "the end of the take-over, and tomorrow's slot: %v", state.Due)
			}
		})
	}
}

// TestDuePromptThatRulesPutOff: a step whose rules want no prompt asks no model and
// stores no turn; the number of the turn stays unused.
func TestDuePromptThatRulesPutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), onlyPrompts, func(w *world, rules *coach.Rules) {
		var err error
		rules.Quiet, err = coach.ParseQuietHours("10:30-12:00")
		require.NoError(t, err)
		schedule := &w.state.Schedules[0]
		schedule.Type, schedule.At, schedule.From, schedule.To = wire.ScheduleRandom, "", "09:00", "20:00"
	})
	ran := w.noteActivities()
	w.run(6 * time.Hour)
	prompts := w.carrier.of(models.KindPrompt)
	require.Len(t, prompts, 1)
	require.WithinDuration(t, monday.Add(2*time.Hour), prompts[0].At, time.Second, "when quiet hours end")
	require.Equal(t, []string{"CallModel", "CallModel", "SendTurn"}, withoutSaves(ran()))
	require.Len(t, w.model.requests, 1)
	require.Equal(t, 2, w.status().Turns)
	_, err := w.store.Turns.TurnContext(context.Background(), "conv_1-t1", 0)
	require.ErrorIs(t, err, models.ErrNotFound)
}

func withoutSaves(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "local SaveState" })
}
