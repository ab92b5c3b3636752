package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestViewVerbs(t *testing.T) {
	const (
		view   = `{"id":3,"name":"Silent","query":"silent_days=3&status=active","shared":true,"owner":"user:ada","created_at":"2026-03-02T09:00:00Z"}`
		person = `{"id":"conv_1","name":"Ann","status":"active","attention":"crisis","taken_over":{"by":"user:kim","since":"2026-03-02T09:00:00Z","until":"2026-03-02T13:00:00Z"},"last_inbound_at":"2026-03-02T09:00:00Z"}`
	)
	answers := map[string]string{
		"POST /views": view, "GET /views": `{"views":[` + view + `]}`, "DELETE /views/3": `{}`,
		"GET /people?limit=200&silent_days=3&status=active": `{"people":[` + person + `],"next_cursor":null}`,
	}
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		_, _ = w.Write([]byte(`{"status":"ok","result":` + answers[line] + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	const table = "VIEW  NAME    FILTERS                      OWNER     SHARED\n3     Silent  silent_days=3&status=active  user:ada  yes"
	for _, tc := range []struct{ args, line, body, out string }{
		{"view add Silent --query silent_days=3&status=active --shared", "POST /views", `{"name":"Silent","query":"silent_days=3\u0026status=active","shared":true}`, table},
		{"view list", "GET /views", "", table},
		{
			"view show 3", "GET /people?limit=200&silent_days=3&status=active", "",
			"ID      NAME  STATUS  ATTENTION  TAKEN OVER BY  LAST HEARD\nconv_1  Ann   active  crisis     user:kim       2026-03-02 09:00:00Z",
		},
		{"view delete 3", "DELETE /views/3", "", "View 3 is deleted."},
	} {
		code, out, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, []string{tc.line, tc.body}, []string{line, body}, tc.args)
		require.Contains(t, out, tc.out)
	}
	code, _, complaint := call(t, environ, "view", "show", "4")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "there is no view 4; see coachline view list")
	for args, want := range map[string]string{
		"view add Silent": "--query is needed", "view show Silent": `"Silent" is not the number of a view`,
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, complaint, want)
	}
}
