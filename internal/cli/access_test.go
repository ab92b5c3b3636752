package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answers serves the API's answers by path, and remembers the last request that
// changed something.
type answers struct {
	line, body, reason string
	results            map[string]string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	a.line, a.body, a.reason = r.Method+" "+r.URL.RequestURI(), string(raw), r.Header.Get("Coach-Reason")
	result := a.results[r.Method+" "+r.URL.Path]
	if strings.HasSuffix(r.URL.Path, "/export") {
		_, _ = w.Write([]byte(result))
		return
	}
	_, _ = w.Write([]byte(`{"status":"ok","result":` + result + `}`))
}

const (
	userJSON  = `{"id":"usr_1","login":"ada","name":"Ada L","role":"coach","has_password":true,"created_at":"2026-01-01T00:00:00Z","created_by":"operator"}`
	tokenJSON = `{"id":"tok_1","name":"redcap","scopes":["export:read"],"active":true,"created_at":"2026-01-01T00:00:00Z","created_by":"operator","expires_at":"2026-04-01T00:00:00Z"}`
	auditJSON = `{"id":3,"seq":3,"at":"2026-01-01T00:00:00Z","actor":"user:ada","action":"update","participant_id":"conv_1","reason":"she married","before":{"name":"Ida","zone":"UTC"},"after":{"name":"Ada","zone":"UTC"}}`
)

func startAnswers(t *testing.T) (*answers, []string) {
	t.Helper()
	a := &answers{results: map[string]string{
		"GET /self":  `{"kind":"token","actor":"token:redcap","name":"redcap","permissions":["export:read"]}`,
		"GET /users": `{"users":[` + userJSON + `]}`, "POST /users": userJSON, "PUT /users/usr_1": userJSON,
		"GET /tokens": `{"tokens":[` + tokenJSON + `]}`, "POST /tokens": `{"token":` + tokenJSON + `,"secret":"clt_once"}`, "DELETE /tokens/tok_1": tokenJSON,
		"GET /sessions":          `{"sessions":[{"id":"ses_1","login":"ada","address":"10.0.0.1","agent":"Firefox","created_at":"2026-01-01T00:00:00Z","last_seen_at":"2026-01-01T00:00:00Z","expires_at":"2026-01-01T00:30:00Z"}]}`,
		"DELETE /sessions/ses_1": `{"id":"ses_1"}`,
		"GET /audit":             `{"rows":[` + auditJSON + `],"next_cursor":"3"}`,
		"GET /audit/chain":       `{"ok":true,"rows":3,"erased":1,"head":"abc"}`,
		"GET /audit/export":      "id,seq\n3,3\n",
	}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return a, []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
}

func TestAccessVerbs(t *testing.T) {
	api, environ := startAnswers(t)
	secret := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(secret, []byte("correct horse battery\nnot this\n"), 0o600))
	for _, tc := range []struct{ args, line, body, out string }{
		{"whoami", "GET /self", "", "token:redcap"},
		{"user list", "GET /users", "", "usr_1  ada    Ada L  coach  enabled  password"},
		{"user add ada --name Ada --role coach --password-file " + secret, "POST /users",
			`{"login":"ada","name":"Ada","role":"coach","password":"correct horse battery"}`, "usr_1"},
		{"user add ada --name Ada --role coach --subject 42", "POST /users", `{"login":"ada","name":"Ada","role":"coach","subject":"42"}`, "usr_1"},
		{"user update ADA --role lead --name A", "PUT /users/usr_1", `{"name":"A","role":"lead"}`, "usr_1"},
		{"user update usr_1 --enable --password-file " + secret, "PUT /users/usr_1", `{"password":"correct horse battery","disabled":false}`, "usr_1"},
		{"user disable ada", "PUT /users/usr_1", `{"disabled":true}`, "usr_1"},
		{"token list", "GET /tokens", "", "tok_1  redcap  active"},
		{"token add redcap --scope export:read --expires 2026-04-01T00:00:00Z", "POST /tokens",
			`{"name":"redcap","scopes":["export:read"],"expires_at":"2026-04-01T00:00:00Z"}`, "Secret, which is not shown again: clt_once"},
		{"token revoke redcap", "DELETE /tokens/tok_1", "", "tok_1"},
		{"session list", "GET /sessions", "", "ses_1    ada    10.0.0.1"},
		{"session revoke ses_1", "DELETE /sessions/ses_1", "", "ses_1 is signed out."},
		{"audit list --participant conv_1 --actor user:ada --action update --since 2026-01-01T00:00:00Z --until 2026-02-01T00:00:00Z --limit 7",
			"GET /audit?action=update&actor=user%3Aada&limit=7&participant_id=conv_1&since=2026-01-01T00%3A00%3A00Z&until=2026-02-01T00%3A00%3A00Z", "",
			`name: "Ida" > "Ada"  she married`},
		{"audit verify", "GET /audit/chain", "", "The audit is whole: 3 rows, 1 of them erased, head abc."},
		{"audit export --actor user:ada", "GET /audit/export?actor=user%3Aada&format=csv", "", "id,seq\n3,3\n"},
	} {
		code, out, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, "%s: %s", tc.args, complaint)
		require.Equal(t, []string{tc.line, tc.body}, []string{api.line, api.body}, tc.args)
		require.Contains(t, out, tc.out, tc.args)
		if !strings.HasPrefix(tc.args, "audit export") {
			_, raw, _ := call(t, environ, append(strings.Fields(tc.args), "--json")...)
			require.Contains(t, raw, "{\n", tc.args)
		}
	}
	code, _, complaint := call(t, environ, "user", "disable", "ada", "--reason", "left the\nprogramme")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "left the programme", api.reason)
}

func TestPasswordIsReadFromStandardInput(t *testing.T) {
	api, environ := startAnswers(t)
	add := func(typed string) (int, string) {
		var complaint strings.Builder
		p := &program{in: strings.NewReader(typed), out: io.Discard, err: &complaint, environ: environ, configFolder: t.TempDir()}
		return p.runCommand(context.Background(), []string{"user", "add", "ada", "--name", "Ada", "--role", "admin"}), complaint.String()
	}
	code, complaint := add("typed horse battery\r\n")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, api.body, `"password":"typed horse battery"`)
	code, complaint = add("")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "no password was given")
}

func TestBrokenAuditFails(t *testing.T) {
	api, environ := startAnswers(t)
	api.results["GET /audit/chain"] = `{"ok":false,"rows":2,"erased":0,"broken_at":3,"problem":"row 3 is missing"}`
	for _, args := range []string{"audit verify", "audit verify --json"} {
		code, out, _ := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitFailed, code)
		require.Contains(t, out, "row 3 is missing")
	}
}

func TestAccessUsage(t *testing.T) {
	_, environ := startAnswers(t)
	for args, want := range map[string]string{
		"user add ada --role coach":                   "--name is needed",
		"user add ada --name Ada --role owner":        "--role: must be one of viewer",
		"user add ada secret":                         "want: coachline user add LOGIN",
		"user update ada":                             "nothing to change",
		"token add redcap":                            "--scope is needed",
		"token add redcap --scope x --expires monday": `--expires: "monday" is not a time`,
		"audit list --limit 201":                      "--limit must be between 1 and 200",
		"audit list --since monday":                   `--since: "monday" is not a time`,
		"audit export --format xls":                   "--format must be csv or jsonl",
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, complaint, want)
	}
	for args, want := range map[string]string{
		"user disable eve":   `no user has the login or id "eve"`,
		"token revoke other": `0 active tokens have the name or id "other"`,
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, complaint, want)
	}
}
