package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/eval/cases"
	"coachline/internal/config"
	"coachline/internal/sim/twilio"
	"coachline/models"
)

func newDriver(t *testing.T, column Setup) *Driver {
	t.Helper()
	return newDriverBehind(t, column, func(script http.Handler) http.Handler { return script })
}

// newDriverBehind returns a driver whose model stands behind something.
func newDriverBehind(t *testing.T, column Setup, wrap func(http.Handler) http.Handler) *Driver {
	t.Helper()
	script, err := twilio.New(twilio.Config{AccountSID: "ACe0000000000000000000000000000000", AuthToken: "eval", From: "+15005550006"})
	require.NoError(t, err)
	server := httptest.NewServer(wrap(script.Handler()))
	t.Cleanup(func() { server.Close(); require.NoError(t, script.Close()) })
	settings, err := config.Load(nil, config.Defaults{"OPENAI_API_KEY": "script", "OPENAI_BASE_URL": server.URL + "/v1"})
	require.NoError(t, err)
	d, err := New(Config{Column: column, Settings: settings})
	require.NoError(t, err)
	return d
}

func parsed(t *testing.T, steps string) cases.Case {
	t.Helper()
	c, err := cases.Parse([]byte(`
shows: [A1]
about: one line
clock: 2026-03-02 07:30
person:
  name: Ada
  zone: America/New_York
  profile: {habit_domain: a walk, motivational_frame: energy, preferred_time: "08:00", prompt_anchor: after coffee}
  facts: [{kind: constraint, text: Their knee hurts., days_ago: 3}]
  schedules: ["08:00", "19:00-20:00"]
steps:
` + steps))
	require.NoError(t, err)
	return c
}

// TestPlayRecordsWhatHappened: texts, calls, kinds, stored rows and costs are
// those of the step, and time passes as the case says.
func TestPlayRecordsWhatHappened(t *testing.T) {
	t.Parallel()
	d := newDriver(t, Setup{Model: "script"})
	steps, err := d.Play(t.Context(), parsed(t, `
  - text: list my schedules
  - wait: 21m
  - wait: 240h
    text: I have two kids
`))
	require.NoError(t, err)
	require.Len(t, steps, 3)

	first := steps[0]
	require.Equal(t, "scheduler", first.Calls[0].Tool)
	require.Equal(t, map[string]any{"action": "list"}, first.Calls[0].Args)
	require.False(t, first.Calls[0].Failed)
	require.Contains(t, first.Reply(), "08:00")
	require.Equal(t, []string{"08:00", "19:00-20:00"}, first.After.Schedules)
	require.Equal(t, []string{"Their knee hurts."}, first.After.Facts)
	require.Equal(t, "a walk", first.After.Profile["habit_domain"])
	require.GreaterOrEqual(t, first.Cost.Calls, 2)
	require.Len(t, first.Requests, first.Cost.Calls)
	require.Contains(t, fmt.Sprint(first.Requests[0].Messages), "2026-03-02 07:30")

	require.Equal(t, models.KindPrompt, steps[1].Sent[0].Kind, "the daily prompt of 8 o'clock")
	require.Equal(t, "1", steps[1].After.Profile["total_prompts"])

	last := steps[2]
	require.Positive(t, last.Cost.Background, "the memory step, and the notes of the days before")
	require.Less(t, last.Cost.Background, last.Cost.Calls)
	require.Contains(t, last.After.Facts, "They have two kids.")
	require.NotContains(t, last.Before.Facts, "They have two kids.")
	require.Contains(t, fmt.Sprint(last.Requests[0].Messages), "Local time: Thursday 2026-03-12")
	require.Positive(t, last.Cost.Prefix)
	require.Less(t, last.Cost.Prefix, last.Cost.Prompt)
	for _, sent := range last.Sent {
		require.Equal(t, models.KindReply, sent.Kind, "what went out in the ten days belongs to no step")
	}
}

// What a busy model could not read after one step is read after the next.
func TestBusyModelRemembersLater(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	d := newDriverBehind(t, Setup{Model: "script"}, func(script http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil && bytes.Contains(body, []byte("has come to rest")) && refused.Add(1) == 1 {
				http.Error(w, `{"error":{"message":"busy"}}`, http.StatusServiceUnavailable)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			script.ServeHTTP(w, r)
		})
	})
	steps, err := d.Play(t.Context(), parsed(t, `
  - text: I have two kids
  - wait: 2h
    text: done
`))
	require.NoError(t, err)
	require.NotContains(t, steps[0].After.Facts, "They have two kids.")
	require.Contains(t, steps[1].After.Facts, "They have two kids.")
}

// TestProtocols: the column's protocol is the one that is used.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in     models.Protocol
		native bool
	}{{"", true}, {models.ProtocolNative, true}, {models.ProtocolText, false}, {models.ProtocolTwoPhase, false}} {
		t.Run("J63 "+string(tc.in), func(t *testing.T) {
			t.Parallel()
			steps, err := newDriver(t, Setup{Model: "script", Protocol: tc.in}).Play(t.Context(), parsed(t, "  - text: list my schedules\n"))
			require.NoError(t, err)
			offered := 0
			for _, request := range steps[0].Requests {
				offered += len(request.Tools)
			}
			require.Equal(t, tc.native, offered > 0)
			require.Equal(t, "scheduler", steps[0].Calls[0].Tool)
		})
	}
}

// TestATextThatNeverReachesTheCoachIsADefectOfTheCase: STOP and its like are
// answered by rules, and no model is judged by them.
func TestATextThatNeverReachesTheCoachIsADefectOfTheCase(t *testing.T) {
	t.Parallel()
	_, err := newDriver(t, Setup{Model: "script"}).Play(t.Context(), parsed(t, "  - text: hello\n  - text: STOP\n"))
	require.ErrorContains(t, err, `rules answer "STOP", and no model is asked (stop)`)
}

func TestAnEndedContextEndsThePlay(t *testing.T) {
	t.Parallel()
	d := newDriver(t, Setup{Model: "script"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Play(ctx, parsed(t, "  - text: hello\n"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestNewRefusesPromptsThatAreNotThere(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Column: Setup{Model: "script", PromptsDir: "missing"}})
	require.ErrorContains(t, err, "loading prompts")
}
