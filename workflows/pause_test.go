package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/coach"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
)

// setPause pauses the participant in the tables for a time; 0 is until resumed.
func (w *world) setPause(span time.Duration) {
	w.t.Helper()
	now, paused := w.env.Now().UTC(), wire.StatusPaused
	patch := models.ParticipantPatch{Status: &paused}
	if span > 0 {
		until := now.Add(span)
		patch.PausedUntil = &until
	}
	_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{ID: "conv_1", Patch: patch, Actor: "user:ada", Now: now})
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
	require.Equal(t, []wire.Due{{Kind: wire.DuePauseEnd, At: monday.Add(70 * time.Minute)}}, during.Due)
	require.Equal(t, wire.StatusPaused, moved.Status)
	require.Equal(t, []wire.Due{{Kind: wire.DuePauseEnd, At: monday.Add(90 * time.Minute)}}, moved.Due)
	require.Equal(t, wire.StatusActive, after.Status)
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
	require.Equal(t, wire.StatusActive, resumed.Status)
	require.Empty(t, resumed.Due)
	require.Equal(t, wire.StatusPaused, after.Status)
	require.Empty(t, after.Due)
	require.Empty(t, w.carrier.of(models.KindReply))
}

// In a study with decision points the slots of a pause and of the days after a STOP
// go on: nothing is sent, and each is recorded with its reason.
func TestSlotsGoOnWithoutPrompts(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), func(w *world, _ *coach.Rules) { w.state.Study = "walk" })
	settings := `{"decision_points":{"policy":"even","options":[{"name":"warm","probability":0.5,"send":true},{"name":"plain","probability":0.5,"send":true}]}}`
	_, err := w.store.Studies.AddStudy(t.Context(), models.Study{ID: "walk", Name: "Walk", Settings: settings, CreatedBy: "eve", CreatedAt: monday})
	require.NoError(t, err)
	running := models.StudyRecruiting
	_, err = w.store.Studies.ChangeStudy(t.Context(), models.StudyUpdate{ID: "walk", Patch: models.StudyPatch{State: &running}, Actor: "eve", Now: monday})
	require.NoError(t, err)
	require.NoError(t, w.store.Database().Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("UPDATE participants SET study_id = 'walk'").Error }))
	w.rules.Studies = study.New(study.Config{Studies: w.store.Studies})
	w.pause(10*time.Minute, 0)
	w.resume(2 * day)
	w.says(3*day, "STOP", "")
	after := w.statusAt(4 * day)
	w.run(5*day + 12*time.Hour)
	reasons := map[string]string{}
	points, err := w.store.Studies.Decisions(t.Context(), models.DecisionQuery{StudyID: "walk", Now: monday})
	require.NoError(t, err)
	for i, point := range points {
		require.Equal(t, int64(i+1), point.Number)
		require.Equal(t, eleven.Add(time.Duration(i)*day-10*time.Minute), point.DecidedAt.UTC())
		reasons[point.LocalDate] = point.Reason
	}
	require.Equal(t, map[string]string{
		"2026-03-02": "paused", "2026-03-03": "paused", "2026-03-04": "", "2026-03-05": "opted_out", "2026-03-06": "opted_out", "2026-03-07": "opted_out",
	}, reasons)
	require.Len(t, w.carrier.of(models.KindPrompt), 1)
	require.Equal(t, wire.StatusOptedOut, after.Status)
	require.Equal(t, []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "sch-1", At: eleven.Add(4*day - 10*time.Minute)}}, after.Due)
}
