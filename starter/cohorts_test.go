package starter

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/auth"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
)

const cohortFile = "phone,name,tz\n" +
	"+12125550101,Ada,Europe/Berlin\n" +
	"+14155550102,Bo,\n" +
	"(212) 555-0103,=Cy,\n"

func upload(query, body string) call {
	return call{method: "POST", path: cohortsPath + query, body: body, header: map[string]string{"Content-Type": csvType}}
}

// waitOver waits until an import is over.
func (h *harness) waitOver(id string) models.Cohort {
	h.t.Helper()
	var job models.Cohort
	require.Eventually(h.t, func() bool {
		job = result[models.Cohort](h.t, h.do(call{method: "GET", path: cohortsPath + "/" + id}))
		return job.State.IsOver()
	}, 20*time.Second, 10*time.Millisecond)
	return job
}

func TestCohortImport(t *testing.T) {
	h, rows := startWithStore(t, nil)
	got := h.do(upload("?file_name=spring.csv", cohortFile))
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	job := result[models.Cohort](t, got)
	require.Equal(t, cohortsPath+"/"+job.ID, got.header.Get("Location"))
	require.Equal(t, models.CohortReady, job.State)
	require.Equal(t, []int{3, 3, 0, 2, 15}, []int{job.Rows, job.Good, job.FaultCount, job.ZonesSuggested, job.PerMinute})
	require.Equal(t, "spring.csv", job.FileName)
	require.Equal(t, models.CohortPerson{Line: 3, Phone: "+14155550102", Name: "Bo", Timezone: "America/Los_Angeles", ZoneAssumed: true, ZoneSuggested: true}, job.First[1])
	people, err := rows.People.Participants(t.Context(), models.ParticipantQuery{})
	require.NoError(t, err)
	require.Empty(t, people, "nobody is enrolled before the confirmation")

	for range 2 { // It may be repeated.
		got = h.do(call{method: "POST", path: cohortsPath + "/" + job.ID + "/confirm", header: map[string]string{reasonHeader: "spring wave"}})
		require.Equal(t, http.StatusOK, got.status, got.raw)
	}
	job = h.waitOver(job.ID)
	require.Equal(t, []any{models.CohortDone, 3, 3, 0}, []any{job.State, job.Tried, job.Enrolled, job.Skipped})
	require.Equal(t, auth.Operator, job.ConfirmedBy)
	people, err = rows.People.Participants(t.Context(), models.ParticipantQuery{})
	require.NoError(t, err)
	require.Len(t, people, 3)
	byName := map[string]models.Participant{}
	for _, p := range people {
		byName[p.Name] = p
	}
	require.Equal(t, []any{"+12125550103", "America/New_York", true, wire.StatusActive, wire.ModeIntake},
		[]any{byName["=Cy"].Phone, byName["=Cy"].Timezone, byName["=Cy"].ZoneAssumed, byName["=Cy"].Status, byName["=Cy"].Mode})
	require.False(t, byName["Ada"].ZoneAssumed)
	require.Equal(t, testNow, byName["Ada"].GreetingAt.UTC())
	require.Equal(t, testNow.Add(4*time.Second), byName["Bo"].GreetingAt.UTC(), "15 greetings a minute")
	audit, err := rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "cohort_confirm"}})
	require.NoError(t, err)
	require.Len(t, audit, 1)
	require.Equal(t, "spring wave", audit[0].Reason)

	got = h.do(call{method: "DELETE", path: cohortsPath + "/" + job.ID})
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.raw, "over and cannot be canceled")
}

