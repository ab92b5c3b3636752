package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

const daily = `{"id":"s1","type":"fixed","at":"12:00","timezone":"America/New_York","next_at":"2026-11-30T17:00:00Z","target_at":"2026-11-30T17:00:00Z"}`

const ann = `{"id":"conv_0a1b","phone_number":"+15558675310","name":"Ann\u001b[31m","gender":"","ethnicity":"",
	"background":"Two\nlines","timezone":"America/New_York","timezone_assumed":true,"locale":"","channel":"sms",
	"status":"active","mode":"INTAKE","tester":false,"debug":false,"enrolled_at":"2026-11-24T13:00:00Z",
	"created_at":"2026-11-24T13:00:00Z","updated_at":"2026-11-24T13:00:00Z","version":3}`

const stateJSON = `{"mode":"FEEDBACK","status":"active","profile":{},"counters":{"success_count":2,"total_prompts":5},
	"schedules":[{"id":"s1","type":"fixed","at":"08:00","timezone":"Europe/Berlin","next_at":"2026-11-25T06:50:00Z"},
		{"id":"s2","type":"random","from":"18:00","to":"20:00","timezone":"Europe/Berlin","next_at":"2026-11-25T17:20:00Z"}],
	"due":[{"kind":"daily_prompt","at":"2026-11-25T06:50:00Z","ref":"s1"},{"kind":"reminder","at":"2026-11-24T18:00:00Z","ref":"p1"}],
	"pending_prompt":{"prompt_id":"p1","sent_at":"2026-11-24T13:00:00Z"},"version":3}`

const historyJSON = `[{"role":"assistant","kind":"greeting","text":"Hi Ann!\nI am your coach.","at":"2026-11-24T13:00:02Z","delivery":"delivered","turn_id":"conv_0a1b-t1"},
	{"role":"user","kind":"message","text":"Hello","at":"2026-11-24T13:01:00Z"},
	{"role":"user","kind":"message","text":"i want to die","at":"2026-11-24T13:02:00Z","danger":"self_harm"}]`

// fakeAPI answers "METHOD path" with a result and keeps what it was asked.
type fakeAPI struct {
	*httptest.Server
	results map[string]string
	bodies  []string
	asked   []*http.Request
}

func newFakeAPI(t *testing.T, results map[string]string) *fakeAPI {
	t.Helper()
	server := &fakeAPI{results: results}
	server.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		server.bodies, server.asked = append(server.bodies, string(body)), append(server.asked, r)
		result, ok := server.results[r.Method+" "+r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"status":"error","message":"participant not found"}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":"ok","message":"Done","result":` + result + `}`))
	}))
	t.Cleanup(server.Close)
	return server
}

func (a *fakeAPI) client(t *testing.T) *Client {
	t.Helper()
	client, err := NewClient(a.URL+"/", "secret")
	require.NoError(t, err)
	return client
}

