package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

func (w *world) checkDecisions() models.DecisionCheck {
	w.t.Helper()
	check, err := w.Allocations.CheckAllocations(w.ctx, walkStudy)
	require.NoError(w.t, err)
	return *check.Decisions
}

// TestTamperedDecisionsAreFound changes the record of a person's decision points as
// someone could who owns the database, and not the study's seed.
func TestTamperedDecisionsAreFound(t *testing.T) {
	const lastKept = "UPDATE decision_heads SET number = 5, hash = (SELECT hash FROM decisions WHERE number = 5)"
	for name, tampering := range map[string]struct {
		statements []string
		row        int64
		problem    string
	}{
		"option changed":        {[]string{"UPDATE decisions SET option = 'walk', intervention = true, draw = 0.1 WHERE number = 3"}, 3, "was changed"},
		"availability changed":  {[]string{"UPDATE decisions SET available = false, reason = 'held' WHERE number = 3"}, 3, "was changed"},
		"time changed":          {[]string{"UPDATE decisions SET decided_at = (SELECT min(decided_at) FROM decisions) WHERE number = 3"}, 3, "was changed"},
		"hash changed":          {[]string{"UPDATE decisions SET hash = '' WHERE number = 3"}, 3, "was changed"},
		"row removed":           {[]string{"DELETE FROM decisions WHERE number = 3"}, 3, "row 4 stands there"},
		"last row removed":      {[]string{"DELETE FROM decisions WHERE number = 6"}, 6, "the last one was row 6"},
		"last row and its head": {[]string{"DELETE FROM decisions WHERE number = 6", lastKept}, 5, "not what they give"},
		"head removed":          {[]string{"DELETE FROM decision_heads"}, 1, "nothing was kept"},
		"whole record removed":  {[]string{"DELETE FROM decisions", "DELETE FROM decision_heads"}, 0, "a prompt of the person"},
		"row of another inserted": {[]string{
			"INSERT INTO decisions SELECT 'x', study_id, participant_id, 7, schedule_id, local_date, day_in_study, decided_at, available, reason, policy, options, option, " +
				"send, instruction, intervention, rand_prob, draw, counter, algorithm, build, outcome_hours, hash, posterior FROM decisions WHERE number = 6",
		}, 7, "was changed"},
		"rows exchanged": {[]string{
			"UPDATE decisions SET number = 99 WHERE number = 3", "UPDATE decisions SET number = 3 WHERE number = 4", "UPDATE decisions SET number = 4 WHERE number = 99",
		}, 3, "was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolRandomised()
				for day := range 6 {
					w.beginSlot(day)
				}
				require.Equal(t, models.DecisionCheck{People: 1, Rows: 6}, w.checkDecisions())
				w.unguarded("decisions", tampering.statements...)
				check := w.checkDecisions()
				require.Contains(t, check.Problem, tampering.problem)
				require.Equal(t, tampering.row, check.BadRow)
				require.Equal(t, "p1", check.ParticipantID)
				_, err := store.CheckEveryAllocation(w.ctx, w.Database())
				require.ErrorContains(t, err, fmt.Sprintf("study walk-1, decision point %d of participant p1: ", tampering.row))
			})
		})
	}
}

// TestTamperingStaysFound removes the last row with its head: the rows that follow do
// not make the record whole again.
func TestTamperingStaysFound(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		for day := range 3 {
			w.beginSlot(day)
		}
		w.unguarded("decisions", "DELETE FROM decisions WHERE number = 3", "UPDATE decision_heads SET number = 2, hash = (SELECT hash FROM decisions WHERE number = 2)")
		w.beginSlot(3)
		require.Equal(t, int64(3), w.checkDecisions().BadRow)
	})
}

// TestRowsFromBeforeTheHashes: rows without a hash are covered by the next row of the
// person, and until then only their draws are checked.
func TestRowsFromBeforeTheHashes(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		for day := range 3 {
			w.beginSlot(day)
		}
		w.unguarded("decisions", "UPDATE decisions SET hash = ''", "UPDATE decision_heads SET hash = ''")
		require.Equal(t, models.DecisionCheck{People: 1, Rows: 3, Unchained: 1}, w.checkDecisions())
		w.beginSlot(3)
		require.Equal(t, models.DecisionCheck{People: 1, Rows: 4}, w.checkDecisions())
		require.Equal(t, 3, w.count("SELECT count(*) FROM decisions WHERE hash = ''"))
		w.raw(exec(t, "UPDATE decisions SET policy = 'other' WHERE number = 2"))
		require.Equal(t, int64(4), w.checkDecisions().BadRow)
		w.raw(exec(t, "UPDATE decisions SET option = 'other' WHERE number = 2"))
		require.Equal(t, int64(2), w.checkDecisions().BadRow)
	})
}

// TestDecisionsOfAnOlderDatabase migrates rows from before there were hashes.
func TestDecisionsOfAnOlderDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		for day := 2; day < 5; day++ {
			w.beginSlot(day)
		}
		kind, _, _ := strings.Cut(w.url, ":")
		migration, err := os.ReadFile("../database/migrations/" + kind + "/00054_decision_chain.sql")
		require.NoError(t, err)
		w.raw(exec(t, "DROP TABLE decision_heads", "ALTER TABLE decisions DROP COLUMN hash"))
		w.raw(exec(t, string(migration)))
		require.Equal(t, models.DecisionCheck{People: 1, Rows: 3, Unchained: 1}, w.checkDecisions())
		w.beginSlot(5)
		rows := w.decisions(at(0))
		require.Len(t, rows, 4)
		require.Equal(t, int64(4), rows[3].Number)
		require.Equal(t, 6, rows[3].DayInStudy)
		require.Equal(t, models.DecisionCheck{People: 1, Rows: 4}, w.checkDecisions())
	})
}

// TestErasureKeepsTheDecisions erases a person; what is left is still true.
func TestErasureKeepsTheDecisions(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		for day := range 3 {
			w.beginSlot(day)
		}
		before := w.decisions(at(0))
		_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p1", Actor: "user:kim", Now: at(9)})
		require.NoError(t, err)
		require.NoError(t, w.Erasures.EraseRows(w.ctx, "p1", at(9)))
		require.Empty(t, w.text("SELECT phone FROM participants WHERE id = 'p1'"))
		require.Equal(t, before, w.decisions(at(0)))
		require.Equal(t, models.DecisionCheck{People: 1, Rows: 3}, w.checkDecisions())
	})
}

// TestDayInStudyIsKept moves the person across the date of enrolment: the days go on
// as they were counted.
func TestDayInStudyIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		w.beginSlot(0)
		for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} {
			w.raw(func(db *sql.DB) {
				_, err := db.ExecContext(w.ctx, "UPDATE participants SET timezone = '"+zone+"'")
				require.NoError(t, err)
			})
			w.beginSlot(len(w.decisions(at(0))))
		}
		for i, row := range w.decisions(at(0)) {
			require.Equal(t, i+1, row.DayInStudy)
		}
	})
}
