package cli

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/rehearsal"
	"coachline/models"
)

func TestStudyRehearse(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(settings, []byte(`{"programme":"Walk","require_consent":true}`), 0o600))
	code, out, complaint := call(t, nil, "study", "rehearse", "walking", "--settings", settings, "--people", "3", "--days", "2", "--seed", "5", "--json")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, complaint, "rehearsing: 2 of 2 days")
	var report rehearsal.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, "walking", report.Study)
	require.EqualValues(t, 5, report.Seed)
	require.Equal(t, 3, report.People)
	require.Positive(t, report.Texts.CarrierTook)
	require.Empty(t, report.Broke)

	code, out, complaint = call(t, nil, "study", "rehearse", "default", "--people", "2", "--days", "1")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, "Rehearsal of study default: 2 people, 1 days from 2026-03-02, seed 1")
	require.Contains(t, out, "holds")
}

// TestRehearsedExport compares the export of a rehearsed study with what the
// stand-ins of carrier and model counted.
func TestRehearsedExport(t *testing.T) {
	settings, out := filepath.Join(t.TempDir(), "settings.json"), filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(settings, []byte(`{"arms":[{"name":"a","weight":1},{"name":"b","weight":1}],"randomisation":{"method":"simple"},`+
		`"decision_points":{"policy":"coin","options":[{"name":"send","probability":0.5,"send":true},{"name":"none","probability":0.5}]}}`), 0o600))
	args := []string{"study", "rehearse", "walking", "--settings", settings, "--people", "6", "--days", "5", "--json", "--out", out, "--format", "both"}
	code, printed, complaint := call(t, nil, args...)
	require.Equal(t, exitDone, code, complaint)
	var report rehearsal.Report
	require.NoError(t, json.Unmarshal([]byte(printed), &report))

	for _, path := range []string{"messages.parquet", "load.py"} {
		require.FileExists(t, filepath.Join(out, path))
	}

	sums := map[string]int{}
	for _, message := range readCSV(t, filepath.Join(out, "messages.csv")) {
		sums[message["direction"]]++
		if message["direction"] == "out" {
			sums["segments"] += number(t, message["segments"])
		}
	}
	for _, cost := range readCSV(t, filepath.Join(out, "costs.csv")) {
		sums[cost["kind"]]++
		if cost["kind"] == "model" {
			sums["read"] += number(t, cost["input_tokens"])
			sums["written"] += number(t, cost["output_tokens"])
		}
	}
	require.Equal(t, report.Texts.CarrierTook, sums["out"])
	require.Equal(t, report.Texts.Segments, sums["segments"])
	require.Equal(t, report.Texts.PeopleWrote, sums["in"])
	require.Equal(t, report.Texts.ModelCalls, sums["model"])
	require.Len(t, readCSV(t, filepath.Join(out, "allocations.csv")), report.People)
	requireTokens(t, report, sums)
	requireDecisions(t, report, readCSV(t, filepath.Join(out, "decisions.csv")))

	code, _, complaint = call(t, nil, args...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, "--out: "+out+": file exists")
}

// requireTokens compares the model's tokens: those that the stand-in counted, those
// of the table of costs and those of the export.
func requireTokens(t *testing.T, report rehearsal.Report, sums map[string]int) {
	t.Helper()
	require.Positive(t, report.Texts.InputTokens)
	require.Positive(t, report.Texts.OutputTokens)
	i := slices.IndexFunc(report.Cost, func(c models.CostRow) bool { return c.Key == "model" })
	require.GreaterOrEqual(t, i, 0)
	for of, counts := range map[string][3]int{
		"read":    {report.Texts.InputTokens, int(report.Cost[i].InputTokens), sums["read"]},
		"written": {report.Texts.OutputTokens, int(report.Cost[i].OutputTokens), sums["written"]},
	} {
		require.Equal(t, counts[0], counts[1], "%s: stand-in and table", of)
		require.Equal(t, counts[1], counts[2], "%s: table and export", of)
	}
}

// requireDecisions compares the decision points of the export with those of the
// table, and those that send with the prompts that the carrier took.
func requireDecisions(t *testing.T, report rehearsal.Report, rows []map[string]string) {
	t.Helper()
	exported := map[string]int{}
	for _, d := range rows {
		if d["availability"] == "1" {
			exported["available, "+d["option"]]++
		} else {
			exported[d["reason"]]++
		}
	}
	require.Equal(t, report.Availability, exported)
	require.Positive(t, exported["available, none"])
	require.Equal(t, report.SendsByKind[models.KindPrompt], exported["available, send"])
}

func readCSV(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	cells, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for _, line := range cells[1:] {
		row := map[string]string{}
		for i, name := range cells[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func TestStudyRehearseRefuses(t *testing.T) {
	unknown := filepath.Join(t.TempDir(), "unknown.json")
	require.NoError(t, os.WriteFile(unknown, []byte(`{"colour":"red"}`), 0o600))
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"default", "--people", "1"}, exitUsage, "people: must be between 2 and 1000"},
		{[]string{"default", "--start", "soon"}, exitUsage, `"soon" is not a day`},
		{[]string{"default", "--model-faults", "0.9"}, exitUsage, "model-faults: must be between 0 and 0.5"},
		{[]string{"walking", "--settings", unknown}, exitFailed, "colour"},
		{[]string{"walking", "--settings", unknown + ".none"}, exitFailed, "--settings"},
	} {
		code, _, complaint := call(t, nil, append([]string{"study", "rehearse"}, tc.args...)...)
		require.Equal(t, tc.code, code, complaint)
		require.Contains(t, complaint, tc.want)
	}
}
