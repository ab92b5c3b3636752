package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

func TestStudyRoutes(t *testing.T) {
	h, _ := startWithStore(t, nil)
	added := h.do(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Sleep","planned":50,"settings":{"programme":"Sleep well","require_consent":true}}`})
	require.Equal(t, http.StatusCreated, added.status, added.raw)
	require.Equal(t, "/studies/sleep-1", added.header.Get("Location"))
	require.Equal(t, `"1"`, added.header.Get("ETag"))
	study := result[api.Study](t, added)
	require.Equal(t, models.StudyDraft, study.State)
	require.True(t, study.Settings.RequireConsent)
	require.NotContains(t, added.raw, "seed")

	h.refused(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Again"}`}, http.StatusConflict, "id: is taken")
	h.refused(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"state":"running"}`}, http.StatusBadRequest, "state: cannot be running after draft")
	h.refused(call{method: "PUT", path: studiesPath + "/none", body: `{"name":"X"}`}, http.StatusNotFound, "study not found")
	h.refused(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"name":"X"}`, header: map[string]string{"If-Match": `"7"`}}, http.StatusPreconditionFailed, "")
	for settings, field := range map[string]string{
		`{"from":"5017122661"}`:                                                       "settings.from",
		`{"locales":["tlh"]}`:                                                         "settings.locales[0]",
		`{"arms":[{"name":"a","weight":1}]}`:                                          "arms",
		`{"arms":[{"name":"a","weight":1},{"name":"b","weight":1}]}`:                  "randomisation.method",
		`{"decision_points":{"policy":"p","options":[{"name":"a","probability":1}]}}`: "decision_points.options",
	} {
		h.refused(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"settings":` + settings + `}`}, http.StatusBadRequest, field)
	}
	changed := h.do(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"state":"recruiting"}`, header: map[string]string{"If-Match": `"1"`}})
	require.Equal(t, http.StatusOK, changed.status, changed.raw)
	require.Equal(t, int64(2), result[api.Study](t, changed).Version)
	require.Len(t, result[api.StudyList](t, h.do(call{method: "GET", path: studiesPath})).Studies, 2)
}

