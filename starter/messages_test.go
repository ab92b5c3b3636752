package starter

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func TestHistory(t *testing.T) {
	h := start(t, nil)
	id := h.ann().ID
	path := participantsPath + "/" + id + "/history"
	require.Equal(t, "[]", string(h.do(call{method: "GET", path: path}).body.Result))
	h.addRows(
		&models.Outbox{ID: "conv_1-t1-p1", ParticipantID: id, Body: "Hi", Status: wire.OutboxUndelivered, ErrorCode: "21614", CreatedAt: testNow},
		&models.Message{ParticipantID: id, Key: "1", Role: models.RoleAssistant, Kind: models.KindGreeting, Text: "Hi", At: testNow, OutboxID: "conv_1-t1-p1", TurnID: "conv_1-t1"},
		&models.Message{ParticipantID: id, Key: "2", Role: models.RoleUser, Kind: models.KindMessage, Text: "Hello", At: testNow.Add(time.Minute), Channel: wire.ChannelChat},
	)
	all := h.do(call{method: "GET", path: path})
	require.JSONEq(t, `[{"role":"assistant","kind":"greeting","text":"Hi","at":"2026-11-24T13:00:00Z","channel":"sms","delivery":"undelivered",
		"error_code":"21614","error_meaning":"the number is not a mobile number","error_next_step":"Ask the person by another way for the right number, and change it here.","turn_id":"conv_1-t1"},
		{"role":"user","kind":"message","text":"Hello","at":"2026-11-24T13:01:00Z","channel":"chat"}]`, string(all.body.Result))
	newer := result[[]models.HistoryEntry](t, h.do(call{method: "GET", path: path + "?after=2026-11-24T13:00:00Z"}))
	require.Equal(t, []models.HistoryEntry{{Role: models.RoleUser, Kind: models.KindMessage, Text: "Hello", At: testNow.Add(time.Minute), Channel: wire.ChannelChat}}, newer)
	h.refused(call{method: "GET", path: path + "?after=2026-11-24T13:00:00Z&before=2026-11-24T13:00:00Z"}, http.StatusBadRequest, "not together")
	h.refused(call{method: "GET", path: participantsPath + "/nobody/history?after=2026-11-24T13:00:00Z"}, http.StatusNotFound, "participant not found")
	require.Len(t, result[[]models.HistoryEntry](t, h.do(call{method: "GET", path: path + "?limit=1"})), 1)
	older := h.do(call{method: "GET", path: path + "?before=" + url.QueryEscape("2026-11-24T14:00:30+01:00")})
	require.Equal(t, "Hi", result[[]models.HistoryEntry](t, older)[0].Text)
	h.refused(call{method: "GET", path: path + "?before=yesterday"}, http.StatusBadRequest, "before: ")
	h.refused(call{method: "GET", path: path + "?limit=501"}, http.StatusBadRequest, "limit: must be at most 500")
}

func TestMessages(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	path := participantsPath + "/" + ann.ID + "/messages"
	send := func(body, key string) call {
		return call{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": key}}
	}
	first := h.do(send(`{"body":"See you"}`, "k1"))
	require.Equal(t, http.StatusAccepted, first.status, first.raw)
	queued := result[api.QueuedMessage](t, first)
	require.Equal(t, wire.OutboxReady, queued.Status)
	require.Equal(t, http.StatusOK, h.do(send(`{"body":"See you"}`, "k1")).status)
	h.refused(send(`{"body":"Other"}`, "k1"), http.StatusConflict, "Idempotency-Key")
	require.Equal(t, []string{"start", "update:SendMessage"}, h.engine.seen())
	require.Equal(t, []any{wire.SendMessageRequest{OutboxID: queued.ID}}, h.engine.updates[0].Args)

	require.Equal(t, http.StatusAccepted, h.do(send(`{"body":"A"}`, "")).status)
	require.Equal(t, http.StatusAccepted, h.do(send(`{"body":"A"}`, "")).status)
	for _, status := range []int{http.StatusAccepted, http.StatusOK} {
		require.Equal(t, status, h.do(send(`{"body":"It’s 8–9"}`, "k2")).status, "the key finds what was stored")
	}
	texts := listRows[models.Outbox](h, "created_at, part, id")
	require.True(t, slices.ContainsFunc(texts, func(o models.Outbox) bool { return o.Body == "It's 8-9" }), "GSM-7 is cheaper")
	h.refused(send(`{"body":""}`, ""), http.StatusBadRequest, "body: must not be empty")
	h.refused(send(`{"body":" \n"}`, ""), http.StatusBadRequest, "body: must not be blank")
	h.refused(send(`{"body":"`+strings.Repeat("x", 1601)+`"}`, ""), http.StatusBadRequest, "body: must have at most 1600")
	h.refused(send(`{"text":"A"}`, ""), http.StatusBadRequest, "body: is required")

	h.change(ann.ID, map[string]any{"status": wire.StatusOptedOut})
	h.refused(send(`{"body":"A"}`, ""), http.StatusConflict, "opted out")
}
