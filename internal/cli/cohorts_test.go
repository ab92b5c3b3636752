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

// cohortServer answers an import with what each request gets in turn, and keeps
// the requests.
func cohortServer(t *testing.T, answers ...string) (environ []string, requests *[]string) {
	t.Helper()
	requests = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(answers) == 0 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		*requests = append(*requests, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+r.Header.Get("Coach-Reason")+" "+string(body)))
		answer := `{"status":"ok","result":` + answers[0] + `}`
		answers = answers[1:]
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}, requests
}

func writeCohort(t *testing.T, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("people.csv", []byte(text), 0o600))
	return "people.csv"
}

func TestCohortImportWaits(t *testing.T) {
	file := writeCohort(t, "phone\n+12125550101\n+12125550102\n")
	ready := `{"id":"coh_1","state":"ready","rows":2,"good":2,"faults":[],"first":[]}`
	running := `{"id":"coh_1","state":"running","rows":2,"good":2,"tried":1,"enrolled":1,"faults":[],"first":[]}`
	done := `{"id":"coh_1","state":"done","rows":2,"good":2,"tried":2,"enrolled":2,"per_minute":15,"faults":[],"first":[]}`
	environ, requests := cohortServer(t, ready, running, running, done)
	code, out, complaint := call(t, environ, "cohort", "import", filepath.Join(".", file), "--reason", "spring wave")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "coh_1 done: 2 of 2 enrolled, 0 skipped; at most 15 greetings a minute\n", out)
	require.Equal(t, "enrolled: 2 of 2 people\n", complaint)
	require.Equal(t, []string{"POST /cohorts?file_name=people.csv  phone\n+12125550101\n+12125550102",
		"POST /cohorts/coh_1/confirm spring wave", "GET /cohorts/coh_1", "GET /cohorts/coh_1"}, *requests)

	skipped := `{"id":"coh_1","state":"done","rows":2,"good":2,"tried":2,"enrolled":1,"skipped":1,"per_minute":15,"first":[],
		"faults":[{"line":3,"column":1,"kind":"opted_out","field":"phone_number","message":"the number has opted out","value":"+12125550102"}]}`
	environ, _ = cohortServer(t, ready, skipped)
	code, out, _ = call(t, environ, "cohort", "import", file)
	require.Equal(t, exitFailed, code, "a person was left out")
	require.Contains(t, out, "people.csv:3:1: phone_number: the number has opted out: +12125550102\n")
	environ, _ = cohortServer(t, ready, skipped)
	code, _, _ = call(t, environ, "cohort", "import", file, "--skip-faulty")
	require.Equal(t, exitDone, code)
	most := `{"id":"coh_1","state":"done","rows":1000,"good":990,"tried":1000,"enrolled":990,"skipped":10,"per_minute":15,"first":[],"faults":[]}`
	environ, _ = cohortServer(t, ready, most)
	_, _, complaint = call(t, environ, "cohort", "import", file)
	require.Contains(t, complaint, "enrolled: 990 of 990 people\n")
	environ, _ = cohortServer(t, ready, running) // and the server goes away
	code, _, complaint = call(t, environ, "cohort", "import", file)
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "see coachline cohort show coh_1")
}
