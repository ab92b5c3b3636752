package store_test

import (
	"context"
	"database/sql"
	"strings"
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
		next := func() string { return nextChange(t, told) }
		for _, what := range []string{"the beginning", "the connection", "the viewer's row", "transactions that did not see it"} {
			require.Equal(t, "*", next(), what)
		}
		require.Equal(t, 1, w.count("SELECT count(*) FROM change_viewers"))
		name := "Ida"
		for what, change := range map[string]func() error{
			"message": func() error { w.inbound("SM1", 1, "hello"); return nil },
			"audit": func() error {
				return w.Audit.RecordAudit(w.ctx, models.AuditRow{ParticipantID: "p1", Actor: "eve", Action: "read", At: at(2)})
			},
			"patch": func() error {
				_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: &name}}, Actor: "eve", Now: at(3)})
				return err
			},
		} {
			require.NoError(t, change(), what)
			require.Equal(t, "p1", next(), what)
			for len(told) > 0 { // a change of several rows
				require.Equal(t, "p1", <-told, what)
			}
		}
		_, err = w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldAll, CreatedBy: "eve", CreatedAt: at(4), Until: at(60)})
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

func nextChange(t *testing.T, told <-chan string) string {
	t.Helper()
	select {
	case id := <-told:
		return id
	case <-time.After(20 * time.Second):
		require.Fail(t, "no change came")
		return ""
	}
}

// TestChangeDuringTheFirstFollow: a transaction that began before a page followed, and
// whose triggers therefore tell of nothing, is followed by a change of everything.
func TestChangeDuringTheFirstFollow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.raw(func(db *sql.DB) {
			tx, err := db.BeginTx(w.ctx, nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(w.ctx, "UPDATE participants SET status = 'paused'")
			require.NoError(t, err)
			told, err := store.NewChanges(w.Store, time.Now).Follow(t.Context())
			require.NoError(t, err)
			before := 2 // the beginning and the connection
			if !strings.HasPrefix(w.url, "sqlite:") {
				before++ // the viewer's row, which waits for no other transaction
			}
			for range before {
				require.Equal(t, "*", nextChange(t, told))
			}
			require.NoError(t, tx.Commit())
			require.Equal(t, "*", nextChange(t, told))
		})
	})
}
