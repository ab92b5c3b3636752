package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening/sheets"
)

func TestAlertsVerbs(t *testing.T) {
	var line string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line = r.Method + " " + r.URL.RequestURI()
		answer := `{"alerts":[{"id":"alarm-7","participant_id":"conv_1","at":"2026-01-01T00:00:00Z","danger":"self_harm","tier":"B","rule":"en.no-meaning","score":1.25,"mark":""}],"next_cursor":"7"}`
		switch {
		case strings.HasPrefix(line, "GET /alerts/sheet"):
			answer = `{"lines":[{"language":"en","sheet":"crisis","kind":"direct","text":"one"},{"language":"en","sheet":"negative","kind":"passive","text":"two"},{"language":"de","sheet":"crisis","kind":"method","text":"drei"}]}`
		case strings.HasPrefix(line, "POST"):
			answer = `{"id":"alarm-7","mark":"wrong"}`
		case strings.Contains(line, "cursor"):
			answer = `{"alerts":[{"id":"alarm-3","participant_id":"conv_2","at":"2026-01-01T00:00:00Z","danger":"harm","tier":"A","rule":"score","score":4,"mark":"right"}],"next_cursor":null}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + answer + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	code, out, complaint := call(t, environ, "alerts", "list", "--unmarked")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "GET /alerts?cursor=7&limit=200&unmarked=true", line)
	for _, part := range []string{"TIER", "alarm-7", "en.no-meaning", "1.2", "alarm-3", "score", "right"} {
		require.Contains(t, out, part)
	}
	code, out, complaint = call(t, environ, "alerts", "mark", "alarm-7", "wrong")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "POST /alerts/alarm-7/mark", line)
	require.Contains(t, out, "alarm-7 is marked as wrong.")
	code, _, complaint = call(t, environ, "alerts", "mark", "alarm-7", "perhaps")
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, `"perhaps" is neither right nor wrong`)

	folder := filepath.Join(t.TempDir(), "marks")
	code, out, complaint = call(t, environ, "alerts", "export", folder)
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, "3 judged messages in 3 files")
	texts, err := sheets.Read(os.DirFS(folder), "en")
	require.NoError(t, err, "the files are sheets")
	require.Equal(t, []sheets.Text{
		{Language: "en", Sheet: sheets.Crisis, Kind: "direct", Body: "one"}, {Language: "en", Sheet: sheets.Negative, Kind: "passive", Body: "two"},
	}, texts)
}
