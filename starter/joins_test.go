package starter

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

// A keyword by text and a form lead to one text each, a YES to the workflow, and the
// answer to a form says nothing about the number.
func TestJoinRoutes(t *testing.T) {
	h, rows := startWithStore(t, nil)
	path := studiesPath + "/sleep-1"
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"sleep-1","name":"Sleep","settings":{"join":[{"keyword":"sleep","locale":"en","about":"Texts about sleep."}]}}`})
	h.refused(call{method: "PUT", path: path, body: `{"state":"recruiting"}`}, http.StatusBadRequest, "join.locale")
	h.do(call{method: "POST", path: path + "/consent-texts", body: `{"locale":"en","body":"You agree to a text a day."}`})
	require.Equal(t, http.StatusOK, h.do(call{method: "PUT", path: path, body: `{"state":"recruiting"}`}).status)

	for n, body := range []string{"Sleep", "YES", "YES"} {
		require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(n+1, hisNumber, body)).status)
	}
	asked := h.do(call{method: "POST", path: path + "/joins", body: `{"phone":"` + herNumber + `","locale":"en","timezone":"Europe/Berlin"}`})
	require.Equal(t, http.StatusAccepted, asked.status, asked.raw)
	began := time.Now()
	known := h.do(call{method: "POST", path: path + "/joins", body: `{"phone":"` + hisNumber + `","locale":"en"}`})
	require.Equal(t, asked.raw, known.raw)
	require.GreaterOrEqual(t, time.Since(began), joinTime, "the time tells nothing of numbers")
	h.refused(call{method: "POST", path: path + "/joins", body: `{"phone":"` + herNumber + `","locale":"es"}`}, http.StatusBadRequest, "locale")
	h.refused(call{method: "POST", path: path + "/joins", body: `{"phone":"` + herNumber + `","locale":"en","timezone":"Mars/Base"}`}, http.StatusBadRequest, "timezone")
	h.refused(call{method: "GET", path: studiesPath + "/none/joins"}, http.StatusNotFound, "study not found")

	got := h.do(call{method: "GET", path: path + "/joins"})
	require.NotContains(t, got.raw, herNumber)
	list := result[api.JoinList](t, got)
	require.Equal(t, int64(1), list.Counts["enrolled"])
	require.Equal(t, int64(1), list.Counts["pending"])
	require.Len(t, list.Joins, 2)
	// Both were asked for at one instant, so either is the newest.
	enrolled := slices.IndexFunc(list.Joins, func(join models.Join) bool { return join.Method == models.MethodKeyword })
	require.GreaterOrEqual(t, enrolled, 0)
	require.Equal(t, models.JoinEnrolled, list.Joins[enrolled].State)
	h.stop()
	_, notices, err := rows.Notices.Untold(t.Context(), list.Joins[enrolled].ParticipantID)
	require.NoError(t, err)
	require.Empty(t, notices, "the workflow was started")
}