func TestCohortFaults(t *testing.T) {
	h, rows := startWithStore(t, nil)
	_, err := rows.People.Enroll(t.Context(), models.Participant{ID: "conv_1", Phone: "+12125550101", Timezone: "UTC", EnrolledAt: testNow}, auth.Operator)
	require.NoError(t, err)
	_, err = rows.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: "SM1", From: "+14155550102", To: ourNumber, Body: "STOP", ReceivedAt: testNow})
	require.NoError(t, err)
	body := cohortFile + ourNumber + ",Dee,\n+12125550103,Eve,EST\n"
	for _, query := range []string{"?dry_run=true", ""} {
		got := h.do(upload(query, body))
		job := result[models.Cohort](t, got)
		var faults []string
		for _, f := range job.Faults {
			faults = append(faults, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s %s", f.Line, f.Column, f.Kind, f.Value, f.ParticipantID)))
		}
		require.Equal(t, []string{
			"2:1 enrolled +12125550101 conv_1", "3:1 opted_out +14155550102", "5:1 cell", "6:1 repeated +12125550103", "6:18 cell",
		}, faults)
		require.Equal(t, []any{models.CohortFailed, 5, 1, 5}, []any{job.State, job.Rows, job.Good, job.FaultCount})
		if query != "" {
			require.Equal(t, http.StatusOK, got.status)
			require.Empty(t, job.ID)
			continue
		}
		require.Equal(t, http.StatusCreated, got.status)
		got = h.do(call{method: "GET", path: cohortsPath + "/" + job.ID + "/faults"})
		require.Equal(t, "text/csv; charset=utf-8", got.header.Get("Content-Type"))
		require.Contains(t, got.raw, "2,1,enrolled,phone_number,'+12125550101,conv_1,the number is enrolled already\n")
		got = h.do(call{method: "POST", path: cohortsPath + "/" + job.ID + "/confirm"})
		require.Equal(t, http.StatusConflict, got.status)
	}
	// Those without a fault, where that is asked for.
	job := result[models.Cohort](t, h.do(upload("?skip_faulty=true&per_minute=2", body)))
	require.Equal(t, []any{models.CohortReady, 1, 2}, []any{job.State, job.Good, job.PerMinute})
	h.do(call{method: "POST", path: cohortsPath + "/" + job.ID + "/confirm"})
	job = h.waitOver(job.ID)
	require.Equal(t, []any{models.CohortDone, 1, 2}, []any{job.State, job.Enrolled, job.Skipped})
	// A file that was not read to its end is not imported in part.
	job = result[models.Cohort](t, h.do(upload("?skip_faulty=true", "phone,name\n+12125550110,a\n+12125550111,\"b\n+12125550112,c\n")))
	require.Equal(t, models.CohortFailed, job.State)
	people, err := rows.People.Participants(t.Context(), models.ParticipantQuery{})
	require.NoError(t, err)
	require.Len(t, people, 2)
}

func TestCohortRequests(t *testing.T) {
	h, _ := startWithStore(t, nil)
	form := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n" + cohortFile + "\r\n--x--\r\n"
	got := h.do(call{method: "POST", path: cohortsPath, body: form, header: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}})
	job := result[models.Cohort](t, got)
	require.Equal(t, []any{models.CohortReady, "a.csv", 3}, []any{job.State, job.FileName, job.Good})
	got = h.do(call{method: "DELETE", path: cohortsPath + "/" + job.ID})
	require.Equal(t, models.CohortCanceled, result[models.Cohort](t, got).State)
	require.Equal(t, models.CohortCanceled, h.waitOver(job.ID).State)

	for name, c := range map[string]struct {
		call call
		code int
		want string
	}{
		"JSON":           {call{method: "POST", path: cohortsPath, body: "{}"}, 415, "Content-Type: must be text/csv"},
		"no part":        {call{method: "POST", path: cohortsPath, body: "--x--\r\n", header: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}}, 400, "file: is required"},
		"another part":   {call{method: "POST", path: cohortsPath, body: strings.ReplaceAll(form, `name="file"`, `name="study"`), header: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}}, 400, "a part other than file"},
		"broken form":    {call{method: "POST", path: cohortsPath, body: "--x\r\nnonsense", header: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}}, 400, "no valid multipart form"},
		"too large":      {upload("", strings.Repeat("x", maxCohortFile+1)), 413, fmt.Sprintf("larger than %d bytes", maxCohortFile)},
		"no rate":        {upload("?per_minute=0", cohortFile), 400, "per_minute"},
		"misspelt":       {upload("?dryrun=true", cohortFile), 400, "dryrun"},
		"unknown job":    {call{method: "GET", path: cohortsPath + "/coh_0"}, 404, "cohort not found"},
		"unknown faults": {call{method: "GET", path: cohortsPath + "/coh_0/faults"}, 404, "cohort not found"},
		"confirm none":   {call{method: "POST", path: cohortsPath + "/coh_0/confirm"}, 404, "cohort not found"},
		"cancel none":    {call{method: "DELETE", path: cohortsPath + "/coh_0"}, 404, "cohort not found"},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.call(c.call)
			require.Equal(t, c.code, got.status, got.raw)
			require.Contains(t, got.raw, c.want)
		})
	}
	got = h.do(upload("", "phone\n"+strings.Repeat("x", maxAPIBody)))
	require.Equal(t, http.StatusCreated, got.status, "a file may be larger than other bodies")
}

