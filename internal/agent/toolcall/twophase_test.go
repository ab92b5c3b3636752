package toolcall_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

func TestReadChoice(t *testing.T) {
	for _, tt := range []struct{ name, in, want, problem string }{
		{"a name", `{"tool": "scheduler"}`, "scheduler", ""},
		{"null", `{"tool": null}`, "", ""},
		{"null as a text", `{"tool": "null"}`, "", ""},
		{"none", `{"tool": "none"}`, "", ""},
		{"fenced", "```json\n{\"tool\": \"stop\"}\n```", "stop", ""},
		{"with words and thinking", "<think>{</think>I choose {\"tool\": \"stop\"}.", "stop", ""},
		{"lenient", "{tool: 'stop',}", "stop", ""},
		{"words", "I would use scheduler.", "", "not one JSON object"},
		{"nothing", "", "", "not one JSON object"},
		{"two objects", `{"tool":"stop"} {"tool":"scheduler"}`, "", "not one JSON object"},
		{"cut off", `{"tool":"stop"`, "", "not one JSON object"},
		{"no field", `{"name":"stop"}`, "", "no field tool"},
		{"not offered", `{"tool":"send_email"}`, "", "no tool of the list"},
		{"odd value", `{"tool":["stop"]}`, "", "neither a name nor null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := toolcall.ReadChoice(tt.in, tools())
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestReadArguments(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"an object", `{"habit": "walk"}`, `{"habit":"walk"}`},
		{"fenced", "```json\n{\"habit\": \"walk\"}\n```", `{"habit":"walk"}`},
		{"the whole call", `{"name":"save_profile","arguments":{"habit":"walk"}}`, `{"habit":"walk"}`},
		{"the whole call by another word", `{"tool":"save_profile","arguments":{"habit":"walk"}}`, `{"habit":"walk"}`},
		{"an argument that is called name", `{"name":"Ada"}`, `{"name":"Ada"}`},
		{"an argument that is called arguments", `{"arguments":{"habit":"walk"}}`, `{"arguments":{"habit":"walk"}}`},
		{"empty", `{}`, `{}`},
		{"words", "walk", ""},
		{"cut off", `{"habit":"walk"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := toolcall.ReadArguments(tt.in)
			if tt.want == "" {
				require.ErrorContains(t, err, "not one JSON object")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestO17ToolsWithoutArgumentsSkipTheSecondPhase(t *testing.T) {
	require.True(t, toolcall.TakesArguments(tools()[0]))
	for _, schema := range []string{``, `{}`, `{"type":"object","properties":{}}`, `{`} {
		require.False(t, toolcall.TakesArguments(models.ToolSpec{Name: "now", Schema: json.RawMessage(schema)}))
	}
	require.False(t, toolcall.TakesArguments(models.ToolSpec{}))
}
