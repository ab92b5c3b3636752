package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func (w *world) newCohort(id string) models.Cohort {
	w.t.Helper()
	job, err := w.Cohorts.CreateCohort(w.ctx, models.Cohort{
		ID: id, FileName: "Ada and friends.csv", File: []byte("phone\n+12125550100\n"), PerMinute: 30, CreatedBy: "user:kim", CreatedAt: start,
	})
	require.NoError(w.t, err)
	return job
}

// runningCohort makes a job of n people that is confirmed.
func (w *world) runningCohort(id string, n int) {
	w.t.Helper()
	w.newCohort(id)
	_, err := w.Cohorts.SaveCohortCheck(w.ctx, models.CohortCheck{ID: id, State: models.CohortReady, Rows: n, Good: n, Now: at(1)})
	require.NoError(w.t, err)
	_, err = w.Cohorts.ConfirmCohort(w.ctx, models.CohortStep{ID: id, Actor: "user:lee", Now: at(2)})
	require.NoError(w.t, err)
}

// batch enrols the people from..to of n.
func batch(id string, from, to, n int) models.CohortBatch {
	b := models.CohortBatch{ID: id, From: from, IsLast: to == n, Now: at(3)}
	for i := from; i < to; i++ {
		phone := fmt.Sprintf("+1212555%04d", i)
		b.Rows = append(b.Rows, models.CohortRow{Line: i + 2, Column: 1, Phone: phone})
		p := person(fmt.Sprintf("conv_%s_%d", id, i), phone)
		p.EnrolledAt = at(3)
		b.People = append(b.People, p)
	}
	return b
}

func TestCohortIsCarriedOut(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newCohort("c1")
		ids, err := w.Cohorts.CohortsToDo(w.ctx)
		require.NoError(t, err)
		require.Equal(t, []string{"c1"}, ids)
		report := models.CohortReport{First: []models.CohortRow{{Line: 2, Phone: "+12125550100", PersonTexts: models.PersonTexts[string]{Name: "Ada"}}}}
		job, err := w.Cohorts.SaveCohortCheck(w.ctx, models.CohortCheck{ID: "c1", State: models.CohortReady, Rows: 3, Good: 3, Suggested: 2, Report: report, Now: at(1)})
		require.NoError(t, err)
		require.Equal(t, models.CohortReady, job.State)
		ids, err = w.Cohorts.CohortsToDo(w.ctx)
		require.NoError(t, err)
		require.Empty(t, ids, "a job that waits for a person")

		_, err = w.Cohorts.EnrolBatch(w.ctx, batch("c1", 0, 2, 3))
		require.ErrorIs(t, err, models.ErrConflict, "it is not confirmed")
		for range 2 { // A confirmation may be repeated.
			job, err = w.Cohorts.ConfirmCohort(w.ctx, models.CohortStep{ID: "c1", Actor: "user:lee", Now: at(2)})
			require.NoError(t, err)
			require.Equal(t, models.CohortRunning, job.State)
		}
		job, err = w.Cohorts.EnrolBatch(w.ctx, batch("c1", 0, 2, 3))
		require.NoError(t, err)
		require.Equal(t, []any{models.CohortRunning, 2, 2}, []any{job.State, job.Tried, job.Enrolled})
		kept, err := w.Cohorts.Cohort(w.ctx, "c1")
		require.NoError(t, err)
		require.Equal(t, "phone\n+12125550100\n", string(kept.File), "the file is needed until the end")
		job, err = w.Cohorts.EnrolBatch(w.ctx, batch("c1", 2, 3, 3))
		require.NoError(t, err)
		require.Equal(t, []any{models.CohortDone, 3, 3, 0}, []any{job.State, job.Tried, job.Enrolled, job.Skipped})

		kept, err = w.Cohorts.Cohort(w.ctx, "c1")
		require.NoError(t, err)
		require.Empty(t, kept.File)
		require.Equal(t, "Ada and friends.csv", kept.FileName)
		got, err := kept.ReadReport()
		require.NoError(t, err)
		require.Empty(t, got.First, "names are shown before the confirmation only")
		_, notices, err := w.Notices.Untold(w.ctx, "conv_c1_1")
		require.NoError(t, err)
		require.Equal(t, models.NoticeStart, notices[0].Kind)
		require.Equal(t, 3, w.count("SELECT count(*) FROM audit WHERE action = 'enroll' AND object = 'cohort:c1' AND actor = 'user:lee' AND participant_id <> ''"))
		rows, err := w.Audit.AuditRows(w.ctx, models.AuditQuery{})
		require.NoError(t, err)
		var did []string
		for _, row := range rows {
			if row.ParticipantID == "" {
				did = append(did, row.Actor+" "+row.Action+" "+row.Object+" "+row.Detail)
			}
		}
		require.Equal(t, []string{
			"user:lee cohort_done cohort:c1 3 enrolled, 0 skipped", "user:lee cohort_confirm cohort:c1 3 people",
			"user:kim cohort_check cohort:c1 ready, 3 rows, 3 good, 0 faults", "user:kim cohort_upload cohort:c1 19 bytes",
		}, did)
		chain, err := w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Empty(t, chain.Problem)
	})
}

