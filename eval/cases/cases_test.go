package cases_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/eval/cases"
)

const good = `
shows: [A1]
about: one line
clock: 2026-03-02 10:00
person: {name: Ada, zone: America/New_York}
steps:
  - text: hello
    must: {calls: 1, says: [hi]}
`

// TestTheBook holds the set to what it is for.
func TestTheBook(t *testing.T) {
	all, err := cases.Load(cases.Files)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 20)
	shown := map[string]bool{}
	for _, one := range all {
		require.NotEmpty(t, one.Name)
		require.NotEmpty(t, one.Shows, one.Name)
		for _, id := range one.Shows {
			shown[id] = true
		}
	}
	for _, id := range []string{"A1", "A34", "A37", "A44", "A46", "A55", "A58", "H4", "H6", "H7", "H17", "J77"} {
		require.True(t, shown[id], "%s is shown by no case", id)
	}
}

func TestParse(t *testing.T) {
	one, err := cases.Parse([]byte(good))
	require.NoError(t, err)
	begins, err := one.Begins()
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC), begins)

	for _, tc := range []struct{ name, from, to, want string }{
		{"unknown field", "about:", "abot:", "field abot not found"},
		{"no about", "about: one line", "", "about and steps are required"},
		{"no id", "[A1]", "[a text]", `"a text" is no id`},
		{"clock", "10:00", "25:00", "clock"},
		{"zone", "America/New_York", "Moon/Base", "zone"},
		{"name", "name: Ada, ", "", "name is required"},
		{"mode", "name: Ada", "name: Ada, mode: CHAT", `mode "CHAT"`},
		{"protocol", "about:", "protocols: [smoke]\nabout:", "want text or two_phase"},
		{"fact", "name: Ada", "name: Ada, facts: [{kind: rumour, text: x, days_ago: 1}]", "want a kind"},
		{"schedule", "name: Ada", `name: Ada, schedules: ["8"]`, "want HH:MM"},
		{"pattern", "[hi]", "['(']", "step 1: pattern"},
		{"pattern of an argument", "calls: 1", "all_of: [{tool: x, args: {y: '('}}]", "step 1: pattern"},
		{"call without a tool", "calls: 1", "none_of: [{args: {y: z}}]", "a call needs a tool"},
		{"expected schedule", "calls: 1", "schedules: [soon]", "want HH:MM"},
		{"what cannot break", "text: hello", "text: hello\n    broken: [scheduler]", "cannot break"},
		{"a wait that is too long", "text: hello", "text: hello\n    wait: 9000h", "want 0 to a year"},
		{"new with a text", "name: Ada", "name: Ada, new: true", "exactly when the person is new"},
		{"no YAML", "steps:", "\tsteps", "reading case"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(good, tc.from, tc.to, 1)
			require.NotEqual(t, good, text)
			_, err := cases.Parse([]byte(text))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestLoadNamesEveryBadFile(t *testing.T) {
	_, err := cases.Load(fstest.MapFS{
		"good.yaml": {Data: []byte(good)}, "bad.yaml": {Data: []byte("about: [")}, "worse.yaml": {Data: nil}, "notes.txt": {Data: []byte("x")},
	})
	require.ErrorContains(t, err, "bad.yaml")
	require.ErrorContains(t, err, "worse.yaml")
	require.NotContains(t, err.Error(), "notes.txt")
	_, err = cases.Load(fstest.MapFS{})
	require.ErrorContains(t, err, "no cases")
}

// FuzzParse: what Parse takes has steps and an instant to begin at.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("steps: [{text: x, must: {says: ['(']}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, err := cases.Parse(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, one.Steps)
		_, err = one.Begins()
		require.NoError(t, err)
	})
}
