package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAttentionVerb(t *testing.T) {
	var line string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line = r.Method + " " + r.URL.RequestURI()
		page := `{"attention":[{"participant_id":"conv_1","name":"Ada","kind":"flood","since":"2026-01-01T00:00:00Z","code":"rate_limited","ref":"7"}],"next_cursor":"4"}`
		if strings.Contains(line, "cursor") {
			page = `{"attention":[{"participant_id":"conv_2","name":"Bob","kind":"crisis","since":"2026-01-02T00:00:00Z"}],"next_cursor":null}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + page + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	code, out, complaint := call(t, environ, "attention", "--kind", "flood")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "GET /attention?cursor=4&kind=flood&limit=200", line)
	for _, part := range []string{"ID", "conv_1", "Ada", "flood", "2026-01-01 00:00:00Z", "rate_limited", "conv_2", "crisis"} {
		require.Contains(t, out, part)
	}
	code, out, complaint = call(t, environ, "--json", "attention")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, `"kind": "crisis"`)
	code, _, complaint = call(t, environ, "attention", "--kind", "mood")
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, `"mood" is none of crisis, unreachable, send, refusal, `)
}
