package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
)

// A pause has an end where one is given; it is shown, moved and taken away, and
// goes with the pause.
func TestPauseUntilRoutes(t *testing.T) {
	h, _ := startWithStore(t, nil)
	id := h.enrol(`{"phone_number":"+12025550123","name":"Ada","timezone":"America/New_York"}`).ID
	path := participantsPath + "/" + id
	for body, message := range map[string]string{
		`{"status":"paused","paused_until":"2026-11-24T12:59:59Z"}`: "paused_until: must be in the future and at most 366 days away",
		`{"status":"paused","paused_until":"2028-11-24T12:59:59Z"}`: "paused_until: must be in the future and at most 366 days away",
		`{"status":"paused","paused_until":"Friday"}`:               "paused_until: must be an instant such as",
		`{"paused_until":"2026-11-25T13:00:00Z"}`:                   "paused_until: only for a participant who is paused",
		`{"status":"active","paused_until":"2026-11-25T13:00:00Z"}`: "paused_until: only for a participant who is paused",
	} {
		h.refused(call{method: "PUT", path: path, body: body}, http.StatusBadRequest, message)
	}
	change := func(body string) api.Participant {
		t.Helper()
		got := h.do(call{method: "PUT", path: path, body: body})
		require.Equal(t, http.StatusOK, got.status, got.raw)
		return result[api.Participant](t, got)
	}
	until, later := testNow.Add(24*time.Hour), testNow.Add(48*time.Hour)
	require.Equal(t, &until, change(`{"status":"paused","paused_until":"2026-11-25T13:00:00Z"}`).PausedUntil)
	require.Equal(t, &until, change(`{"name":"Ada Q"}`).PausedUntil, "another change leaves it")
	require.Equal(t, &later, change(`{"paused_until":"2026-11-26T08:00:00-05:00"}`).PausedUntil)

	agenda := result[api.Agenda](t, h.do(call{method: "GET", path: "/agenda?until=2026-12-01T00:00:00Z"}))
	require.Equal(t, []api.PlannedResumption{{ParticipantID: id, Name: "Ada Q", At: later, Timezone: "America/New_York"}}, agenda.Resumptions)
	for _, query := range []string{"", "?participant_id=another&until=2026-12-01T00:00:00Z", "?study=another&until=2026-12-01T00:00:00Z"} {
		require.Empty(t, result[api.Agenda](t, h.do(call{method: "GET", path: "/agenda" + query})).Resumptions, query)
	}
	require.Nil(t, change(`{"status":"active"}`).PausedUntil)
	require.Nil(t, change(`{"status":"paused"}`).PausedUntil)
}
