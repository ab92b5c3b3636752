package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErasureVerbs(t *testing.T) {
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		one := `{"participant_id":"conv_1","state":"done","requested_by":"user:eve","requested_at":"2026-03-01T00:00:00Z","finished_at":"2026-03-01T00:01:00Z",
			"rows":{"messages":4,"facts":1},"executions":2,"carrier_messages":5,"carrier_unknown":1,"notes":["Backups stay."]}`
		if r.Method == http.MethodGet && !strings.Contains(r.URL.Path, "conv_1") {
			one = `{"erasures":[` + one + `],"next_cursor":null}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + one + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	erase := func(typed string, args ...string) (code int, out, complaint string) {
		line, body = "", ""
		var stdout, stderr bytes.Buffer
		p := &program{in: strings.NewReader(typed), out: &stdout, err: &stderr, environ: environ, configFolder: t.TempDir()}
		code = p.runCommand(context.Background(), append([]string{"participant", "erase", "conv_1"}, args...))
		return code, stdout.String(), stderr.String()
	}
	code, _, complaint := erase("conv_2\n")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "nothing was erased")
	require.Empty(t, line, "nothing is asked of the API")

	code, out, complaint := erase("conv_1\n", "--reason", "letter")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, []string{"POST /conversation/participants/conv_1/erase", `{"confirm":"conv_1","reason":"letter"}`}, []string{line, body})
	for _, text := range []string{"Rows of facts", "Messages deleted by the carrier", "without a known carrier id", "by user:eve", "Backups stay."} {
		require.Contains(t, out, text)
	}
	code, _, complaint = erase("", "--yes")
	require.Equal(t, exitDone, code, complaint)
	require.JSONEq(t, `{"confirm":"conv_1"}`, body)

	code, out, complaint = call(t, environ, "erasure", "show", "conv_1")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "GET /erasures/conv_1", line)
	require.Contains(t, out, "Workflow runs deleted")
	code, out, complaint = call(t, environ, "erasure", "list")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "GET /erasures?limit=200", line)
	require.Contains(t, out, "conv_1       done   2026-03-01 00:00:00Z  user:eve")
	code, out, _ = call(t, environ, "erasure", "show", "conv_1", "--json")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, `"carrier_messages"`)
}
