package store_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// TestAuditIsCheckedOnce: the whole chain is read once a day by one process, and the
// others read what is new.
func TestAuditIsCheckedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for range 30 {
			w.record(models.AuditRow{Actor: "eve", Action: "update", At: at(1)})
		}
		check := func(now time.Time, whole bool) {
			t.Helper()
			chain, err := w.Audit.CheckNewAudit(w.ctx, now)
			require.NoError(t, err)
			require.Empty(t, chain.Problem)
			require.Equal(t, whole, chain.Whole)
		}
		check(at(1), true)
		require.NoError(t, w.Close())
		var seen statements
		w = seen.watch(t, store.Config{URL: w.url}) // another process
		seen.sent = nil
		check(at(2), false)
		require.Len(t, seen.sent, 4, "where it was, what is new, the row it was at, where it is")
		w.record(models.AuditRow{Actor: "eve", Action: "update", At: at(3)})
		check(at(3), false)
		check(at(1).Add(24*time.Hour), true)
		check(at(2).Add(24*time.Hour), false)

		// One that is at it keeps others from it for an hour.
		w.raw(exec(t, "UPDATE audit_checks SET claimed_at = '2026-03-04 15:00:00+00:00'"))
		began := time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
		check(began.Add(time.Minute), false)
		w.raw(exec(t, "UPDATE audit_checks SET claimed_at = '2026-03-04 15:00:00+00:00'"))
		check(began.Add(time.Hour), true)
	})
}

// TestAuditCheckTrustsNoRow: who changes the audit gains nothing by changing up to
// where it was checked.
func TestAuditCheckTrustsNoRow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for range 4 {
			w.record(models.AuditRow{Actor: "eve", Action: "update", At: at(1)})
		}
		check := func(now time.Time) models.AuditChain {
			t.Helper()
			chain, err := w.Audit.CheckNewAudit(w.ctx, now)
			require.NoError(t, err)
			return chain
		}
		require.Empty(t, check(at(1)).Problem)
		var seq int64
		var hash string
		w.raw(func(db *sql.DB) {
			require.NoError(t, db.QueryRow("SELECT seq, hash FROM audit_checks").Scan(&seq, &hash))
		})
		require.Equal(t, int64(4), seq)

		// A row before it was changed: the next whole check tells.
		w.raw(exec(t, w.dropAuditTriggers()...))
		w.raw(exec(t, "UPDATE audit SET actor = 'mallory' WHERE seq = 2"))
		require.Empty(t, check(at(2)).Problem)
		require.Equal(t, int64(2), check(at(2).Add(24*time.Hour)).BrokenAt)
		// It is not put off by who moves the check's row, in time or along the chain.
		for _, statement := range []string{
			"UPDATE audit_checks SET whole_at = '2099-01-01 00:00:00+00:00'", "UPDATE audit_checks SET seq = 3", "UPDATE audit_checks SET mac = ''", "DELETE FROM audit_checks",
		} {
			w.raw(exec(t, statement))
			require.Equal(t, int64(2), check(at(3)).BrokenAt, statement)
		}
		w.raw(exec(t, "UPDATE audit SET actor = 'eve' WHERE seq = 2"))
		require.Empty(t, check(at(4)).Problem)

		// The newest rows cut off, or written anew with hashes that fit.
		w.raw(exec(t, "DELETE FROM audit WHERE seq = 4"))
		require.Equal(t, "the row is not the one that the last check ended at", check(at(5)).Problem)
		w.record(models.AuditRow{Actor: "eve", Action: "other", At: at(5)})
		require.Equal(t, int64(4), check(at(6)).BrokenAt)
		whole, err := w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Empty(t, whole.Problem, "the hashes alone do not tell")
	})
}
