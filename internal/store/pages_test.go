package store_test

import (
	"database/sql"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/dbtest"
	"coachline/internal/store"
)

// Sizes in SQLite's log: its header, the header of a frame, and a page.
const (
	logHeader   = 32
	frameHeader = 24
	pageSize    = 4096
)

// pagesWritten are the pages that SQLite's log holds, by what they belong to.
func (w *world) pagesWritten() map[string]float64 {
	w.t.Helper()
	raw, err := os.ReadFile(strings.TrimPrefix(w.url, "sqlite:") + "-wal")
	require.NoError(w.t, err)
	owners := map[uint32]string{}
	w.raw(func(db *sql.DB) {
		rows, err := db.QueryContext(w.ctx, "SELECT pageno, name FROM dbstat")
		require.NoError(w.t, err)
		defer func() { require.NoError(w.t, rows.Close()) }()
		for rows.Next() {
			var page uint32
			var name string
			require.NoError(w.t, rows.Scan(&page, &name))
			owners[page] = name
		}
		require.NoError(w.t, rows.Err())
	})
	written := map[string]float64{}
	for at := logHeader; at+frameHeader+pageSize <= len(raw); at += frameHeader + pageSize {
		written[owners[binary.BigEndian.Uint32(raw[at:])]]++
	}
	return written
}

// TestPagesOfATurn holds what a text and its answer write to SQLite's log.
func TestPagesOfATurn(t *testing.T) {
	const turns, before, most = 20, 20, 40
	w := (&statements{}).watch(t, store.Config{URL: dbtest.SQLite(t)})
	_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
	require.NoError(t, err)
	for n := 1; n <= before; n++ {
		w.exchange(n)
	}
	w.raw(func(db *sql.DB) {
		_, err := db.ExecContext(w.ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		require.NoError(t, err)
	})
	for n := before + 1; n <= before+turns; n++ {
		w.exchange(n)
	}
	var all float64
	for name, pages := range w.pagesWritten() {
		all += pages
		t.Logf("%-40s %5.2f", name, pages/turns)
	}
	t.Logf("all %.2f", all/turns)
	require.LessOrEqual(t, all/turns, float64(most))
}

// TestTextsOfAPersonAreReadByIndex: one index serves what is read of a person's
// texts, and finds newer ones without reading the older.
func TestTextsOfAPersonAreReadByIndex(t *testing.T) {
	w := (&statements{}).watch(t, store.Config{URL: dbtest.SQLite(t)})
	w.raw(func(db *sql.DB) {
		for where, plan := range map[string]string{
			"participant_id = ? AND kind = ? AND created_at > ? AND (accepted_at IS NOT NULL OR attempted_at IS NOT NULL)": "(participant_id=? AND created_at>?)",
			"participant_id = ? AND status IN (?, ?)":                                 "(participant_id=?)",
			"participant_id = ? AND status = ? AND accepted_at IS NULL":               "(participant_id=?)",
			"participant_id = ? AND former_phone_id = 0 AND attempted_at IS NOT NULL": "(participant_id=?)",
		} {
			require.Contains(t, planOf(t, db, "SELECT count(*) FROM outbox WHERE "+where), "outbox USING INDEX outbox_participant "+plan)
		}
	})
}
