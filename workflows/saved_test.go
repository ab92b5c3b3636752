package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// saves counts how often the state went to the tables by itself.
func (w *world) saves() *int {
	n := new(int)
	w.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
		if info.ActivityType.Name == "SaveState" {
			*n++
		}
	})
	return n
}

// nextAt is when the tables say that the only schedule is due.
func (w *world) nextAt(turnID string) time.Time {
	w.t.Helper()
	turn, err := w.store.Turns.TurnContext(context.Background(), turnID, 0)
	require.NoError(w.t, err)
	require.Len(w.t, turn.Schedules, 1)
	return *turn.Schedules[0].NextAt
}

func quiet(r *coach.Rules) { r.Debounce, r.AutoFeedbackDelay, r.ReminderDelay = 0, 0, 0 }

// What a turn changed is stored with its end, in one transaction.
func TestStateIsSavedWithTheTurn(t *testing.T) {
	t.Parallel()
	tomorrow := eleven.Add(24*time.Hour - 10*time.Minute)
	t.Run("a prompt", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withRules(quiet), withSchedule("11:00", "2026-03-02", eleven))
		saves := w.saves()
		w.run(2 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindPrompt}, w.carrier.kinds())
		require.Equal(t, tomorrow, w.nextAt("conv_1-t1"))
		require.Zero(t, *saves)
	})
	t.Run("a tool's decision", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withRules(quiet))
		w.model.answer = scripted(map[string][]models.ToolCall{
			"six": {call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "18:00"})},
		})
		saves := w.saves()
		w.text(0, "at six please")
		w.run(time.Hour)
		require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds())
		require.Equal(t, time.Date(2026, 3, 2, 22, 50, 0, 0, time.UTC), w.nextAt("conv_1-t1"))
		require.Zero(t, *saves)
	})
	// The attempt that stored the turn never came to report it.
	t.Run("a second attempt", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withRules(quiet), withSchedule("11:00", "2026-03-02", eleven))
		busy := true
		w.carrier.refuse = func(models.SMS) error {
			if busy {
				busy = false
				return &models.CarrierError{Class: models.CarrierSlowDown, Code: "30001"}
			}
			return nil
		}
		saves := w.saves()
		w.run(2 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindPrompt}, w.carrier.kinds())
		require.Equal(t, tomorrow, w.nextAt("conv_1-t1"))
		require.Equal(t, 1, *saves)
	})
	// Nothing is sent, and so there is no end that the state could go with.
	t.Run("a turn that comes to nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withRules(quiet), withSchedule("11:00", "2026-03-02", eleven))
		w.at(time.Minute, func() {
			require.NoError(t, w.store.Turns.SaveState(context.Background(), wire.SaveStateInput{
				ParticipantID: "conv_1", Now: w.env.Now(),
				Missed: []wire.MissedPrompt{{ScheduleID: "sch-1", Slot: wire.Slot{Date: "2026-03-02", TargetAt: eleven}, Reason: coach.MissedOutage}},
			}))
		})
		w.text(time.Hour, "hello")
		saves := w.saves()
		w.run(2 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds(), "the prompt was recorded as missed before")
		require.Equal(t, tomorrow, w.nextAt("conv_1-t2"))
		require.Equal(t, 1, *saves)
	})
}
