package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/internal/trial"
	"coachline/models"
)

const (
	stratified = `{"arms":[{"name":"a","weight":1},{"name":"b","weight":1}],"randomisation":{"method":"%s","strata":[` +
		`{"name":"gender","levels":["f","m"]},{"name":"site","levels":["north","south"]}]}}`
	walkStudy = "walk-1"
)

// enrolIn enrols the nth person of a study with levels of strata.
func (w *world) enrolIn(study string, n int, strata map[string]string) (models.Participant, error) {
	p := person(fmt.Sprintf("p%03d", n), fmt.Sprintf("+1212555%04d", n))
	p.StudyID = study
	return w.People.EnrollOnce(w.ctx, p, models.Enrolment{Actor: "user:kim", Strata: strata})
}

func (w *world) allocations() []models.Allocation {
	w.t.Helper()
	rows, err := w.Allocations.List(w.ctx, walkStudy, 0, 200)
	require.NoError(w.t, err)
	return rows
}

func (w *world) checkAllocations() models.AllocationCheck {
	w.t.Helper()
	check, err := w.Allocations.CheckAllocations(w.ctx, walkStudy)
	require.NoError(w.t, err)
	return check
}

func bothStrata(n int) map[string]string {
	return map[string]string{"gender": []string{"f", "m"}[n%2], "site": []string{"north", "south"}[n/2%2]}
}

func TestEnrolmentAllocates(t *testing.T) {
	for _, method := range models.RandomisationMethods() {
		t.Run(string(method), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				study := w.newStudy(walkStudy, fmt.Sprintf(stratified, method))
				arms := map[string]string{}
				for n := range 40 {
					p, err := w.enrolIn(walkStudy, n, bothStrata(n))
					require.NoError(t, err)
					require.NotEmpty(t, p.Arm)
					arms[p.ID] = p.Arm
				}
				rows := w.allocations()
				require.Len(t, rows, 40)
				for i, row := range rows {
					require.Equal(t, int64(i+1), row.Number)
					require.Equal(t, arms[row.ParticipantID], row.Arm)
				}
				settings, err := study.ReadSettings()
				require.NoError(t, err)
				design := trial.Design{StudyID: walkStudy, Seed: study.Seed, Arms: settings.Arms, Randomisation: settings.Randomisation}
				require.Nil(t, trial.Verify(design, rows), "the log alone rebuilds it")
				require.Equal(t, models.AllocationCheck{Rows: 40, Head: rows[39].Hash}, w.checkAllocations())
				require.Equal(t, 40, w.count("SELECT count(*) FROM audit WHERE action = 'allocate' AND participant_id <> ''"))
				require.Zero(t, w.count("SELECT count(*) FROM audit WHERE detail LIKE '%arm%'"))
			})
		})
	}
}

func TestAllocationWaitsForStrata(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "blocks"))
		p, err := w.enrolIn(walkStudy, 1, map[string]string{"gender": "f"})
		require.NoError(t, err)
		require.Empty(t, p.Arm)
		require.Empty(t, w.allocations())
		var field *models.FieldError
		_, err = w.enrolIn(walkStudy, 2, map[string]string{"site": "moon"})
		require.ErrorAs(t, err, &field)
		require.Equal(t, "strata.site", field.Field)
		in := models.AllocationRequest{StudyID: walkStudy, ParticipantID: p.ID, Actor: "user:kim", Now: at(9), Strata: map[string]string{"site": "north"}}
		_, err = w.Allocations.Allocate(w.ctx, in)
		require.ErrorAs(t, err, &field)
		require.Equal(t, "strata", field.Field)
		in.Strata["gender"] = "f"
		row, err := w.Allocations.Allocate(w.ctx, in)
		require.NoError(t, err)
		require.JSONEq(t, `{"gender":"f","site":"north"}`, row.Stratum)
		stored, err := w.People.Participant(w.ctx, p.ID)
		require.NoError(t, err)
		require.Equal(t, row.Arm, stored.Arm)
		require.Equal(t, 1, w.count("SELECT count(*) FROM notices WHERE kind = 'update'"), "the workflow is told of the arm")
		_, err = w.Allocations.Allocate(w.ctx, in)
		require.ErrorIs(t, err, models.ErrConflict, "a person is never in two arms")
		in.StudyID = models.DefaultStudy
		_, err = w.Allocations.Allocate(w.ctx, in)
		require.ErrorAs(t, err, &field, "a study without arms")
		require.Len(t, w.allocations(), 1)
		require.Empty(t, w.checkAllocations().Problem)
	})
}

// TestFieldsOfThePersonAreStrata allocates by a stratum that is a field of the person.
func TestFieldsOfThePersonAreStrata(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "simple"))
		p := person("p1", "+12125550100")
		p.StudyID, p.Gender = walkStudy, "m"
		p, err := w.People.EnrollOnce(w.ctx, p, models.Enrolment{Actor: "user:kim", Strata: map[string]string{"site": "south"}})
		require.NoError(t, err)
		require.NotEmpty(t, p.Arm)
		require.JSONEq(t, `{"gender":"m","site":"south"}`, w.allocations()[0].Stratum)
	})
}

// TestEnrolmentsAtOnceAreNumberedWithoutGaps enrols 50 people at once; some of the
// phones are taken, so their transactions end without a trace.
func TestEnrolmentsAtOnceAreNumberedWithoutGaps(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "minimisation"))
		var group sync.WaitGroup
		failed := make([]error, 50)
		for n := range failed {
			group.Go(func() { _, failed[n] = w.enrolIn(walkStudy, n%45, bothStrata(n)) })
		}
		group.Wait()
		conflicts := 0
		for _, err := range failed {
			if errors.Is(err, models.ErrConflict) {
				conflicts++
				continue
			}
			require.NoError(t, err)
		}
		require.Equal(t, 5, conflicts)
		rows := w.allocations()
		require.Len(t, rows, 45)
		people := map[string]bool{}
		for i, row := range rows {
			require.Equal(t, int64(i+1), row.Number)
			people[row.ParticipantID] = true
		}
		require.Len(t, people, 45)
		require.Empty(t, w.checkAllocations().Problem)
	})
}