// TestCohortBatchIsEnrolledOnce: several processes carry out one job and repeat
// batches whose outcome they have lost.
func TestCohortBatchIsEnrolledOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		const n = 40
		w.runningCohort("c1", n)
		errs := together(4, func(int) error {
			for {
				job, err := w.Cohorts.Cohort(w.ctx, "c1")
				if err != nil || job.State.IsOver() {
					return err
				}
				_, err = w.Cohorts.EnrolBatch(w.ctx, batch("c1", job.Tried, min(job.Tried+7, n), n))
				if err != nil && !errors.Is(err, models.ErrStale) && !errors.Is(err, models.ErrConflict) {
					return err
				}
			}
		})
		require.NoError(t, errors.Join(errs...))
		_, err := w.Cohorts.EnrolBatch(w.ctx, batch("c1", 0, 7, n))
		require.ErrorIs(t, err, models.ErrConflict)
		require.Equal(t, n, w.count("SELECT count(*) FROM participants"))
		require.Equal(t, n, w.count("SELECT count(*) FROM notices WHERE kind = 'start'"))
		require.Equal(t, n, w.count("SELECT count(*) FROM audit WHERE action = 'enroll'"))
		job, err := w.Cohorts.Cohort(w.ctx, "c1")
		require.NoError(t, err)
		require.Equal(t, []int{n, n, 0}, []int{job.Tried, job.Enrolled, job.Skipped})
	})
}

// TestCohortBatchIsWhole: a batch that fails in the middle leaves nothing behind.
func TestCohortBatchIsWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.runningCohort("c1", 5)
		bad := batch("c1", 0, 5, 5)
		bad.People[3].ID = bad.People[0].ID
		_, err := w.Cohorts.EnrolBatch(w.ctx, bad)
		require.ErrorIs(t, err, models.ErrConflict)
		require.Zero(t, w.count("SELECT count(*) FROM participants"))
		job, err := w.Cohorts.EnrolBatch(w.ctx, batch("c1", 0, 5, 5))
		require.NoError(t, err)
		require.Equal(t, 5, job.Enrolled)
	})
}

func TestKnownNumbers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		removed := person("p2", "+12125550102")
		_, err := w.People.Enroll(w.ctx, removed, "operator")
		require.NoError(t, err)
		_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM1", From: "+12125550102", To: "+15017122661", Body: "STOP", ReceivedAt: at(1)})
		require.NoError(t, err)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p2", "operator", at(2)))
		// A stranger, and one who has taken it back.
		for sid, text := range map[string][2]string{"SM2": {"+12125550103", "STOP"}, "SM3": {"+12125550104", "STOP"}} {
			_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: sid, From: text[0], To: "+15017122661", Body: text[1], ReceivedAt: at(3)})
			require.NoError(t, err)
		}
		_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM4", From: "+12125550104", To: "+15017122661", Body: "START", ReceivedAt: at(4)})
		require.NoError(t, err)

		suppressed := person("p3", "+12125550106")
		_, err = w.People.Enroll(w.ctx, suppressed, "operator")
		require.NoError(t, err)
		w.raw(func(db *sql.DB) {
			_, err := db.ExecContext(w.ctx, "INSERT INTO suppressions (phone_index, method, recorded_by, at) SELECT phone_index, 'keyword', 'operator', created_at FROM participants WHERE id = 'p3'")
			require.NoError(t, err)
		})
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p3", "operator", at(2)))

		phones := []string{phone, "+12125550106", "+12125550102", "+12125550103", "+12125550104", "+12125550105"}
		for i := range 1000 { // More than one statement asks for.
			phones = append(phones, fmt.Sprintf("+1646555%04d", i))
		}
		known, err := w.Cohorts.KnownNumbers(w.ctx, phones)
		require.NoError(t, err)
		require.Equal(t, map[string]models.KnownNumber{
			phone: {ParticipantID: "p1"}, "+12125550102": {OptedOut: true}, "+12125550103": {OptedOut: true}, "+12125550106": {OptedOut: true},
		}, known)
	})
}

// TestCohortLeavesOutWhoCameMeanwhile: between check and enrolment a number is
// enrolled and another one opts out.
func TestCohortLeavesOutWhoCameMeanwhile(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.runningCohort("c1", 3)
		_, err := w.People.Enroll(w.ctx, person("p1", "+12125550000"), "operator")
		require.NoError(t, err)
		_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM1", From: "+12125550001", To: "+15017122661", Body: "STOP", ReceivedAt: at(2)})
		require.NoError(t, err)
		job, err := w.Cohorts.EnrolBatch(w.ctx, batch("c1", 0, 3, 3))
		require.NoError(t, err)
		require.Equal(t, []any{models.CohortDone, 1, 2}, []any{job.State, job.Enrolled, job.Skipped})
		report, err := job.ReadReport()
		require.NoError(t, err)
		require.Len(t, report.Faults, 2)
		require.Equal(t, []any{models.FaultEnrolled, "p1", 2}, []any{report.Faults[0].Kind, report.Faults[0].ParticipantID, report.Faults[0].Line})
		require.Equal(t, []any{models.FaultOptedOut, "+12125550001", 3}, []any{report.Faults[1].Kind, report.Faults[1].Value, report.Faults[1].Line})
	})
}

func TestCohortEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		step := func(id string) models.CohortStep {
			return models.CohortStep{ID: id, Actor: "user:lee", Now: at(5)}
		}
		_, err := w.Cohorts.ConfirmCohort(w.ctx, step("c0"))
		require.ErrorIs(t, err, models.ErrNotFound)
		w.newCohort("failed")
		_, err = w.Cohorts.ConfirmCohort(w.ctx, step("failed"))
		require.ErrorIs(t, err, models.ErrConflict, "not checked yet")
		job, err := w.Cohorts.SaveCohortCheck(w.ctx, models.CohortCheck{ID: "failed", State: models.CohortFailed, Rows: 2, Faults: 1, Now: at(1)})
		require.NoError(t, err)
		require.NotNil(t, job.FinishedAt)
		_, err = w.Cohorts.ConfirmCohort(w.ctx, step("failed"))
		require.ErrorIs(t, err, models.ErrConflict)
		_, err = w.Cohorts.CancelCohort(w.ctx, step("failed"))
		require.ErrorIs(t, err, models.ErrConflict)

		w.runningCohort("running", 3)
		_, err = w.Cohorts.EnrolBatch(w.ctx, batch("running", 0, 2, 3))
		require.NoError(t, err)
		for range 2 {
			job, err = w.Cohorts.CancelCohort(w.ctx, step("running"))
			require.NoError(t, err)
			require.Equal(t, []any{models.CohortCanceled, 2}, []any{job.State, job.Enrolled})
		}
		_, err = w.Cohorts.EnrolBatch(w.ctx, batch("running", 2, 3, 3))
		require.ErrorIs(t, err, models.ErrConflict)

		w.newCohort("waits")
		_, err = w.Cohorts.SaveCohortCheck(w.ctx, models.CohortCheck{ID: "waits", State: models.CohortReady, Rows: 2, Good: 2, Now: at(1)})
		require.NoError(t, err)
		require.NoError(t, w.Cohorts.ExpireCohorts(w.ctx, start, at(9)), "not older than that")
		require.Equal(t, models.CohortReady, w.cohort("waits").State)
		require.NoError(t, w.Cohorts.ExpireCohorts(w.ctx, start.Add(time.Second), at(9)))
		require.Equal(t, models.CohortCanceled, w.cohort("waits").State)
		for _, id := range []string{"failed", "running", "waits"} {
			require.Empty(t, w.cohort(id).File, id)
		}
		require.Zero(t, w.count("SELECT count(*) FROM cohort_jobs WHERE length(file) > 0"))
	})
}

func (w *world) cohort(id string) models.Cohort {
	w.t.Helper()
	job, err := w.Cohorts.Cohort(w.ctx, id)
	require.NoError(w.t, err)
	return job
}

// TestCohortIsSealed: nothing of a file can be read in the database.
func TestCohortIsSealed(t *testing.T) {
	w := onSQLite(t)
	w.newCohort("c1")
	_, err := w.Cohorts.SaveCohortCheck(w.ctx, models.CohortCheck{
		ID: "c1", State: models.CohortReady, Rows: 1, Good: 1, Now: at(1),
		Report: models.CohortReport{Faults: []models.CohortFault{{Line: 2, Message: "enrolled", Value: "+12125550100"}}},
	})
	require.NoError(t, err)
	for _, column := range []string{"file", "file_name", "report"} {
		kept := w.text("SELECT " + column + " FROM cohort_jobs")
		require.NotEmpty(t, kept)
		require.False(t, strings.Contains(kept, "Ada") || strings.Contains(kept, "555"), column)
	}
}

// TestErasureEmptiesCohorts: files and reports may name a person who is erased.
func TestErasureEmptiesCohorts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		report := models.CohortReport{Faults: []models.CohortFault{{Line: 2, Message: "enrolled", Value: phone, ParticipantID: "p1"}}}
		for id, state := range map[string]models.CohortState{"failed": models.CohortFailed, "ready": models.CohortReady} {
			w.newCohort(id)
			_, err := w.Cohorts.SaveCohortCheck(w.ctx, models.CohortCheck{ID: id, State: state, Good: 1, Report: report, Now: at(1)})
			require.NoError(t, err)
		}
		w.runningCohort("running", 2)
		w.beginErasure(8)
		w.eraseAll("p1", 9)
		for id, state := range map[string]models.CohortState{
			"failed": models.CohortFailed, "ready": models.CohortCanceled, "running": models.CohortRunning,
		} {
			job := w.cohort(id)
			require.Equal(t, state, job.State)
			require.Empty(t, job.Report+job.FileName, id)
			require.Equal(t, id == "running", len(job.File) > 0, id)
		}
	})
}