func TestVerbs(t *testing.T) {
	const path = "/conversation/participants"
	name := "Anna"
	for _, tc := range []struct {
		name, call, result string
		do                 func(context.Context, *Commands) error
		body, header       string // sent body, and If-Match or Idempotency-Key
	}{
		{name: "add", call: "POST " + path, result: ann,
			do: func(ctx context.Context, c *Commands) error {
				return c.Add(ctx, api.NewParticipant{Phone: "+15558675310"})
			},
			body: `{"phone_number":"+15558675310"}`},
		{name: "show", call: "GET " + path + "/conv_0a1b", result: ann,
			do: func(ctx context.Context, c *Commands) error { return c.Show(ctx, "conv_0a1b") }},
		{name: "show-unreachable", call: "GET " + path + "/conv_0a1b",
			result: strings.Replace(ann, "{", `{"unreachable_at":"2026-03-02T09:00:00Z","unreachable_code":"21614",`, 1),
			do:     func(ctx context.Context, c *Commands) error { return c.Show(ctx, "conv_0a1b") }},
		{name: "show-attention", call: "GET " + path + "/conv_0a1b",
			result: strings.Replace(ann, "{", `{"attention":"crisis","attention_at":"2026-03-02T09:00:00Z",`, 1),
			do:     func(ctx context.Context, c *Commands) error { return c.Show(ctx, "conv_0a1b") }},
		{name: "attend", call: "POST " + path + "/conv_0a1b/attention", result: `{"id":"conv_0a1b","attention":"","version":4}`,
			do:   func(ctx context.Context, c *Commands) error { return c.ClearAttention(ctx, "conv_0a1b", "called") },
			body: `{"clear":true,"note":"called"}`},
		{name: "attention", call: "GET /attention", result: `{"attention":[{"participant_id":"conv_0a1b","name":"Ann","kind":"send","since":"2026-03-02T09:00:00Z","ref":"conv_0a1b-t3-p1","code":"30007"}],"next_cursor":null}`,
			do: func(ctx context.Context, c *Commands) error { return c.ListAttention(ctx, models.AttentionSend) }},
		{name: "delivery", call: "GET /delivery", result: `{"days":[{"day":"2026-03-02","in":0,"out":3,"segments":4,"uncounted":0,"delivered":2,"failed":1}],` +
			`"senders":[{"sender":"","out":1,"segments":1,"delivered":0,"failed":0},{"sender":"+12025550100","out":3,"segments":4,"delivered":2,"failed":1}],` +
			`"failures":[{"code":"30007","meaning":"filtered by the carrier","next_step":"Ask the carrier.","texts":1}],` +
			`"prompts":{"prompts":2,"median_seconds":1.5,"p95_seconds":600,"late":1},"unknown":{"texts":0}}`,
			do: func(ctx context.Context, c *Commands) error { return c.Delivery(ctx, 7, "+12025550100") }},
		{name: "delivery-none", call: "GET /delivery", result: `{"days":[],"senders":[],"failures":[],"prompts":{"prompts":0},"unknown":{"texts":0}}`,
			do: func(ctx context.Context, c *Commands) error { return c.Delivery(ctx, 1, "") }},
		{name: "attention-none", call: "GET /attention", result: `{"attention":[],"next_cursor":null}`,
			do: func(ctx context.Context, c *Commands) error { return c.ListAttention(ctx, "") }},
		{name: "list", call: "GET " + path, result: `{"participants":[` + ann + `],"next_cursor":null}`,
			do: func(ctx context.Context, c *Commands) error {
				return c.List(ctx, Filter{Status: models.StatusActive, Attention: models.AttentionCrisis})
			}},
		{name: "list-empty", call: "GET " + path, result: `{"participants":[],"next_cursor":null}`,
			do: func(ctx context.Context, c *Commands) error { return c.List(ctx, Filter{}) }},
		{name: "update", call: "PUT " + path + "/conv_0a1b", result: ann,
			do: func(ctx context.Context, c *Commands) error {
				return c.Update(ctx, "conv_0a1b", api.ParticipantChange{Name: &name}, 3)
			},
			body: `{"name":"Anna"}`, header: `"3"`},
		{name: "pause", call: "PUT " + path + "/conv_0a1b", result: ann,
			do: func(ctx context.Context, c *Commands) error {
				return c.Pause(ctx, "conv_0a1b", nil)
			},
			body: `{"status":"paused"}`},
		{name: "schedule-list", call: "GET " + path + "/conv_0a1b/schedules", result: "[" + daily + "]",
			do: func(ctx context.Context, c *Commands) error { return c.ListSchedules(ctx, "conv_0a1b") }},
		{name: "schedule-none", call: "GET " + path + "/conv_0a1b/schedules", result: "[]",
			do: func(ctx context.Context, c *Commands) error { return c.ListSchedules(ctx, "conv_0a1b") }},
		{name: "schedule-add", call: "POST " + path + "/conv_0a1b/schedules", result: daily,
			do: func(ctx context.Context, c *Commands) error {
				return c.AddSchedule(ctx, "conv_0a1b", api.NewSchedule{Type: models.ScheduleFixed, At: "12:00"})
			},
			body: `{"type":"fixed","at":"12:00"}`},
		{name: "schedule-change", call: "PUT " + path + "/conv_0a1b/schedules/s1", result: daily,
			do: func(ctx context.Context, c *Commands) error {
				return c.ReplaceSchedule(ctx, "conv_0a1b", "s1", api.NewSchedule{Type: models.ScheduleFixed, At: "12:00", DryRun: true})
			},
			body: `{"type":"fixed","at":"12:00","dry_run":true}`},
		{name: "schedule-move", call: "POST " + path + "/conv_0a1b/schedules/s1/move", result: daily,
			do: func(ctx context.Context, c *Commands) error {
				return c.MovePrompt(ctx, "conv_0a1b", "s1", api.PromptMove{To: time.Date(2026, 11, 30, 17, 0, 0, 0, time.UTC)})
			},
			body: `{"to":"2026-11-30T17:00:00Z"}`},
		{name: "schedule-remove", call: "DELETE " + path + "/conv_0a1b/schedules/s1", result: daily,
			do: func(ctx context.Context, c *Commands) error { return c.RemoveSchedule(ctx, "conv_0a1b", "s1") }},
		{name: "pause-until", call: "PUT " + path + "/conv_0a1b", result: strings.Replace(ann, `"status":"active"`, `"status":"paused","paused_until":"2026-11-30T09:00:00Z"`, 1),
			do: func(ctx context.Context, c *Commands) error {
				until := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
				return c.Pause(ctx, "conv_0a1b", &until)
			},
			body: `{"status":"paused","paused_until":"2026-11-30T09:00:00Z"}`},
		{name: "mode", call: "POST " + path + "/conv_0a1b/mode", result: `{"target_state":"FEEDBACK","mode":"FEEDBACK"}`,
			do: func(ctx context.Context, c *Commands) error {
				return c.SetMode(ctx, "conv_0a1b", models.ModeFeedback, "plan")
			},
			body: `{"reason":"plan","target_state":"FEEDBACK"}`},
		{name: "mode-later", call: "POST " + path + "/conv_0a1b/mode", result: `{"target_state":"FEEDBACK","mode":"INTAKE"}`,
			do: func(ctx context.Context, c *Commands) error {
				return c.SetMode(ctx, "conv_0a1b", models.ModeFeedback, "")
			},
			body: `{"target_state":"FEEDBACK"}`},
		{name: "remove", call: "DELETE " + path + "/conv_0a1b", result: `{"id":"conv_0a1b"}`,
			do: func(ctx context.Context, c *Commands) error { return c.Remove(ctx, "conv_0a1b") }},
		{name: "send", call: "POST " + path + "/conv_0a1b/messages", result: `{"id":"conv_0a1b-op-1","status":"ready"}`,
			do:   func(ctx context.Context, c *Commands) error { return c.Send(ctx, "conv_0a1b", "See you", "k1") },
			body: `{"body":"See you"}`, header: "k1"},
		{name: "transcript", call: "GET " + path + "/conv_0a1b/history", result: historyJSON,
			do: func(ctx context.Context, c *Commands) error { return c.Transcript(ctx, "conv_0a1b", 100) }},
		{name: "transcript-empty", call: "GET " + path + "/conv_0a1b/history", result: `[]`,
			do: func(ctx context.Context, c *Commands) error { return c.Transcript(ctx, "conv_0a1b", 100) }},
		{name: "timers", call: "GET " + path + "/conv_0a1b/state", result: stateJSON,
			do: func(ctx context.Context, c *Commands) error { return c.Timers(ctx, "conv_0a1b") }},
		{name: "timers-paused", call: "GET " + path + "/conv_0a1b/state",
			result: `{"mode":"INTAKE","status":"paused","schedules":[{"id":"s1","type":"fixed","at":"08:00","timezone":"Europe/Berlin","next_at":null,"target_at":null}],"due":[]}`,
			do:     func(ctx context.Context, c *Commands) error { return c.Timers(ctx, "conv_0a1b") }},
		{name: "timers-empty", call: "GET " + path + "/conv_0a1b/state", result: `{"mode":"INTAKE","status":"active","schedules":[],"due":[]}`,
			do: func(ctx context.Context, c *Commands) error { return c.Timers(ctx, "conv_0a1b") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := newFakeAPI(t, map[string]string{tc.call: tc.result})
			var text, raw bytes.Buffer
			require.NoError(t, tc.do(context.Background(), New(server.client(t), &text, false)))
			require.NoError(t, tc.do(context.Background(), New(server.client(t), &raw, true)))
			golden(t, tc.name, text.String())
			require.JSONEq(t, tc.result, raw.String())
			require.Equal(t, "Bearer secret", server.asked[0].Header.Get("Authorization"))
			require.Equal(t, tc.header, server.asked[0].Header.Get("If-Match")+server.asked[0].Header.Get("Idempotency-Key"))
			require.Equal(t, tc.body, server.bodies[0])

			delete(server.results, tc.call)
			var refused *APIError
			require.ErrorAs(t, tc.do(context.Background(), New(server.client(t), io.Discard, false)), &refused)
			require.Equal(t, http.StatusNotFound, refused.Status)
			require.EqualError(t, refused, "participant not found (HTTP 404)")
		})
	}
}

