package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStudyVerbs(t *testing.T) {
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		study := `{"id":"sleep-1","name":"Sleep","state":"draft","settings":{"arms":[{"name":"a","weight":1},{"name":"b","weight":2}]},"planned":50,"starts_at":"2026-12-01T00:00:00Z"}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/study-consents"):
			study = `{"study":"sleep-1","given":false}`
		case strings.HasSuffix(r.URL.Path, "/consent-texts"):
			study = `{"version":2,"locale":"en"}`
		case r.URL.Path == "/studies" && r.Method == http.MethodGet:
			study = `{"studies":[` + study + `]}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + study + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	settings, consent := write("settings.json", `{"require_consent":true}`), write("consent.txt", "You agree.")
	for _, tc := range []struct{ args, line, body, out string }{
		{"study list", "GET /studies", "", "sleep-1  Sleep  draft  50       2     2026-12-01  -"},
		{"study show sleep-1", "GET /studies/sleep-1", "", "arm b, weight 2"},
		{
			"study add sleep-1 --name Sleep --planned 50 --settings " + settings, "POST /studies",
			`{"id":"sleep-1","name":"Sleep","settings":{"require_consent":true},"planned":50}`, "coachline study change sleep-1 --state recruiting",
		},
		{"study change sleep-1 --state recruiting", "PUT /studies/sleep-1", `{"state":"recruiting"}`, "Sleep"},
		{"study add-consent-text sleep-1 " + consent + " --locale en", "POST /studies/sleep-1/consent-texts", `{"locale":"en","body":"You agree."}`, "Version 2"},
		{"study withdraw conv_1", "POST /conversation/participants/conv_1/study-consents", `{"given":false,"method":"operator"}`, "has left the programme"},
		{
			"participant add --phone +12125550101 --study sleep-1 --stratum site=north --consent-version 2 --consent-locale en", "POST /conversation/participants",
			`{"phone_number":"+12125550101","study":"sleep-1","consent":{"version":2,"locale":"en","method":"operator"},"strata":{"site":"north"}}`, "",
		},
	} {
		code, out, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, []string{tc.line, tc.body}, []string{line, body}, tc.args)
		require.Contains(t, out, tc.out)
	}
	for args, want := range map[string]string{
		"study add sleep-1":                         "--name is needed",
		"study change sleep-1":                      "say what is to change",
		"study change sleep-1 --state open":         "--state must be",
		"study change sleep-1 --starts soon":        "--starts must be an instant",
		"study consent conv_1":                      "--version and --locale are needed",
		"study add-consent-text sleep-1 " + consent: "--locale is needed",
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, complaint, want)
	}
	code, _, complaint := call(t, environ, "study", "add", "s-1", "--name", "S", "--settings", write("bad.json", `{"armz":[]}`))
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, `unknown field "armz"`)
}
