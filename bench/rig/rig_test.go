package rig

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
)

func TestModelHears(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"nothing", `{"messages":[{"role":"system","content":"be kind"}]}`, 0},
		{"one", Body(7, 0), 7},
		{"the highest of several", Body(2, 0) + Body(11, 300) + Body(3, 0), 11},
		{"no digits", "note no way", 0},
		{"too many digits", "note no 99999999999999999999999", 0},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, highestHeard([]byte(c.body))) })
	}
}

func FuzzHeard(f *testing.F) {
	for _, seed := range []string{"", mark, mark + "12", mark + mark + "5", Body(3, 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		n := highestHeard([]byte(body))
		require.GreaterOrEqual(t, n, 0)
		require.Equal(t, max(n, 4), highestHeard([]byte(body+" "+Body(4, 0))))
	})
}

func TestAnswersNameTheTextThatWasHeard(t *testing.T) {
	n, ours := heardIn("Hello! " + heardText(42))
	require.True(t, ours)
	require.Equal(t, 42, n)
	_, ours = heardIn("Sorry, I cannot answer now.")
	require.False(t, ours)
}

func TestBodyHasItsLength(t *testing.T) {
	require.GreaterOrEqual(t, len(Body(1, 1500)), 1500)
	require.Less(t, len(Body(1, 0)), 160)
}

func TestModelAsksForATool(t *testing.T) {
	tools := `,"tools":[{"type":"function"}]}`
	said := func(role, text string) string { return `{"role":"` + role + `","content":"` + text + `"}` }
	wishes := DailyBody(3, "09:30")
	for _, c := range []struct{ name, body, want string }{
		{"wish", `{"messages":[` + said("user", wishes) + `]` + tools, "09:30"},
		{"tools are not offered", `{"messages":[` + said("user", wishes) + `]}`, ""},
		{"answered already", `{"messages":[` + said("user", wishes) + `,` + said("tool", "ok") + `]` + tools, ""},
		{"ordinary text", `{"messages":[` + said("user", Body(1, 0)) + `]` + tools, ""},
		{"garbled", "daily at 09:30", ""},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, requestedTime([]byte(c.body))) })
	}
}

func TestModelHangsUntilReleased(t *testing.T) {
	m := &Model{}
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	release := m.Hang()
	done := make(chan error, 1)
	go func() {
		done <- newPhones().send(context.Background(), server.URL+"/v1/chat/completions", map[string]string{"said": Body(1, 0)}, nil)
	}()
	release()
	release()
	require.NoError(t, <-done)
	require.Equal(t, 1, m.Calls())
}

func TestCarrierTellsWhoWasAnswered(t *testing.T) {
	const ann, ben = "+12125550001", "+12125550002"
	c, err := newCarrier(false)
	require.NoError(t, err)
	server := httptest.NewServer(c.network.Handler())
	defer server.Close()
	send := func(to, body string) {
		acts := &bareActs{outside: server.URL, phones: newPhones()}
		require.NoError(t, acts.Send(t.Context(), bareSend{Phone: to, Body: body}))
	}
	first, third, other := c.Expect(ann, 1), c.Expect(ann, 3), c.Expect(ben, 1)
	send(ann, heardText(2))
	_, err = first.At(t.Context())
	require.NoError(t, err, "a later answer answers earlier texts")
	send(ann, "a fixed text")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = third.At(over)
	require.ErrorIs(t, err, context.Canceled)
	send(ann, heardText(3))
	_, err = third.At(t.Context())
	require.NoError(t, err)
	_, err = other.At(over)
	require.ErrorIs(t, err, context.Canceled, "another phone's text answers no other phone")
	require.Equal(t, 3, c.Taken())
	require.Equal(t, 1, c.Other())
}

func TestPromptAt(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 30, 0, time.UTC)
	slope := Slope{Ahead: 3 * time.Minute, Spread: time.Minute}
	for _, c := range []struct {
		name, body string
		want       time.Time
	}{
		{"today", DailyBody(1, "10:05"), time.Date(2026, 11, 21, 10, 5, 0, 0, time.UTC)},
		{"tomorrow", DailyBody(1, "10:00"), time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)},
		{"no time", DailyBody(1, "99:99"), time.Time{}},
		{"no wish", Body(1, 0), time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := slope.promptAt("+12025550123", c.body, now)
			if c.want.IsZero() {
				require.Zero(t, at)
				return
			}
			require.WithinRange(t, at, c.want.Add(-slope.Ahead), c.want.Add(slope.Spread-slope.Ahead))
			require.Equal(t, at, slope.promptAt("+12025550123", c.body, now))
			require.NotEqual(t, at, slope.promptAt("+12025550124", c.body, now), "people of one minute are spread")
			require.Equal(t, c.want.Add(-time.Minute), Slope{Ahead: time.Minute}.promptAt("+12025550123", c.body, now), "all at one instant")
		})
	}
}

func TestActions(t *testing.T) {
	of := func(kinds ...enums.EventType) []*history.HistoryEvent {
		var events []*history.HistoryEvent
		for _, kind := range kinds {
			events = append(events, &history.HistoryEvent{EventType: kind})
		}
		return events
	}
	marker := func(task int64) *history.HistoryEvent {
		return &history.HistoryEvent{EventType: enums.EVENT_TYPE_MARKER_RECORDED, Attributes: &history.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &history.MarkerRecordedEventAttributes{WorkflowTaskCompletedEventId: task},
		}}
	}
	started := func(attempt int32) *history.HistoryEvent {
		return &history.HistoryEvent{EventType: enums.EVENT_TYPE_ACTIVITY_TASK_STARTED, Attributes: &history.HistoryEvent_ActivityTaskStartedEventAttributes{
			ActivityTaskStartedEventAttributes: &history.ActivityTaskStartedEventAttributes{Attempt: attempt},
		}}
	}
	for _, c := range []struct {
		name string
		in   []*history.HistoryEvent
		want int
	}{
		{"nothing", nil, 0},
		{"tasks are free", of(enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enums.EVENT_TYPE_WORKFLOW_TASK_STARTED, enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED), 0},
		{"start, signal, timer, attributes, update", of(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
			enums.EVENT_TYPE_TIMER_STARTED, enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED), 5},
		{"a child is two", of(enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED), 2},
		{"every attempt of an activity", []*history.HistoryEvent{started(1), started(3)}, 4},
		{"markers of one task are one", []*history.HistoryEvent{marker(4), marker(4), marker(9)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, countActions(c.in)) })
	}
}

func TestBackend(t *testing.T) {
	for _, known := range []Backend{Memory, SQLite, Postgres} {
		require.NoError(t, known.Check())
	}
	require.Error(t, Backend("oracle").Check())
}
