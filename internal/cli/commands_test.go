package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/models"
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if goldens.ShouldRecord() {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

const ann = `{"id":"conv_0a1b","phone_number":"+15558675310","name":"Ann\u001b[31m","gender":"","ethnicity":"",
	"background":"Two\nlines","timezone":"America/New_York","timezone_assumed":true,"locale":"","channel":"sms",
	"status":"active","mode":"INTAKE","tester":false,"debug":false,"enrolled_at":"2026-11-24T13:00:00Z",
	"created_at":"2026-11-24T13:00:00Z","updated_at":"2026-11-24T13:00:00Z","version":3}`

const stateJSON = `{"mode":"FEEDBACK","status":"active","profile":{},"counters":{"success_count":2,"total_prompts":5},
	"schedules":[{"id":"s1","type":"fixed","at":"08:00","timezone":"Europe/Berlin","next_at":"2026-11-25T06:50:00Z"},
		{"id":"s2","type":"random","from":"18:00","to":"20:00","timezone":"Europe/Berlin","next_at":"2026-11-25T17:20:00Z"}],
	"due":[{"kind":"daily_prompt","at":"2026-11-25T06:50:00Z","ref":"s1"},{"kind":"reminder","at":"2026-11-24T18:00:00Z","ref":"p1"}],
	"pending_prompt":{"prompt_id":"p1","sent_at":"2026-11-24T13:00:00Z"},"version":3,
	"left_out":[{"participant_id":"conv_0a1b","date":"2026-11-23","what":"follow_up","reason":"one_follow_up"},{"participant_id":"conv_0a1b","date":"2026-11-22","what":"prompt","reason":"backed_off"}]}`

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

// call runs a command, whose words are divided by spaces, against the server.
func (a *fakeAPI) call(t *testing.T, args string) (code int, out, complaint string) {
	t.Helper()
	return call(t, []string{"COACH_URL=" + a.URL, "COACH_API_TOKEN=secret"}, strings.Fields(args)...)
}

// run requires that a command succeeds and returns what it prints.
func (a *fakeAPI) run(t *testing.T, args string) string {
	t.Helper()
	code, out, complaint := a.call(t, args)
	require.Equal(t, exitDone, code, complaint)
	return out
}

// TestVerbs prints what no script brings about in a moment. The others are in testdata/script.
func TestVerbs(t *testing.T) {
	const path = "/conversation/participants"
	for _, tc := range []struct {
		name, args, call, result, body string
	}{
		{name: "show", args: "participant show conv_0a1b", call: "GET " + path + "/conv_0a1b", result: ann},
		{name: "show-unreachable", args: "participant show conv_0a1b", call: "GET " + path + "/conv_0a1b", result: strings.Replace(ann, "{", `{"unreachable_at":"2026-03-02T09:00:00Z","unreachable_code":"21614",`, 1)},
		{name: "delivery", args: "delivery --sender +12025550100", call: "GET /delivery", result: `{"days":[{"day":"2026-03-02","in":0,"out":3,"segments":4,"uncounted":0,"delivered":2,"failed":1}],` +
			`"senders":[{"sender":"","out":1,"segments":1,"delivered":0,"failed":0},{"sender":"+12025550100","out":3,"segments":4,"delivered":2,"failed":1}],` +
			`"failures":[{"code":"30007","meaning":"filtered by the carrier","next_step":"Ask the carrier.","texts":1}],` +
			`"prompts":{"prompts":2,"median_seconds":1.5,"p95_seconds":600,"late":1},"unknown":{"texts":0}}`},
		{name: "mode-later", args: "participant mode conv_0a1b FEEDBACK", call: "POST " + path + "/conv_0a1b/mode", result: `{"target_state":"FEEDBACK","mode":"INTAKE"}`, body: `{"target_state":"FEEDBACK"}`},
		{name: "transcript", args: "transcript conv_0a1b", call: "GET " + path + "/conv_0a1b/history", result: historyJSON},
		{name: "timers", args: "timers conv_0a1b", call: "GET " + path + "/conv_0a1b/state", result: stateJSON},
		{name: "timers-paused", args: "timers conv_0a1b", call: "GET " + path + "/conv_0a1b/state", result: `{"mode":"INTAKE","status":"paused","schedules":[{"id":"s1","type":"fixed","at":"08:00","timezone":"Europe/Berlin","next_at":null,"target_at":null}],"due":[]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := newFakeAPI(t, map[string]string{tc.call: tc.result})
			golden(t, tc.name, server.run(t, tc.args))
			require.JSONEq(t, tc.result, server.run(t, tc.args+" --json"))
			require.Equal(t, "Bearer secret", server.asked[0].Header.Get("Authorization"))
			require.Equal(t, tc.body, server.bodies[0])

			delete(server.results, tc.call)
			code, _, complaint := server.call(t, tc.args)
			require.Equal(t, exitFailed, code)
			require.Equal(t, "coachline: participant not found (HTTP 404)\n", complaint)
		})
	}
}

// TestPages reads a list to its last page, and shows each item as it came.
func TestPages(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, id := `"conv_1"`, "conv_1"
		if r.URL.Query().Get("cursor") == "conv_1" {
			next, id = "null", "conv_2"
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":{"participants":[{"id":"` + id + `","later":1}],"next_cursor":` + next + `}}`))
	}))
	t.Cleanup(server.Close)
	_, out, _ := call(t, []string{"COACH_URL=" + server.URL}, "participant", "list", "--json")
	require.JSONEq(t, `{"participants":[{"id":"conv_1","later":1},{"id":"conv_2","later":1}],"next_cursor":null}`, out)
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
	_, out, _ := call(t, []string{"COACH_URL=" + server.URL}, "transcript", "conv_1", "--limit", "600", "--json")
	var all []models.HistoryEntry
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Len(t, all, 600)
	require.Equal(t, []string{"old", "new"}, []string{all[99].Text, all[100].Text})
}
