package starter

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/trial"
	"coachline/models"
)

const walkSettings = `{"arms":[{"name":"texts","weight":1},{"name":"calls","weight":1}],` +
	`"randomisation":{"method":"blocks","strata":[{"name":"site","levels":["north","south"]}]}}`

// TestAllocationRoutes enrols people with and without their strata, and rebuilds the
// record that the API gives from the seed that it gives.
func TestAllocationRoutes(t *testing.T) {
	h, _ := startWithStore(t, nil)
	added := h.do(call{method: "POST", path: studiesPath, body: `{"id":"walk-1","name":"Walk","settings":` + walkSettings + `}`})
	require.Equal(t, http.StatusCreated, added.status, added.raw)
	h.do(call{method: "PUT", path: studiesPath + "/walk-1", body: `{"state":"recruiting"}`})
	enrol := func(n int, strata string) reply {
		return h.do(call{method: "POST", path: participantsPath, body: fmt.Sprintf(`{"phone_number":"+1212555010%d","study":"walk-1","strata":%s}`, n, strata)})
	}
	for n := range 3 {
		enrolled := enrol(n, `{"site":"north"}`)
		require.Equal(t, http.StatusCreated, enrolled.status, enrolled.raw)
		require.NotContains(t, enrolled.raw, "texts")
		require.NotContains(t, enrolled.raw, "calls")
	}
	require.Equal(t, http.StatusBadRequest, enrol(3, `{"site":"moon"}`).status)
	later := result[api.Participant](t, enrol(4, `{}`))
	path := studiesPath + "/walk-1/allocations"
	body := `{"participant_id":"` + later.ID + `","strata":{"site":"south"}}`
	h.refused(call{method: "POST", path: path, body: `{"participant_id":"` + later.ID + `"}`}, http.StatusBadRequest, "strata: ")
	allocated := h.do(call{method: "POST", path: path, body: body})
	require.Equal(t, http.StatusCreated, allocated.status, allocated.raw)
	require.Equal(t, int64(4), result[api.Allocated](t, allocated).Number)
	h.refused(call{method: "POST", path: path, body: body}, http.StatusConflict, "allocated before")
	h.refused(call{method: "POST", path: path, body: `{"participant_id":"conv_none"}`}, http.StatusNotFound, "")

	first := result[api.AllocationPage](t, h.do(call{method: "GET", path: path + "?limit=3"}))
	require.NotNil(t, first.NextCursor)
	second := result[api.AllocationPage](t, h.do(call{method: "GET", path: path + "?limit=3&cursor=" + *first.NextCursor}))
	require.Nil(t, second.NextCursor)
	check := result[models.AllocationCheck](t, h.do(call{method: "GET", path: path + "/check"}))
	require.True(t, check.OK)
	require.Equal(t, int64(4), check.Rows)

	study := result[api.Study](t, h.do(call{method: "GET", path: studiesPath + "/walk-1"}))
	seed, err := base64.StdEncoding.DecodeString(result[api.StudySeed](t, h.do(call{method: "GET", path: studiesPath + "/walk-1/seed"})).Seed)
	require.NoError(t, err)
	design := trial.Design{StudyID: study.ID, Seed: seed, Arms: study.Settings.Arms, Randomisation: study.Settings.Randomisation}
	rows := append(first.Allocations, second.Allocations...)
	require.Nil(t, trial.Verify(design, rows))
	require.Equal(t, check.Head, rows[3].Hash)
	rows[1].Arm = "other"
	require.Equal(t, int64(2), trial.Verify(design, rows).Number)
	for _, missing := range []string{"/allocations", "/allocations/check", "/seed"} {
		h.refused(call{method: "GET", path: studiesPath + "/none" + missing}, http.StatusNotFound, "study not found")
	}
}
