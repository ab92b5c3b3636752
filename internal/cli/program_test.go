package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// call runs the program with only the given environment.
func call(t *testing.T, environ []string, args ...string) (code int, out, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &stdout, err: &stderr, environ: environ, configFolder: t.TempDir()}
	code = p.runCommand(context.Background(), args)
	return code, stdout.String(), stderr.String()
}

func TestWrongUsage(t *testing.T) {
	for _, tc := range []struct{ name, args, want string }{
		{"nothing", "", "needs a command"},
		{"unknown verb", "dance", `unknown command "dance"`},
		{"unknown verb below", "participant dance", `unknown command "dance" for "coachline participant"`},
		{"no verb below", "participant", "needs a command"},
		{"unknown flag", "participant list --loud", "unknown flag: --loud"},
		{"bad flag value", "transcript x --limit many", "invalid argument"},
		{"limit", "transcript x --limit 0", "--limit"},
		{"no id", "participant show", "want: coachline participant show ID"},
		{"too many", "participant show a b", "want: coachline participant show ID"},
		{"no text", "send a", "want: coachline send ID TEXT"},
		{"no mode", "participant mode a", "want: coachline participant mode ID INTAKE|FEEDBACK"},
		{"no phone", "participant add", "--phone is needed"},
		{"no change", "participant update a", "nothing to change"},
		{"turn without id", "turn", "want: coachline turn TURN-ID"},
		{"turn of a participant", "turn conv_1", "is not the id of a turn"},
		{"turn without number", "turn conv_1 last", "is not the number of a turn"},
		{"turns limit", "participant turns x --limit 0", "--limit"},
		{"forget nothing", "participant memories x --forget=", "--forget needs"},
		{"forget twice", "participant memories x --forget f1 --forget-all", "without --forget-all"},
		{"waiting", "participant resume a --waiting later", "--waiting must be answer or read"},
		{"role with argument", "worker now", "want: coachline worker"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, complaint := call(t, nil, strings.Fields(tc.args)...)
			require.Equal(t, exitUsage, code)
			require.Empty(t, out)
			require.Contains(t, complaint, tc.want)
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	code, out, _ := call(t, nil, "--help")
	require.Equal(t, exitDone, code)
	for _, verb := range []string{"worker", "starter", "participant", "send", "transcript", "turn", "timers", "chat", "doctor", "reseal", "version"} {
		require.Contains(t, out, "\n  "+verb)
	}
	code, out, _ = call(t, nil, "version")
	require.Equal(t, exitDone, code)
	require.NotEmpty(t, strings.TrimSpace(out))
	_, out, _ = call(t, nil, "version", "--json")
	require.Contains(t, out, `{"version":"`)
}

func TestRolesNeedTheirSettings(t *testing.T) {
	code, _, complaint := call(t, []string{"COACH_DEBOUNCE=soon"}, "worker")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "COACH_DEBOUNCE")
	for _, role := range []string{"worker", "starter"} {
		code, _, complaint = call(t, nil, role)
		require.Equal(t, exitFailed, code)
		require.Contains(t, complaint, "COACH_PAYLOAD_KEYS")
	}
}

func TestVerbsFindTheAPI(t *testing.T) {
	type asked struct{ line, token, body string }
	var got []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, asked{r.Method + " " + r.URL.RequestURI(), r.Header.Get("Authorization"), string(body)})
		_, _ = w.Write([]byte(`{"status":"ok","message":"Done","result":{"id":"conv_1","participants":[]}}`))
	}))
	addr := strings.TrimPrefix(server.URL, "http://")
	environ := []string{"COACH_HTTP_ADDR=" + addr, "COACH_API_TOKEN=from-the-environment"}
	const path = "/conversation/participants"
	for _, tc := range []struct {
		name, line, body string
		args             []string
	}{
		{"add", "POST " + path, `{"phone_number":"+1 202","name":"Ada","timezone":"","tester":true,"signup":true}`,
			[]string{"participant", "add", "--phone", "+1 202", "--name", "Ada", "--timezone", "", "--tester", "--signup"}},
		{"list", "GET " + path + "?limit=200&status=paused", "", []string{"participant", "list", "--status", "paused"}},
		{"show", "GET " + path + "/conv_1", "", []string{"participant", "show", "conv_1"}},
		{"update", "PUT " + path + "/conv_1", `{"background":"","status":"completed","debug":false}`,
			[]string{"participant", "update", "conv_1", "--background", "", "--status", "completed", "--debug=false"}},
		{"new number", "PUT " + path + "/conv_1", `{"phone_number":"+1 202"}`, []string{"participant", "update", "conv_1", "--phone", "+1 202"}},
		{"pause", "PUT " + path + "/conv_1", `{"status":"paused"}`, []string{"participant", "pause", "conv_1"}},
		{"resume", "PUT " + path + "/conv_1", `{"status":"active"}`, []string{"participant", "resume", "conv_1"}},
		{"resume and mark as read", "PUT " + path + "/conv_1", `{"status":"active","waiting_messages":"read"}`,
			[]string{"participant", "resume", "conv_1", "--waiting", "read"}},
		{"list waiting", "GET " + path + "?limit=200&waiting=true", "", []string{"participant", "list", "--waiting"}},
		{"mode", "POST " + path + "/conv_1/mode", `{"reason":"plan","target_state":"FEEDBACK"}`,
			[]string{"participant", "mode", "conv_1", "FEEDBACK", "--reason", "plan"}},
		{"remove", "DELETE " + path + "/conv_1", "", []string{"participant", "remove", "conv_1"}},
		{"send", "POST " + path + "/conv_1/messages", `{"body":"See you"}`, []string{"send", "conv_1", "See you"}},
		{"turn", "GET " + path + "/conv_1/turns/42", "", []string{"turn", "conv_1-t42"}},
		{"turn by number", "GET " + path + "/conv_1/turns/7", "", []string{"turn", "conv_1", "7"}},
		{"turns", "GET " + path + "/conv_1/turns?limit=5", "", []string{"participant", "turns", "conv_1", "--limit", "5"}},
		{"memories", "GET " + path + "/conv_1/memories", "", []string{"participant", "memories", "conv_1"}},
		{"forget", "DELETE " + path + "/conv_1/memories/f3", "", []string{"participant", "memories", "conv_1", "--forget", "f3"}},
		{"forget all", "DELETE " + path + "/conv_1/memories", "", []string{"participant", "memories", "conv_1", "--forget-all"}},
		{"timers", "GET " + path + "/conv_1/state", "", []string{"timers", "conv_1"}},
		{"id is escaped", "GET " + path + "/conv_..%2Fmetrics", "", []string{"participant", "show", "conv_../metrics"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got = nil
			code, out, complaint := call(t, environ, tc.args...)
			require.Equal(t, exitDone, code, complaint)
			require.NotEmpty(t, out)
			require.Equal(t, asked{tc.line, "Bearer from-the-environment", tc.body}, got[0])
			_, raw, _ := call(t, environ, append(tc.args, "--json")...)
			require.Contains(t, raw, "{\n")
		})
	}
	code, _, _ := call(t, nil, "participant", "show", "conv_1", "--url", server.URL, "--token", "given")
	require.Equal(t, exitDone, code)
	require.Equal(t, "Bearer given", got[len(got)-1].token)

	server.Close()
	code, _, complaint := call(t, environ, "participant", "list")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "calling the API at http://"+addr)
	code, _, complaint = call(t, nil, "participant", "list", "--url", "here", "--token", "x")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "not of the form")
}

