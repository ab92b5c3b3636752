package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func names(specs []models.ToolSpec) []string {
	var out []string
	for _, spec := range specs {
		out = append(out, spec.Name)
	}
	return out
}

func TestControls(t *testing.T) {
	registry := newRegistry(t)
	tests := []struct {
		name    string
		leftOut int
		want    []string
	}{
		{"all is offered", 0, []string{"report_concern", "ask_for_person", "end_exchange"}},
		{"some is left out", 1, []string{"report_concern", "ask_for_person", "end_exchange", "find_tools"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			specs := registry.Controls(tt.leftOut)
			require.Equal(t, tt.want, names(specs))
			for _, spec := range specs {
				require.NotEmpty(t, spec.Description)
				require.True(t, json.Valid(spec.Schema))
			}
		})
	}
	require.Equal(t, "end_exchange", registry.Stop())
	require.Equal(t, "find_tools", registry.Search())
}

// TestOnlyStopEnds holds that no tool but stop ends a turn.
func TestOnlyStopEnds(t *testing.T) {
	registry := newRegistry(t)
	for _, name := range registry.current.Load().order {
		tool, ok := registry.Lookup(name)
		require.True(t, ok)
		require.Equal(t, name == registry.Stop(), tool.Ends, name)
	}
	stop, _ := registry.Lookup(registry.Stop())
	t.Run("STOP is the door's", func(t *testing.T) {
		require.Contains(t, stop.Description, "It is no opt-out")
		require.Contains(t, stop.Description, "only when you have said goodbye")
		require.NotContains(t, strings.ToUpper(stop.Description), "UNSUBSCRIBE")
	})
	t.Run("silent end of an exchange", func(t *testing.T) {
		for _, args := range []string{``, `{}`, `"{}"`, `{"reason":null}`} {
			out := run(t, "end_exchange", args, models.Profile{})
			require.False(t, out.Result.Failed)
			require.Nil(t, out.Profile)
			require.JSONEq(t, `{"ok":true,"note":"The exchange ends here; no reply is sent."}`, out.Result.Content)
		}
		out := run(t, "end_exchange", `{"opt_out":true}`, models.Profile{})
		require.True(t, out.Result.Failed)
		require.Contains(t, out.Result.Content, "opt_out: is not an argument of end_exchange; it takes none")
	})
}

func TestFindTools(t *testing.T) {
	call := func(args string, f Finder) models.ToolResult {
		out, err := newRegistry(t).Run(t.Context(), RunInput{Call: models.ToolCall{ID: "c1", Name: "find_tools", Arguments: args}, Finder: f})
		require.NoError(t, err)
		return out.Result
	}
	t.Run("lines as they are", func(t *testing.T) {
		require.Equal(t, models.ToolResult{CallID: "c1", Name: "find_tools", Content: "a: does a\nb: does b"}, call(`{"query":" x "}`, echo("a: does a\nb: does b")))
	})
	for args, want := range map[string]string{
		`{}`: "query: is required", `{"query":7}`: "query: must be text",
		`{"query":"` + strings.Repeat("x", 301) + `"}`: "query: is too long", `{"q":"x","query":"x"}`: "q: is not an argument of find_tools; allowed are query",
	} {
		result := call(args, echo("a: does a"))
		require.True(t, result.Failed)
		require.Contains(t, result.Content, want)
	}
	t.Run("no search here", func(t *testing.T) {
		result := call(`{"query":"x"}`, nil)
		require.True(t, result.Failed)
		require.Contains(t, result.Content, "there are no further tools")
	})
}

// echo finds the same for every query.
type echo string

func (e echo) FindTools(string) string { return string(e) }

// TestMemoryIsWrittenByNoTool: free facts come from the step behind a reply,
// and no tool takes a person's id.
func TestMemoryIsWrittenByNoTool(t *testing.T) {
	registry := newRegistry(t)
	for _, name := range []string{"save_memory", "update_memory", "fetch_memory"} {
		_, ok := registry.Lookup(name)
		require.False(t, ok, "O14 %s", name)
	}
	for _, name := range registry.current.Load().order {
		for _, field := range registry.current.Load().tools[name].fieldNames() {
			require.False(t, slices.ContainsFunc([]string{"participant", "person_id", "phone", "user"}, func(word string) bool {
				return strings.Contains(field, word)
			}), "P49 %s takes %s", name, field)
		}
	}
}