// TestFailedEnrolmentLeavesNoAllocation ends the transaction after the draw, as the
// death of the process would.
func TestFailedEnrolmentLeavesNoAllocation(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "blocks"))
		first, err := w.enrolIn(walkStudy, 1, bothStrata(1))
		require.NoError(t, err)
		again := person("p002", first.Phone)
		again.StudyID = walkStudy
		_, err = w.People.EnrollOnce(w.ctx, again, models.Enrolment{Actor: "user:kim", Strata: bothStrata(2)})
		require.ErrorIs(t, err, models.ErrConflict)
		require.Len(t, w.allocations(), 1)
		_, err = w.enrolIn(walkStudy, 3, bothStrata(3))
		require.NoError(t, err)
		require.Equal(t, int64(2), w.allocations()[1].Number)
		require.Empty(t, w.checkAllocations().Problem)
	})
}

// unguarded runs statements on the database with the triggers of a table off, as
// someone could who owns the database.
func (w *world) unguarded(table string, statements ...string) {
	w.t.Helper()
	off := []string{"ALTER TABLE " + table + " DISABLE TRIGGER ALL"}
	if strings.HasPrefix(w.url, "sqlite:") {
		off = []string{"DROP TRIGGER IF EXISTS " + table + "_keep", "DROP TRIGGER IF EXISTS " + table + "_fixed"}
	}
	w.raw(func(db *sql.DB) {
		for _, statement := range slices.Concat(off, statements) {
			_, err := db.ExecContext(w.ctx, statement)
			require.NoError(w.t, err, statement)
		}
	})
}

func TestAllocationsAreAppendOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "simple"))
		_, err := w.enrolIn(walkStudy, 1, bothStrata(1))
		require.NoError(t, err)
		w.raw(func(db *sql.DB) {
			for _, statement := range []string{"UPDATE allocations SET arm = 'c'", "DELETE FROM allocations"} {
				_, err := db.ExecContext(w.ctx, statement)
				require.ErrorContains(t, err, "append-only")
			}
		})
	})
}

func TestTamperedAllocationsAreFound(t *testing.T) {
	for name, tampering := range map[string]struct {
		statements []string
		row        int64
	}{
		"arm changed":      {[]string{"UPDATE allocations SET arm = CASE arm WHEN 'a' THEN 'b' ELSE 'a' END WHERE number = 5"}, 5},
		"row removed":      {[]string{"DELETE FROM allocations WHERE number = 5"}, 5},
		"last row removed": {[]string{"DELETE FROM allocations WHERE number = 8"}, 9 - 1},
		"rows exchanged": {[]string{
			"UPDATE allocations SET number = 99 WHERE number = 5", "UPDATE allocations SET number = 5 WHERE number = 6", "UPDATE allocations SET number = 6 WHERE number = 99",
		}, 5},
		"row inserted": {[]string{
			"INSERT INTO allocations SELECT study_id, 9, 'p900', stratum, method, block, arm, probabilities, 9, algorithm, allocated_by, allocated_at, hash FROM allocations WHERE number = 8",
		}, 9},
		"arm of the person changed": {[]string{"UPDATE participants SET arm = 'c' WHERE id = 'p004'"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.newStudy(walkStudy, fmt.Sprintf(stratified, "blocks"))
				for n := range 8 {
					_, err := w.enrolIn(walkStudy, n, bothStrata(n))
					require.NoError(t, err)
				}
				require.Empty(t, w.checkAllocations().Problem)
				w.unguarded("allocations", tampering.statements...)
				check := w.checkAllocations()
				require.NotEmpty(t, check.Problem)
				require.Equal(t, tampering.row, check.BadRow, check.Problem)
				_, err := store.CheckEveryAllocation(w.ctx, w.Database())
				require.ErrorContains(t, err, fmt.Sprintf("study walk-1, row %d: ", tampering.row))
			})
		})
	}
}

func TestSeedIsReadWithARecord(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		study := w.newStudy(walkStudy, twoArms)
		seed, err := w.Allocations.StudySeed(w.ctx, walkStudy, "user:kim", at(5))
		require.NoError(t, err)
		require.Equal(t, study.Seed, seed)
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'study_seed_read' AND actor = 'user:kim'"))
		_, err = w.Allocations.StudySeed(w.ctx, "none", "user:kim", at(5))
		require.ErrorIs(t, err, models.ErrNotFound)
		_, err = w.Allocations.CheckAllocations(w.ctx, "none")
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// TestErasureKeepsTheAllocation erases a person; the record still counts them, under
// an id that identifies no person, and is still true.
func TestErasureKeepsTheAllocation(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "blocks"))
		for n := range 4 {
			_, err := w.enrolIn(walkStudy, n, bothStrata(n))
			require.NoError(t, err)
		}
		before := w.allocations()
		_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p001", Actor: "user:kim", Now: at(9)})
		require.NoError(t, err)
		require.NoError(t, w.Erasures.EraseRows(w.ctx, "p001", at(9)))
		require.Empty(t, w.text("SELECT phone FROM participants WHERE id = 'p001'"))
		require.Equal(t, before, w.allocations())
		require.Equal(t, models.AllocationCheck{Rows: 4, Head: before[3].Hash}, w.checkAllocations())
	})
}
