package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestA59StrangerGetsOneHint: no participant, one fixed text, and none to whom
// it was said to leave alone.
func TestA59StrangerGetsOneHint(t *testing.T) {
	t.Parallel()
	r := launchIn(t, []string{"COACH_PROGRAMME=Morning Steps"}, "--ephemeral")
	stranger := &person{t: t, number: "+12025550111", r: r}
	refuser := &person{t: t, number: "+12025550112", r: r}
	refuser.text("STOP")
	require.Contains(t, stranger.says("hello, who is this?"), "Morning Steps answers people who are enrolled")
	stranger.text("and now?")
	refuser.text("hello")

	// The hint of another phone, asked for later, comes; theirs does not.
	last := &person{t: t, number: "+12025550113", r: r}
	last.says("hi")
	require.Len(t, stranger.received(), 1)
	require.Empty(t, refuser.received())
	c := dialTemporal(t, r)
	n, err := c.CountWorkflow(t.Context(), countParticipants())
	require.NoError(t, err)
	require.Zero(t, n.GetCount(), "no workflow state for a stranger")
}

// TestTooManyTextsAreSaidOnce: what is above the limit is kept, not answered,
// and the person is told once.
func TestTooManyTextsAreSaidOnce(t *testing.T) {
	t.Parallel()
	r := launchIn(t, []string{"COACH_DEBOUNCE=0", "COACH_TEXTS_PER_DAY=2"}, "--ephemeral")
	p := &person{t: t, number: "+12025550114", r: r}
	require.Equal(t, http.StatusCreated, p.enroll("", "UTC"))
	p.next(soon)
	p.says("hello")
	p.says("my habit is walking")
	require.Contains(t, p.says("are you there?"), "Too many texts at once")
	p.text("still there?")
	require.Contains(t, p.says("HELP"), "automated habit coach", "keywords pass")
	require.Len(t, p.received(), 5)
	require.Eventually(t, func() bool {
		var history struct {
			Result []struct {
				Text, Gate, Delivery string
			} `json:"result"`
		}
		require.Equal(t, http.StatusOK, getJSON(t, p.api("/history"), &history))
		var gated []string
		told := ""
		for _, entry := range history.Result {
			if entry.Gate != "" {
				gated = append(gated, entry.Gate+": "+entry.Text)
			}
			if strings.HasPrefix(entry.Text, "Too many texts") {
				told = entry.Delivery
			}
		}
		return strings.Join(gated, ", ") == "rate_limited: are you there?, rate_limited: still there?" && told == "delivered"
	}, soon, 50*time.Millisecond)
	require.Equal(t, int64(2), p.asks().LastSeq)
}
