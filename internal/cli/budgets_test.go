package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBudgetVerbs(t *testing.T) {
	var line, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		line, body = r.Method+" "+r.URL.RequestURI(), string(raw)
		one := `{"id":3,"scope":"programme","period":"month","micros":25000000,"warn_percent":80,"currency":"USD","state":"warned","spent":21500000}`
		if r.Method == http.MethodGet {
			one = `{"budgets":[` + one + `]}`
		}
		if r.Method == http.MethodDelete {
			one = `{}`
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":` + one + `}`))
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	const table = "BUDGET  FOR        PERIOD  STATE   SPENT      OF         WARN\n3       programme  month   warned  21.50 USD  25.00 USD  80%"
	for _, tc := range []struct{ args, line, body, out string }{
		{"budget set 25", "PUT /budgets", `{"scope":"programme","period":"month","micros":25000000,"warn_percent":80}`, table},
		{
			"budget set 0.5 --participant p1 --period day --warn 50", "PUT /budgets",
			`{"scope":"participant","participant_id":"p1","period":"day","micros":500000,"warn_percent":50}`, table,
		},
		{"budget list", "GET /budgets", "", table},
		{"budget delete 3", "DELETE /budgets/3", "", "Budget 3 is removed."},
	} {
		code, out, complaint := call(t, environ, strings.Fields(tc.args)...)
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, []string{tc.line, tc.body}, []string{line, body}, tc.args)
		require.Contains(t, out, tc.out)
	}
	for args, want := range map[string]string{
		"budget set much":              `"much" is not an amount`,
		"budget set 5 --period decade": "--period must be day, month or total",
		"budget delete all":            `"all" is not the number of a budget`,
	} {
		code, _, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, complaint, want)
	}
}
