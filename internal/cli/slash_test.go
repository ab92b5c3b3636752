package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// chatAPI takes texts on the chat and knows a state.
type chatAPI struct{ coach }

func (c *chatAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /conversation/participants/conv_1/chat":
		if r.Header.Get("Idempotency-Key") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.say(models.RoleUser, models.KindMessage, "chat")
		c.say(models.RoleAssistant, models.KindReply, "In the chat")
		_, _ = w.Write([]byte(`{"status":"ok","result":{"id":1}}`))
	case "GET /conversation/participants/conv_1/state":
		_, _ = w.Write([]byte(`{"status":"ok","result":{"mode":"INTAKE","status":"active","last_channel":"chat"}}`))
	case "GET /conversation/participants/conv_1":
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"status":"error","message":"participant not found"}`))
	default:
		c.coach.ServeHTTP(w, r)
	}
}

func TestChatOnTheAPI(t *testing.T) {
	onChat := func(_ *program, cfg *chatConfig) { cfg.Channel = wire.ChannelChat }
	t.Run("a text", func(t *testing.T) {
		c := &chatAPI{}
		out, err := chatWith(t, c, "hello\n", onChat)
		require.NoError(t, err)
		require.Equal(t, "coach (greeting):\n    Hi!\ncoach (reply):\n    In the chat\n", out)
		require.Empty(t, c.texts, "nothing goes through the phone network")
	})
	for _, tt := range []struct{ name, in, want string }{
		{"/timers", "/timers", "last channel  chat"},
		{"/history", "/history", "assistant  greeting"},
		{"what the API refuses is said", "/state", "/state: participant not found (HTTP 404)"},
		{"unknown", "/dance", "/timers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &chatAPI{}
			out, err := chatWith(t, c, tt.in+"\n", nil)
			require.NoError(t, err)
			require.Contains(t, out, tt.want)
			require.Empty(t, c.texts, "no command reaches the coach")
		})
	}
	t.Run("/quit", func(t *testing.T) {
		c := &chatAPI{coach{mute: true}}
		_, err := chatWith(t, c, strings.Repeat("hello\n", 2)+"/quit\nnever said\n", nil)
		require.NoError(t, err, "without waiting for an answer")
		require.Len(t, c.texts, 2)
	})
}