func TestReachable(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8080", ":80": "127.0.0.1:80", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "coach:80": "coach:80",
	} {
		require.Equal(t, want, callAddress(in))
	}
}

func TestDoctor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	_, environ := doctorStore(t)
	environ = append(environ, "TEMPORAL_ADDRESS=127.0.0.1:1", "OPENAI_BASE_URL="+server.URL+"/v1", "TWILIO_BASE_URL="+server.URL,
		"TWILIO_ACCOUNT_SID=AC00000000000000000000000000000001", "TWILIO_AUTH_TOKEN=hunter2hunter2", "TWILIO_FROM=+15017122661")
	code, out, complaint := call(t, environ, "doctor")
	require.Equal(t, exitFailed, code, complaint)
	require.Empty(t, complaint)
	require.NotContains(t, out, "hunter2")
	verdicts := map[string]string{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		verdicts[fields[0]] = fields[1]
	}
	require.Equal(t, map[string]string{
		"configuration": "ok", "database": "ok", "keys": "ok", "audit": "ok", "allocations": "ok", "webhooks": "ok", "alerts": "warning", "temporal": "failed", "workers": "failed", "model": "ok", "carrier": "ok",
	}, verdicts, out)

	code, out, complaint = call(t, environ, "reseal")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, "0 values sealed anew")
	require.Regexp(t, `(?m)^participants: 0 of \d+ rows$`, complaint)
	other := append(slices.Clone(environ), "COACH_PAYLOAD_KEYS=k2:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=")
	_, out, _ = call(t, other, "doctor")
	require.Regexp(t, `keys +failed .*rows are sealed with k1 \(fingerprint [0-9a-f]{16}\), which the list lacks`, out)
	code, _, complaint = call(t, other, "reseal")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "which the list lacks: add it behind the new key")

	code, out, _ = call(t, []string{"COACH_DEBOUNCE=soon"}, "doctor", "--json")
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "COACH_DEBOUNCE")
}