// TestCohortHidesPersonalData: a caller who may enrol and not read names sees
// lines, columns and counts.
func TestCohortHidesPersonalData(t *testing.T) {
	h := startWithAccess(t, nil)
	_, secret := h.token(auth.ParticipantEnrol)
	got := h.do(withToken(upload("?file_name=Ada.csv", cohortFile+"+14155550102,Bo,\n"+herNumber+",Her,\n"), secret))
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	require.Contains(t, got.raw, "the same number as in line 3")
	require.Contains(t, got.raw, "the number is enrolled already")
	require.Contains(t, got.raw, "Europe/Berlin")
	id := result[models.Cohort](t, got).ID // random, it may hold any digits
	shown := strings.ReplaceAll(got.raw, id, "")
	for _, personal := range []string{"555", "867", "Ada", "Bo"} {
		require.NotContains(t, shown, personal)
	}
	_, reader := h.token(auth.ParticipantRead)
	require.Equal(t, http.StatusForbidden, h.do(withToken(upload("", cohortFile), reader)).status)
}

var errStopped = errors.New("the process was stopped")

// stopAtBatch has the process die at a batch: before it is committed, or after, so that
// the answer is lost. The channel is closed then.
func (h *harness) stopAtBatch(stopAt int, isWritten bool) <-chan struct{} {
	stopped := make(chan struct{})
	batches := 0
	h.faults.onCommit(func(queries string, run func() error) error {
		if !strings.Contains(queries, "INSERT INTO participants") {
			return run()
		}
		if batches++; batches < stopAt {
			return run()
		}
		defer close(stopped)
		h.faults.fail(errStopped)
		h.faults.onCommit(nil)
		if isWritten {
			if err := run(); err != nil {
				return err
			}
		}
		return errStopped
	})
	return stopped
}

// TestCohortGoesOnAfterACrash: a process ends before or after any batch, and the
// next one enrols the others, each person once.
func TestCohortGoesOnAfterACrash(t *testing.T) {
	const people = 110
	var file strings.Builder
	file.WriteString("phone\n")
	for i := range people {
		fmt.Fprintf(&file, "+1212555%04d\n", i)
	}
	for stopAt := 1; stopAt <= 5; stopAt++ {
		for _, isWritten := range []bool{false, true} {
			t.Run(fmt.Sprintf("batch %d written %t", stopAt, isWritten), func(t *testing.T) {
				var kept Config
				h, rows := startWithStore(t, func(cfg *Config) { kept = cfg.withDefaults() })
				stopped := h.stopAtBatch(stopAt, isWritten)
				job := result[models.Cohort](t, h.do(upload("", file.String())))
				h.do(call{method: "POST", path: cohortsPath + "/" + job.ID + "/confirm"})
				<-stopped
				h.stop()
				h.faults.fail(nil)

				next := newTestCohorts(kept, func() time.Time { return testNow.Add(time.Hour) })
				require.NoError(t, next.sweepCohorts(t.Context()))
				done, err := rows.Cohorts.Cohort(t.Context(), job.ID)
				require.NoError(t, err)
				require.Equal(t, []any{models.CohortDone, people, 0}, []any{done.State, done.Enrolled, done.Skipped})
				found, err := rows.People.Participants(t.Context(), models.ParticipantQuery{})
				require.NoError(t, err)
				require.Len(t, found, people)
				perMinute := map[time.Time]int{}
				for _, p := range found {
					perMinute[p.GreetingAt.Truncate(time.Minute)]++
				}
				for minute, n := range perMinute {
					require.LessOrEqual(t, n, 15, "%s", minute)
				}
				enrolled, err := rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "enroll"}})
				require.NoError(t, err)
				require.Len(t, enrolled, people)
			})
		}
	}
}

// TestCohortIsCheckedAfterACrash: the process ended between storing a file and
// checking it.
func TestCohortIsCheckedAfterACrash(t *testing.T) {
	h, _ := startWithStore(t, func(cfg *Config) {
		_, err := cfg.Store.Cohorts.CreateCohort(t.Context(), models.Cohort{ID: "coh_1", File: []byte(cohortFile), Region: "US", Zone: "UTC", PerMinute: 1, CreatedAt: testNow})
		require.NoError(t, err)
	})
	require.Eventually(t, func() bool {
		return result[models.Cohort](t, h.do(call{method: "GET", path: cohortsPath + "/coh_1"})).State == models.CohortReady
	}, 20*time.Second, 10*time.Millisecond)
}

func TestGreetingsPerMinute(t *testing.T) {
	for rate, want := range map[float64]int{0: 15, 1: 15, 3: 45, 0.01: 1, 100: 1500} {
		require.Equal(t, want, greetingsPerMinute(rate), "%v segments a second", rate)
	}
}

// newTestCohorts carries imports out in a process of its own.
func newTestCohorts(cfg Config, clock func() time.Time) *cohortRoutes {
	resolver := study.New(study.Config{Studies: cfg.Store.Studies, Logger: cfg.Logger})
	return newCohortRoutes(base{log: cfg.Logger, clock: clock}, cfg, resolver, &numbers{resolver: resolver})
}
