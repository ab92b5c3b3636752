package cli

import (
	"bytes"
	"context"
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

// TestCommandsFindTheAPI calls it by the environment, or by flags.
func TestCommandsFindTheAPI(t *testing.T) {
	api := newFakeAPI(t, map[string]string{"GET " + participantsPath + "/conv_../metrics": `{"id":"conv_1"}`})
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(api.URL, "http://"), "COACH_API_TOKEN=of-the-environment"}
	for n, args := range []string{"participant show conv_../metrics", "participant show conv_../metrics --token of-the-flag --url " + api.URL} {
		code, _, complaint := call(t, environ[:2-2*n], strings.Fields(args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, participantsPath+"/conv_..%2Fmetrics", api.asked[n].URL.RequestURI())
		require.Equal(t, []string{"Bearer of-the-environment", "Bearer of-the-flag"}[n], api.asked[n].Header.Get("Authorization"))
	}
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
		"configuration": "ok", "database": "ok", "keys": "ok", "audit": "ok", "allocations": "ok", "webhooks": "ok", "alerts": "warning", "helplines": "ok", "senders": "ok", "campaign": "ok", "claims": "ok", "support": "failed", "programme": "ok", "offer": "ok", "stop": "ok", "embeddings": "warning", "temporal": "failed", "workers": "failed", "model": "ok", "context": "ok", "answer": "failed", "sender": "failed", "address": "warning", "carrier": "ok",
	}, verdicts, out)
	require.Contains(t, out, "large by name, 1047576 tokens by name, 400 kept for an answer")

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
