package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func TestChat(t *testing.T) {
	h := start(t, nil)
	path := participantsPath + "/" + h.ann().ID + "/chat"
	post := func(body, key string) call {
		return call{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": key}}
	}
	t.Run("a channel beside SMS", func(t *testing.T) {
		got := h.do(post(`{"body":"hello"}`, "k1"))
		require.Equal(t, http.StatusAccepted, got.status, got.raw)
		require.Equal(t, api.ChatAccepted{ID: 1, Channel: wire.ChannelChat, ReceivedAt: testNow}, result[api.ChatAccepted](t, got))
		require.Eventually(t, func() bool { return len(h.engine.seen()) == 2 }, 5*time.Second, time.Millisecond)
		require.Equal(t, "signal", h.engine.seen()[1])
	})
	t.Run("an equal key is one text", func(t *testing.T) {
		again := result[api.ChatAccepted](t, h.do(post(`{"body":"hello"}`, "k1")))
		require.EqualValues(t, 1, again.ID)
		require.True(t, again.Repeated)
		h.refused(post(`{"body":"another"}`, "k1"), http.StatusConflict, "Idempotency-Key: already used")
		require.Len(t, listRows[models.Inbound](h, "id"), 1)
		require.EqualValues(t, 2, result[api.ChatAccepted](t, h.do(post(`{"body":"hello"}`, ""))).ID, "without a key each is one of its own")
	})
	t.Run("refused", func(t *testing.T) {
		h.refused(post(`{"body":" \n"}`, ""), http.StatusBadRequest, "body: must not be blank")
		h.refused(post(`{"text":"x"}`, ""), http.StatusBadRequest, "body: is required")
		h.refused(call{method: "POST", path: participantsPath + "/nobody/chat", body: `{"body":"x"}`}, http.StatusNotFound, "participant not found")
		h.refused(call{method: "POST", path: path, body: `{"body":"x"}`, header: map[string]string{"Authorization": ""}}, http.StatusUnauthorized, "bearer")
	})
	t.Run("STOP", func(t *testing.T) {
		require.Equal(t, http.StatusAccepted, h.do(post(`{"body":"STOP"}`, "")).status)
		texts := listRows[models.Inbound](h, "id")
		stop := texts[len(texts)-1]
		require.Equal(t, models.IntentStop, stop.Intent)
		require.Equal(t, models.MethodKeyword, stop.IntentMethod)
	})
}
