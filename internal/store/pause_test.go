package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// pausedUntil pauses p1 until a minute; a negative one takes the end away.
func (w *world) pausedUntil(now, end int) error {
	w.t.Helper()
	paused, until := wire.StatusPaused, at(end)
	if end < 0 {
		until = time.Time{}
	}
	_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{
		ID: "p1", Patch: models.ParticipantPatch{Status: &paused, PausedUntil: &until}, Actor: "user:ada", Now: at(now)})
	return err
}

// pauseEnds tries to end the pause of p1, and returns when it is to end instead.
func (w *world) pauseEnds(minute int) time.Time {
	w.t.Helper()
	until, err := w.People.ExpirePause(w.ctx, wire.PauseEnd{ParticipantID: "p1", Now: at(minute)})
	require.NoError(w.t, err)
	return until
}

// pauseRefs lists until when the workflow of p1 is told to pause.
func pauseRefs(t *testing.T, w *world) (refs []string) {
	_, rows, err := w.Notices.Untold(w.ctx, "p1")
	require.NoError(t, err)
	for _, row := range rows {
		if row.Kind == models.NoticePause {
			refs = append(refs, row.Ref)
		}
	}
	return refs
}

// A pause until an instant ends by itself, once, with the texts of today answered;
// an operator who moves the end has it come then.
func TestPauseExpires(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.pausedUntil(1, 60))
		w.inbound("SM1", 2, "hello?")
		require.NoError(t, w.pausedUntil(3, 90))
		require.Equal(t, []string{at(60).Format(time.RFC3339), at(90).Format(time.RFC3339)}, pauseRefs(t, w))
		require.Equal(t, at(90), w.pauseEnds(60))
		require.Zero(t, w.pauseEnds(90))
		require.Zero(t, w.pauseEnds(91), "a retry finds it done")
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusActive, p.Status)
		require.Nil(t, p.PausedUntil)
		require.Equal(t, 1, w.count("SELECT count(*) FROM notices WHERE kind = 'resume' AND ref = 'answer'"))
		require.Equal(t, "expiry", w.text("SELECT actor FROM audit WHERE action = 'update' AND detail = 'status,paused_until' ORDER BY id DESC LIMIT 1"))
		require.Empty(t, w.waiting())
	})
}

// What ends a pause otherwise takes its end away, so that a later pause without an
// end stays.
func TestPauseEndGoesWithThePause(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.pausedUntil(1, 60))
		require.NoError(t, w.set(wire.StatusActive, "", 2))
		require.Zero(t, w.pauseEnds(61))
		require.NoError(t, w.set(wire.StatusPaused, "", 3))
		require.Zero(t, w.pauseEnds(61))
		require.Equal(t, "paused", w.text("SELECT status FROM participants WHERE id = 'p1'"))

		require.NoError(t, w.pausedUntil(4, 60))
		require.NoError(t, w.pausedUntil(5, -1), "the end is taken away")
		require.Zero(t, w.pauseEnds(61))
		require.Equal(t, "paused", w.text("SELECT status FROM participants WHERE id = 'p1'"))

		require.NoError(t, w.pausedUntil(6, 60))
		w.inbound("SM1", 7, "STOP")
		w.inbound("SM2", 8, "START")
		require.Zero(t, w.count("SELECT count(*) FROM participants WHERE paused_until IS NOT NULL"))

		require.NoError(t, w.pausedUntil(9, 60))
		w.inbound("SM3", 10, wrong)
		require.Zero(t, w.pauseEnds(61), "the number may be another person's")
		require.Equal(t, "paused", w.text("SELECT status FROM participants WHERE id = 'p1'"))
		require.NoError(t, w.pausedUntil(11, 60))
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(12)))
		require.Zero(t, w.pauseEnds(61))
	})
}

// Only a pause has an end, and the audit names what it was and is.
func TestPauseEndIsChecked(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		until := at(60)
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{PausedUntil: &until}, Actor: "user:ada", Now: at(1)})
		var field *models.FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, "paused_until", field.Field)
		require.NoError(t, w.pausedUntil(2, 60))
		rows, err := w.Audit.AuditRows(w.ctx, models.AuditQuery{AuditFilter: models.AuditFilter{ParticipantID: "p1"}, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"status": "active", "paused_until": ""}, rows[0].Before)
		require.Equal(t, map[string]string{"status": "paused", "paused_until": at(60).Format(time.RFC3339)}, rows[0].After)
	})
}
