package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/models/wire"
)

// TestSpecsMatchTheirGoldenFiles pins what the model is given: a change of a
// name, a description or a schema shows in the diff of testdata.
func TestSpecsMatchTheirGoldenFiles(t *testing.T) {
	registry, err := New(append(PlaybookTools(playbooks(t)), Subagents()...)...)
	require.NoError(t, err)
	want := map[string]bool{}
	for _, name := range registry.current.Load().order {
		tool, ok := registry.Lookup(name)
		require.True(t, ok)
		file := filepath.Join("testdata", name+".golden.json")
		want[file] = true
		spec := golden(t, tool)
		if goldens.ShouldRecord() {
			require.NoError(t, os.WriteFile(file, spec, 0o644))
		}
		stored, err := os.ReadFile(file)
		require.NoError(t, err, "a tool needs its golden file")
		require.Equal(t, string(stored), string(spec))
	}
	files, err := filepath.Glob("testdata/*.golden.json")
	require.NoError(t, err)
	for _, file := range files {
		require.True(t, want[file], "%s belongs to no tool", file)
	}
}

func golden(t *testing.T, tool Tool) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	spec := map[string]any{
		"name": tool.Name, "description": tool.Description, "parameters": tool.Schema,
		"in_workflow": tool.InWorkflow(), "modes": tool.Modes,
	}
	if tool.ReadOnly {
		spec["read_only"] = true
	}
	if tool.Ends {
		spec["ends"] = true
	}
	require.NoError(t, encoder.Encode(spec))
	return out.Bytes()
}

// ordinaryNames lists the tools that are offered and do not steer the turn.
func ordinaryNames(t *testing.T) []string {
	return newRegistry(t).named(func(tool *Tool) bool { return !tool.Control })
}

func TestOrdinaryToolsOfEachMode(t *testing.T) {
	registry, err := New(PlaybookTools(playbooks(t))...)
	require.NoError(t, err)
	want := ordinaryNames(t)
	require.NotContains(t, want, "end_exchange")
	require.Contains(t, want, "read_playbook")
	for _, mode := range []wire.Mode{wire.ModeIntake, wire.ModeFeedback, "", "COORDINATOR"} {
		var names []string
		for _, spec := range registry.For(mode) {
			names = append(names, spec.Name)
			require.NotEmpty(t, spec.Description)
		}
		mine := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return name == "generate_habit_prompt" && mode == wire.ModeFeedback })
		require.Equal(t, mine, names, "mode %q", mode)
	}
}

func TestOneFileATool(t *testing.T) {
	registry, err := New(append(PlaybookTools(playbooks(t)), Subagents()...)...)
	require.NoError(t, err)
	// Two ways to give a task away are one thing, and so is what steers a turn.
	shared := map[string]string{"spawn": "subagent", "end_exchange": "controls", "find_tools": "controls"}
	for _, name := range registry.current.Load().order {
		source, err := os.ReadFile(cmp.Or(shared[name], name) + ".go")
		require.NoError(t, err)
		require.Regexp(t, `Name: +"`+name+`"`, string(source))
	}
	_, ok := registry.Lookup("delete_everything")
	require.False(t, ok)
}

func TestVocabulary(t *testing.T) {
	registry, err := New(PlaybookTools(playbooks(t))...)
	require.NoError(t, err)
	words := registry.Vocabulary(wire.ModeIntake)
	for _, word := range []string{"habit_domain", "create", "FEEDBACK", "no_emojis", "delay_minutes", "explicit"} {
		require.Contains(t, words, word)
	}
	require.NotContains(t, words, "success_count")
	require.NotContains(t, words, "scheduler")
}
