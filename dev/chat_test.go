package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChat is a conversation on two channels, through the whole system.
func TestChat(t *testing.T) {
	t.Parallel()
	r := launchIn(t, []string{"COACH_DEBOUNCE=0"}, "--ephemeral")
	p := &person{t: t, number: "+12025550131", r: r}
	require.Equal(t, http.StatusCreated, p.enroll("Ada", "UTC"))
	p.next(soon)
	t.Run("a channel beside SMS", func(t *testing.T) {
		resp, err := http.Post(p.api("/chat"), "application/json", strings.NewReader(`{"body":"my habit is walking"}`))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusAccepted, resp.StatusCode)
		require.Eventually(t, func() bool {
			var history struct {
				Result []struct{ Role, Channel, Delivery string } `json:"result"`
			}
			require.Equal(t, http.StatusOK, getJSON(t, p.api("/history"), &history))
			last := history.Result[len(history.Result)-1]
			return last.Role == "assistant" && last.Channel == "chat" && last.Delivery == "delivered"
		}, soon, 50*time.Millisecond)
		require.Len(t, p.received(), 1, "the phone shows the greeting only")
	})
	t.Run("last channel of a person", func(t *testing.T) {
		var state struct {
			Result struct {
				LastChannel string         `json:"last_channel"`
				Profile     map[string]any `json:"profile"`
			} `json:"result"`
		}
		require.Equal(t, http.StatusOK, getJSON(t, p.api("/state"), &state))
		require.Equal(t, "chat", state.Result.LastChannel)
		require.Empty(t, state.Result.Profile["habit_domain"], "the chat changes nothing")
	})
	require.NotEmpty(t, p.says("hello again"), "by SMS as before")
	require.Len(t, p.received(), 2)
}