func TestPages(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, id := `"conv_1"`, "conv_1"
		if r.URL.Query().Get("cursor") == "conv_1" {
			next, id = "null", "conv_2"
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":{"participants":[{"id":"` + id + `"}],"next_cursor":` + next + `}}`))
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL, "")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, New(client, &out, true).List(context.Background(), Filter{}))
	require.JSONEq(t, `{"participants":[{"id":"conv_1"},{"id":"conv_2"}],"next_cursor":null}`, out.String())
}

func TestLongTranscript(t *testing.T) {
	page := func(n int, at, text string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"role":"user","kind":"message","text":"`+text+`","at":"`+at+`"},`, n), ",") + "]"
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result := page(500, "2026-11-24T13:00:00Z", "new")
		if r.URL.Query().Get("before") == "2026-11-24T13:00:00Z" {
			result = page(100, "2026-11-23T13:00:00Z", "old")
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + result + `}`))
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL, "")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, New(client, &out, true).Transcript(context.Background(), "conv_1", 600))
	var all []api.HistoryEntry
	require.NoError(t, json.Unmarshal(out.Bytes(), &all))
	require.Len(t, all, 600)
	require.Equal(t, []string{"old", "new"}, []string{all[99].Text, all[100].Text})
}

func TestClientTellsWhatIsWrong(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:8080", "ftp://host", "http://"} {
		_, err := NewClient(base, "")
		require.ErrorContains(t, err, "not of the form", base)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	client, err := NewClient(server.URL, "")
	require.NoError(t, err)
	require.ErrorContains(t, New(client, io.Discard, false).Show(context.Background(), "x"), "not one of this API")
	server.Close()
	require.ErrorContains(t, New(client, io.Discard, false).Show(context.Background(), "x"), "calling the API at "+server.URL)
}
