package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func TestWaitingMessages(t *testing.T) {
	h, _ := startWithStore(t, nil)
	path := participantsPath + "/" + h.ann().ID
	put := func(body string) reply { return h.do(call{method: "PUT", path: path, body: body}) }
	waiting := func() []models.WaitingMessage {
		got := h.do(call{method: "GET", path: path + "/waiting"})
		require.Equal(t, http.StatusOK, got.status, got.raw)
		return result[[]models.WaitingMessage](t, got)
	}
	require.Empty(t, waiting())
	put(`{"status":"paused"}`)
	h.text(sid(1), "are you there?")
	require.Equal(t, []models.WaitingMessage{{ID: 1, Text: "are you there?", At: testNow, Channel: wire.ChannelSMS}}, waiting())
	state := result[api.State](t, h.do(call{method: "GET", path: path + "/state"}))
	require.Equal(t, 1, state.Waiting)
	require.Len(t, result[api.ParticipantPage](t, h.do(call{method: "GET", path: participantsPath + "?waiting=true"})).Participants, 1)

	h.refused(call{method: "PUT", path: path, body: `{"waiting_messages":"read"}`}, http.StatusBadRequest, "waiting_messages: only for a participant who is active")
	h.refused(call{method: "PUT", path: path, body: `{"status":"active","waiting_messages":"later"}`}, http.StatusBadRequest, "waiting_messages")
	got := put(`{"status":"active","waiting_messages":"answer"}`)
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Empty(t, waiting())
	last := h.engine.updates[len(h.engine.updates)-1]
	require.Equal(t, wire.UpdateResume, last.UpdateName)
	require.Equal(t, []any{wire.ResumeRequest{Items: []wire.InboxItem{{MessageID: 1, Seq: 1, ReceivedAt: testNow}}}}, last.Args)
	h.refused(call{method: "GET", path: participantsPath + "/conv_x/waiting"}, http.StatusNotFound, "participant not found")
}
