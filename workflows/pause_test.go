package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// setPause pauses the participant in the tables for a time; 0 is until resumed.
func (w *world) setPause(span time.Duration) {
	w.t.Helper()
	now, paused := w.env.Now().UTC(), models.StatusPaused
	patch := models.ParticipantPatch{Status: &paused}
	if span > 0 {
		until := now.Add(span)
		patch.PausedUntil = &until
	}
	_, err := w.store.UpdateParticipant(context.Background(), models.ParticipantUpdate{ID: "conv_1", Patch: patch, Actor: "user:ada", Now: now})
	require.NoError(w.t, err)
}

// pause pauses the participant at an offset for a time, as the starter does.
func (w *world) pause(offset, span time.Duration) {
	w.at(offset, func() { w.setPause(span); w.relayNotice() })
}

// A pause until an instant is a due time of its own and ends by itself; the texts
// that came are answered then, and an operator who puts the end off moves it.
func TestPauseEndsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pause(10*time.Minute, time.Hour)
	w.text(20*time.Minute, "are you there?")
	during := w.statusAt(25 * time.Minute)
	w.at(30*time.Minute, func() { w.setPause(time.Hour) }) // The workflow does not hear of it in time.
	moved := w.statusAt(80 * time.Minute)
	w.at(91*time.Minute, func() { w.relayNotice() })
	after := w.statusAt(2 * time.Hour)
	w.run(3 * time.Hour)
	require.Equal(t, []models.Due{{Kind: models.DuePauseEnd, At: monday.Add(70 * time.Minute)}}, during.Due)
	require.Equal(t, models.StatusPaused, moved.Status)
	require.Equal(t, []models.Due{{Kind: models.DuePauseEnd, At: monday.Add(90 * time.Minute)}}, moved.Due)
	require.Equal(t, models.StatusActive, after.Status)
	require.Empty(t, after.Due)
	replies := w.carrier.of(models.KindReply)
	require.Len(t, replies, 1)
	require.WithinDuration(t, monday.Add(91*time.Minute), replies[0].At, 2*time.Second)
}

// Resuming by hand takes the end away, and so does a new pause without one.
func TestPauseEndIsTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pause(10*time.Minute, time.Hour)
	w.resume(20 * time.Minute)
	resumed := w.statusAt(30 * time.Minute)
	w.pause(40*time.Minute, 0)
	w.text(50*time.Minute, "are you there?")
	after := w.statusAt(3 * time.Hour)
	w.run(4 * time.Hour)
	require.Equal(t, models.StatusActive, resumed.Status)
	require.Empty(t, resumed.Due)
	require.Equal(t, models.StatusPaused, after.Status)
	require.Empty(t, after.Due)
	require.Empty(t, w.carrier.of(models.KindReply))
}
