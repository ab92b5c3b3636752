package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

func TestTakeOverRoutes(t *testing.T) {
	h, rows := startWithStore(t, nil)
	added := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"+12025550123","name":"Ada"}`})
	require.Equal(t, http.StatusCreated, added.status, added.raw)
	id := result[api.Participant](t, added).ID
	path := participantsPath + "/" + id + "/takeover"

	for body, message := range map[string]string{
		`{"until":"2026-11-24T12:59:59Z"}`: "until: must be in the future",
		`{"until":"2026-12-24T13:00:00Z"}`: "at most 7 days",
	} {
		h.refused(call{method: "POST", path: path, body: body}, http.StatusBadRequest, message)
	}
	h.refused(call{method: "DELETE", path: path}, http.StatusNotFound, "a take-over of the participant not found")
	h.refused(call{method: "POST", path: participantsPath + "/conv_0/takeover", body: `{}`}, http.StatusNotFound, "participant not found")

	taken := h.do(call{method: "POST", path: path, body: `{"note":"I call her","reason":"she asked"}`})
	require.Equal(t, http.StatusOK, taken.status, taken.raw)
	require.Equal(t, &api.TakeOver{By: auth.Operator, Since: testNow, Until: testNow.Add(4 * time.Hour)}, result[api.Participant](t, taken).TakenOver)
	page := result[api.ParticipantPage](t, h.do(call{method: "GET", path: participantsPath + "?taken_over=true"}))
	require.Len(t, page.Participants, 1)

	_, err := rows.TakeOvers.TakeOver(t.Context(), models.TakeOver{ParticipantID: id, Until: testNow.Add(time.Hour), Force: true, Actor: "user:bo", Now: testNow})
	require.NoError(t, err)
	h.refused(call{method: "POST", path: path, body: `{}`}, http.StatusConflict, "the conversation is taken over by user:bo")
	forced := h.do(call{method: "POST", path: path, body: `{"force":true}`})
	require.Equal(t, auth.Operator, result[api.Participant](t, forced).TakenOver.By)

	back := h.do(call{method: "DELETE", path: path, body: `{"waiting_messages":"read","note":"all is well"}`})
	require.Equal(t, http.StatusOK, back.status, back.raw)
	require.Nil(t, result[api.Participant](t, back).TakenOver)
	history := result[[]models.HistoryEntry](t, h.do(call{method: "GET", path: participantsPath + "/" + id + "/history"}))
	require.Len(t, history, 2)
	require.Equal(t, []string{"I call her", "all is well"}, []string{history[0].Text, history[1].Text})
	require.Equal(t, models.KindTeamNote, history[0].Kind)
	require.Equal(t, auth.Operator, history[0].By)

	withdrawn := h.do(call{method: "PUT", path: participantsPath + "/" + id, body: `{"status":"withdrawn"}`})
	require.Equal(t, http.StatusOK, withdrawn.status, withdrawn.raw)
	h.refused(call{method: "POST", path: path, body: `{}`}, http.StatusConflict, "the participant is withdrawn")
	h.refused(call{method: "POST", path: alertsPath + "/alarm-0/acknowledge"}, http.StatusNotFound, "alert not found")
}
