package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// TestChangesReachFollowers: each kind of change of a participant is told to who
// follows, and not before and afterwards.
func TestChangesReachFollowers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		ctx, leave := context.WithCancel(t.Context())
		changes := store.NewChanges(w.Store, time.Now)
		told, err := changes.Follow(ctx)
		require.NoError(t, err)
		next := func() string {
			select {
			case id := <-told:
				return id
			case <-time.After(20 * time.Second):
				require.Fail(t, "no change came")
				return ""
			}
		}
		require.Equal(t, "*", next(), "the beginning")
		require.Equal(t, "*", next(), "the connection")
		require.Eventually(t, func() bool { return w.count("SELECT count(*) FROM change_viewers") == 1 }, 20*time.Second, 5*time.Millisecond)
		name := "Ida"
		for what, change := range map[string]func() error{
			"message": func() error { w.inbound("SM1", 1, "hello"); return nil },
			"audit": func() error {
				return w.RecordAudit(w.ctx, models.Audit{ParticipantID: "p1", Actor: "eve", Action: "read", At: at(2)})
			},
			"patch": func() error {
				_, err := w.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Name: &name}, Actor: "eve", Now: at(3)})
				return err
			},
		} {
			require.NoError(t, change(), what)
			require.Equal(t, "p1", next(), what)
			for len(told) > 0 { // a change of several rows
				require.Equal(t, "p1", <-told, what)
			}
		}
		_, err = w.CreateHold(w.ctx, models.Hold{Scope: models.HoldAll, CreatedBy: "eve", CreatedAt: at(4), UntilAt: at(60)})
		require.NoError(t, err)
		for id := next(); id != "*"; id = next() {
			require.Equal(t, "p1", id)
		}
		leave()
		require.Eventually(t, func() bool { return w.count("SELECT count(*) FROM change_viewers") == 0 }, 20*time.Second, 5*time.Millisecond)
		before := w.count("SELECT count(*) FROM changes")
		w.inbound("SM2", 5, "hello again")
		require.Equal(t, before, w.count("SELECT count(*) FROM changes"))
	})
}
