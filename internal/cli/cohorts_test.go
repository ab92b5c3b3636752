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

const faultyCohort = `{"state":"failed","rows":3,"good":1,"fault_count":4,"zones_suggested":1,"per_minute":15,"faults":[
	{"line":0,"column":0,"kind":"file","message":"the file is odd"},
	{"line":2,"column":1,"kind":"enrolled","field":"phone_number","message":"the number is enrolled already","value":"+12125550101","participant_id":"conv_1"},
	{"line":3,"column":14,"kind":"cell","field":"timezone","message":"unknown zone"}],"first":[]}`

func TestCohortImportDry(t *testing.T) {
	file := writeCohort(t, "phone\n+12125550101\n")
	environ, requests := cohortServer(t, faultyCohort)
	code, out, complaint := call(t, environ, "cohort", "import", file, "--dry-run", "--per-minute", "9", "--ignore-unknown", "--skip-faulty")
	require.Equal(t, exitFailed, code)
	require.Empty(t, complaint)
	require.Equal(t, "people.csv: the file is odd\n"+
		"people.csv:2:1: phone_number: the number is enrolled already: +12125550101 (conv_1)\n"+
		"people.csv:3:14: timezone: unknown zone\n"+
		"people.csv: and 1 more faults\n"+
		"3 people in the file, 1 can be enrolled, 1 zones taken from numbers; faults: 4, nothing was enrolled\n", out)
	require.Equal(t, []string{"POST /cohorts?dry_run=true&file_name=people.csv&ignore_unknown=true&per_minute=9&skip_faulty=true  phone\n+12125550101"}, *requests)

	environ, _ = cohortServer(t, `{"state":"ready","rows":1,"good":1,"per_minute":15,"faults":[],"first":[]}`)
	code, out, _ = call(t, environ, "cohort", "import", file, "--dry-run")
	require.Equal(t, exitDone, code)
	require.Equal(t, "1 people in the file, 1 can be enrolled, 0 zones taken from numbers; at most 15 greetings a minute. Dry run: nothing was kept\n", out)
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
	environ, _ = cohortServer(t, ready, running) // and the server goes away
	code, _, complaint = call(t, environ, "cohort", "import", file)
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "see coachline cohort show coh_1")
}

func TestCohortShowAndCancel(t *testing.T) {
	environ, requests := cohortServer(t, `{"id":"coh_1","state":"ready","file_name":"a.csv","rows":2,"good":2,"faults":[],"first":[]}`,
		`{"id":"coh_1","state":"canceled","rows":2,"good":2,"per_minute":3,"faults":[],"first":[]}`)
	code, out, complaint := call(t, environ, "cohort", "show", "coh_1")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "2 people in the file, 2 can be enrolled, 0 zones taken from numbers; it waits for its confirmation as coh_1\n", out)
	code, out, complaint = call(t, environ, "cohort", "cancel", "coh_1", "--json")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, `"state": "canceled"`)
	require.Equal(t, []string{"GET /cohorts/coh_1", "DELETE /cohorts/coh_1"}, *requests)
}

func TestCohortWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"cohort import":                        "want: coachline cohort import FILE",
		"cohort import a.csv --per-minute 0":   "--per-minute must be at least 1",
		"cohort import a.csv --cohort default": "unknown flag: --cohort",
		"cohort show":                          "want: coachline cohort show COHORT",
	} {
		code, _, complaint := call(t, nil, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, complaint, want)
	}
	code, _, complaint := call(t, nil, "cohort", "import", "no-such-file.csv")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "no such file")
}
