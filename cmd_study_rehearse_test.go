package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/rehearsal"
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
