package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// requireUnenrolled checks that the participant got one notice as the last text
// and that the row is withdrawn and removed.
func requireUnenrolled(t *testing.T, w *world) {
	t.Helper()
	require.NoError(t, w.env.GetWorkflowError(), "the workflow completes")
	kinds := w.carrier.kinds()
	require.NotEmpty(t, kinds)
	require.Equal(t, models.KindNotice, kinds[len(kinds)-1])
	require.Len(t, w.carrier.of(models.KindNotice), 1)
	require.True(t, w.status().Ended)
	require.Empty(t, w.status().Due)
	require.Equal(t, wire.StatusWithdrawn, w.status().Status)
	_, err := w.store.People.Participant(context.Background(), "conv_1")
	require.ErrorIs(t, err, models.ErrNotFound)
}

// TestCancellationRequestUnenrolls: "Request Cancellation" of the Temporal UI is
// an unenrolment, at every step of the workflow.
func TestCancellationRequestUnenrolls(t *testing.T) {
	t.Parallel()
	t.Run("with a due time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
		w.at(10*time.Minute, w.env.CancelWorkflow)
		w.run(48 * time.Hour)
		requireUnenrolled(t, w)
		require.Len(t, w.carrier.kinds(), 1, "no prompt")
	})
	t.Run("without a due time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.at(10*time.Minute, w.env.CancelWorkflow)
		w.run(time.Hour)
		requireUnenrolled(t, w)
	})
	t.Run("during a model call", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
		w.text(0, "hello")
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			w.env.CancelWorkflow()
			return say("too late"), nil
		}
		w.run(time.Hour)
		requireUnenrolled(t, w)
		require.Empty(t, w.carrier.of(models.KindReply))
	})
	t.Run("after the participant was removed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.at(time.Minute, func() {
			require.NoError(t, w.store.People.RemoveParticipant(context.Background(), "conv_1", "test", w.env.Now()))
			w.env.CancelWorkflow()
		})
		w.run(time.Hour)
		requireUnenrolled(t, w)
	})
	t.Run("twice, and beside an unenrolment", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		bye := w.update(time.Minute, wire.UpdateUnenroll)
		w.at(time.Minute, func() {
			require.NoError(t, w.store.People.RemoveParticipant(context.Background(), "conv_1", "test", w.env.Now()))
			w.env.CancelWorkflow()
			w.env.CancelWorkflow()
		})
		w.run(time.Hour)
		require.True(t, bye.done)
		requireUnenrolled(t, w)
	})
	t.Run("with a command behind it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.at(time.Minute, w.env.CancelWorkflow)
		pause := w.update(time.Minute, wire.UpdatePause)
		w.run(time.Hour)
		require.ErrorContains(t, pause.rejected, "left the programme")
		requireUnenrolled(t, w)
	})
}
