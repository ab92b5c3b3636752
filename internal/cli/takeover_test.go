package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTakeOverVerbs(t *testing.T) {
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		one := `{"id":"conv_1","taken_over":{"by":"user:ada","since":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z"}}`
		switch {
		case r.Method == http.MethodGet:
			one = `{"participants":[` + one + `],"next_cursor":null}`
		case r.Method == http.MethodDelete:
			one = `{"id":"conv_1"}`
		case strings.HasPrefix(r.URL.Path, "/alerts"):
			one = `{"id":"alarm-7","acknowledged_by":"user:ada","waited_seconds":90}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + one + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	for _, tc := range []struct{ args, line, body, out string }{
		{"takeover start conv_1 --until 2026-01-02T00:00:00Z --reason asked --force", "POST /conversation/participants/conv_1/takeover",
			`{"until":"2026-01-02T00:00:00Z","reason":"asked","force":true}`, "conv_1       user:ada  2026-01-01 00:00:00Z"},
		{"takeover list", "GET /conversation/participants?limit=200&taken_over=true", "", "conv_1       user:ada"},
		{"takeover end conv_1 --waiting read --note well", "DELETE /conversation/participants/conv_1/takeover",
			`{"waiting_messages":"read","note":"well"}`, "The coach writes to conv_1 again."},
		{"alerts acknowledge alarm-7", "POST /alerts/alarm-7/acknowledge", "", "alarm-7 is acknowledged by user:ada, 1m30s after the message."},
	} {
		code, out, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, tc.line, line)
		if tc.body == "" {
			require.Empty(t, body)
		} else {
			require.JSONEq(t, tc.body, body)
		}
		require.Contains(t, out, tc.out)
	}
	for args, want := range map[string]string{
		"takeover start conv_1 --until monday": `--until: "monday" is not a time`,
		"takeover end conv_1 --waiting later":  `"later" is neither answer nor read`,
		"takeover":                             "needs a command",
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, complaint, want)
	}
}