func TestStudyConsentRoutes(t *testing.T) {
	h, rows := startWithStore(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Sleep","settings":{"require_consent":true}}`})
	h.do(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"state":"recruiting"}`})
	text := h.do(call{method: "POST", path: studiesPath + "/sleep-1/consent-texts", body: `{"locale":"en","body":"You agree to a text a day."}`})
	require.Equal(t, http.StatusCreated, text.status, text.raw)
	require.Equal(t, 1, result[models.ConsentText](t, text).Version)
	require.Len(t, result[api.ConsentTextList](t, h.do(call{method: "GET", path: studiesPath + "/sleep-1/consent-texts"})).Texts, 1)

	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + herNumber + `","study":"sleep-1"}`}, http.StatusBadRequest, "consent: must say")
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + herNumber + `","study":"none"}`}, http.StatusBadRequest, `study: no study "none"`)
	enrolled := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"` + herNumber + `","study":"sleep-1","consent":{"version":1,"locale":"en","method":"form"}}`})
	require.Equal(t, http.StatusCreated, enrolled.status, enrolled.raw)
	person := result[api.Participant](t, enrolled)
	require.Equal(t, "sleep-1", person.Study)

	path := participantsPath + "/" + person.ID + "/study-consents"
	h.refused(call{method: "POST", path: path, body: `{"given":true,"version":2,"locale":"en"}`}, http.StatusBadRequest, "consent.version")
	h.refused(call{method: "POST", path: path, body: `{"given":false,"version":1}`}, http.StatusBadRequest, "version")
	withdrawn := h.do(call{method: "POST", path: path, body: `{"given":false}`})
	require.Equal(t, http.StatusCreated, withdrawn.status, withdrawn.raw)
	given := result[api.StudyConsentList](t, h.do(call{method: "GET", path: path})).Consents
	require.Len(t, given, 2)
	require.Equal(t, models.MethodForm, given[0].Method)
	require.False(t, given[1].Given)
	_, err := rows.People.Participant(t.Context(), person.ID)
	require.ErrorIs(t, err, models.ErrNotFound)
}

// People of a file join the study that it is for, with what they agreed to.
func TestCohortJoinsItsStudy(t *testing.T) {
	h, rows := startWithStore(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Sleep","settings":{"require_consent":true,"quiet_hours":"08:00-20:00"}}`})
	file := "phone_number,consent_version,consent_date\n+12125550101,1,2026-11-20\n+12125550102,,\n+12125550103,1,\n"
	upload := call{method: "POST", path: cohortsPath + "?study=sleep-1&skip_faulty=true", body: file, header: map[string]string{"Content-Type": "text/csv"}}
	h.refused(upload, http.StatusBadRequest, "study: does not take people in: it is draft")
	h.do(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"state":"recruiting"}`})
	h.do(call{method: "POST", path: studiesPath + "/sleep-1/consent-texts", body: `{"locale":"en","body":"You agree."}`})

	checked := h.do(upload)
	require.Equal(t, http.StatusCreated, checked.status, checked.raw)
	job := result[models.Cohort](t, checked)
	require.Equal(t, 2, job.Good)
	require.Equal(t, 1, job.FaultCount)
	require.Equal(t, 3, job.Faults[0].Line)
	require.Equal(t, "consent_version", job.Faults[0].Field)

	h.do(call{method: "POST", path: cohortsPath + "/" + job.ID + "/confirm"})
	require.Eventually(t, func() bool {
		job = result[models.Cohort](t, h.do(call{method: "GET", path: cohortsPath + "/" + job.ID}))
		return job.State == models.CohortDone
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, 2, job.Enrolled)
	people, err := rows.People.Participants(t.Context(), models.ParticipantQuery{})
	require.NoError(t, err)
	require.Len(t, people, 2)
	for _, p := range people {
		require.Equal(t, "sleep-1", p.StudyID)
		zone, err := time.LoadLocation(p.Timezone)
		require.NoError(t, err)
		require.GreaterOrEqual(t, p.GreetingAt.In(zone).Hour(), 20, "outside the quiet hours of the study")
		consents, err := rows.Studies.StudyConsents(t.Context(), p.ID)
		require.NoError(t, err)
		require.Len(t, consents, 1)
		require.Equal(t, models.MethodForm, consents[0].Method)
	}
}

// TestCohortIsAllocated: the levels of strata stand in the file.
func TestCohortIsAllocated(t *testing.T) {
	h, rows := startWithStore(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Sleep","settings":{"arms":[{"name":"a","weight":1},{"name":"b","weight":1}],
		"randomisation":{"method":"blocks","strata":[{"name":"site","levels":["north","south"]}]}}}`})
	h.do(call{method: "PUT", path: studiesPath + "/sleep-1", body: `{"state":"recruiting"}`})
	file := "phone_number,stratum:site\n+12125550101,north\n+12125550102,west\n+12125550103,\n+12125550104,south\n"
	checked := h.do(call{method: "POST", path: cohortsPath + "?study=sleep-1&skip_faulty=true", body: file, header: map[string]string{"Content-Type": "text/csv"}})
	require.Equal(t, http.StatusCreated, checked.status, checked.raw)
	job := result[models.Cohort](t, checked)
	require.Len(t, job.Faults, 1)
	require.Equal(t, "strata.site", job.Faults[0].Field)
	require.Equal(t, 3, job.Faults[0].Line)
	h.do(call{method: "POST", path: cohortsPath + "/" + job.ID + "/confirm"})
	require.Eventually(t, func() bool {
		job = result[models.Cohort](t, h.do(call{method: "GET", path: cohortsPath + "/" + job.ID}))
		return job.State == models.CohortDone
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, 3, job.Enrolled)
	drawn, err := rows.Allocations.List(t.Context(), "sleep-1", 0, 10)
	require.NoError(t, err)
	require.Len(t, drawn, 2, "the third waits for their site")
	check, err := rows.Allocations.CheckAllocations(t.Context(), "sleep-1")
	require.NoError(t, err)
	require.Empty(t, check.Problem)
}
