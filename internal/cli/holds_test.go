package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHoldVerbs(t *testing.T) {
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		one := `{"id":3,"scope":"all","reason":"holiday","active":true,"until":"2026-01-02T00:00:00Z","created_at":"2026-01-01T00:00:00Z"}`
		if r.Method == http.MethodGet {
			one = `{"holds":[` + one + `],"next_cursor":null}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + one + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	for _, tc := range []struct{ args, line, body string }{
		{"hold add --until 2026-01-02T00:00:00Z --reason holiday", "POST /holds", `{"reason":"holiday","until":"2026-01-02T00:00:00Z"}`},
		{"hold add --until 2026-01-02T00:00:00Z --participant conv_1", "POST /holds", `{"scope":"participant","scope_id":"conv_1","until":"2026-01-02T00:00:00Z"}`},
		{"hold add --until 2026-01-02T00:00:00Z --study walk", "POST /holds", `{"scope":"study","scope_id":"walk","until":"2026-01-02T00:00:00Z"}`},
		{"hold list", "GET /holds?active=true&limit=200", ""},
		{"hold list --all", "GET /holds?limit=200", ""},
		{"hold release 3", "DELETE /holds/3", ""},
	} {
		code, out, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, []string{tc.line, tc.body}, []string{line, body}, tc.args)
		require.Contains(t, out, "HOLD  STATE   FOR  UNTIL                 SINCE                 REASON\n3     active  all  2026-01-02 00:00:00Z")
	}
	for args, want := range map[string]string{
		"hold add": "--until is needed",
		"hold add --until 2h --study a --participant b": "exclude each other",
		"hold add --until monday":                       `--until: "monday" is not a time`,
		"hold release last":                             `"last" is not the number of a hold`,
		"hold":                                          "needs a command",
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, complaint, want)
	}
}

func TestParseInstant(t *testing.T) {
	zone := time.FixedZone("there", 2*60*60)
	now := time.Date(2026, 1, 1, 10, 0, 0, 5, zone)
	for text, want := range map[string]time.Time{
		"2026-01-02":           time.Date(2026, 1, 2, 0, 0, 0, 0, zone),
		"2026-01-02T09:30":     time.Date(2026, 1, 2, 9, 30, 0, 0, zone),
		"2026-01-02 09:30":     time.Date(2026, 1, 2, 9, 30, 0, 0, zone),
		"2026-01-02T09:30:00Z": time.Date(2026, 1, 2, 9, 30, 0, 0, time.UTC),
		"36h":                  time.Date(2026, 1, 2, 22, 0, 0, 0, zone),
	} {
		got, err := parseInstant(text, now)
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
}
