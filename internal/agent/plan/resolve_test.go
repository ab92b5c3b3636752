package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestConcrete(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"quoted", "scheduler action='create' time='08:00'", `scheduler {"action":"create","time":"08:00"}`},
		{"other quotes", `scheduler action="create", time=“08:00”`, `scheduler {"action":"create","time":"08:00"}`},
		{"no quotes", "scheduler action=create time=08:00.", `scheduler {"action":"create","time":"08:00"}`},
		{"in parentheses", "scheduler(action='create', time='08:00').", `scheduler {"action":"create","time":"08:00"}`},
		{"behind a colon", "scheduler: action='list'", `scheduler {"action":"list"}`},
		{"numbers and truth", "scheduler action='list' days='3' weight=70.5 loud=true", `scheduler {"action":"list","days":3,"loud":true,"weight":70.5}`},
		{"nullable text", "scheduler action='list' note='x < 3 & y'", `scheduler {"action":"list","note":"x < 3 & y"}`},
		{"no arguments", "clock", `clock {}`},
		{"no arguments, in parentheses", "clock()", `clock {}`},
		{"nothing required", "save", `save {}`},
		{"argument without a type", "save kind='goal'", `save {"kind":"goal"}`},
		{"apostrophe", "save note='it's fine'", `save {"note":"it's fine"}`},
		{"apostrophe before a space", "save note='the dogs' walk' kind='x'", `save {"kind":"x","note":"the dogs' walk"}`},
		{"escaped", `save note='it\'s fine'`, `save {"note":"it's fine"}`},
		{"round apostrophe", "save note='it’s fine'", `save {"note":"it’s fine"}`},
		{"emphasis", "**save** note='x'", `save {"note":"x"}`},
		{"text left over", "save note='it's fine' tomorrow", ""},
		{"text in front", "save the note note='x'", ""},
		{"words only", "clock for today", ""},
		{"quote without an end", "save note='x", ""},
		{"parenthesis without an end", "save(note='x'", ""},
		{"angle brackets", "save note='<time>'", ""},
		{"angle brackets apart", "save note='a < b' kind='c > d'", ""},
		{"a step that was cut", "save note=" + strings.Repeat("x", 190) + "…", ""},
		{"longer than a step", "save note='" + strings.Repeat("x", 200) + "'", ""},
		{"unknown argument", "scheduler action='list' hour='8'", ""},
		{"argument twice", "save note='a' note='b'", ""},
		{"a required one is missing", "scheduler time='08:00'", ""},
		{"not an allowed value", "scheduler action='move'", ""},
		{"not a whole number", "scheduler action='list' days='3.5'", ""},
		{"not a number", "scheduler action='list' weight='many'", ""},
		{"number in JSON quotes", `scheduler action='list' weight='"7"'`, ""},
		{"not a truth", "scheduler action='list' loud='maybe'", ""},
		{"a list", "scheduler action='list' tags='a'", ""},
		{"JSON without quotes", `scheduler action=list tags=["a"]`, ""},
		{"unknown tool", "calendar day='x'", ""},
		{"search for tools", "tool_search query='calendar'", ""},
		{"stop", "stop", ""},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call, ok := Concrete(Step{Text: tt.in}, sample(), nil)
			require.Equal(t, tt.want != "", ok)
			require.Equal(t, tt.want, strings.TrimSpace(call.Name+" "+call.Arguments))
			require.Empty(t, call.ID)
		})
	}
	t.Run("a repeat", func(t *testing.T) {
		past := []Past{done("save", `{"note": "x"}`)}
		_, ok := Concrete(Step{Text: "save note='x'"}, sample(), past)
		require.False(t, ok)
		_, ok = Concrete(Step{Text: "save note='y'"}, sample(), past)
		require.True(t, ok)
	})
	t.Run("outside the allow-list", func(t *testing.T) {
		_, ok := Concrete(Step{Text: "save note='x'"}, Catalogue{Tools: sample().Tools[:1]}, nil)
		require.False(t, ok)
	})
	t.Run("a schema that cannot be read", func(t *testing.T) {
		broken := Catalogue{Tools: []models.ToolSpec{{Name: "save", Schema: json.RawMessage(`{"properties":[`)}}}
		_, ok := Concrete(Step{Text: "save note='x'"}, broken, nil)
		require.False(t, ok)
	})
}

func TestResolve(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"call", `{"name":"scheduler","arguments":{"time":"08:00","action":"create"}}`, `scheduler {"action":"create","time":"08:00"}`},
		{"unknown argument dropped", `{"name":"save","arguments":{"note":"x","hour":8}}`, `save {"note":"x"}`},
		{"fenced", "```json\n{\"name\":\"clock\",\"arguments\":{}}\n```", `clock {}`},
		{"with prose", `Here: {"name":"clock"} as you asked {sic}`, `clock {}`},
		{"prose with braces in front", `{the call} {"name":"clock","arguments":null}`, `clock {}`},
		{"in a list", `[{"name":"clock"}]`, `clock {}`},
		{"arguments as text", `{"name":"save","arguments":"{\"note\":\"it's <b>\"}"}`, `save {"note":"it's <b>"}`},
		{"null erases", `{"name":"scheduler","arguments":{"action":"list","note":null}}`, `scheduler {"action":"list","note":null}`},
		{"thinking", `<think>{"name":"save"}</think>{"name":"clock"}`, `clock {}`},
		{"null", "null", ""},
		{"null with a reason", `null, since {"name":"clock"} is not needed`, ""},
		{"invalid", `{"name":"clock"`, ""},
		{"words", "call the clock", ""},
		{"empty", "", ""},
		{"unknown tool", `{"name":"calendar","arguments":{}}`, ""},
		{"no name", `{"arguments":{}}`, ""},
		{"name of another type", `{"name":7}`, ""},
		{"search for tools", `{"name":"tool_search","arguments":{"query":"x"}}`, ""},
		{"stop", `{"name":"stop"}`, ""},
		{"arguments are a list", `{"name":"save","arguments":[1]}`, ""},
		{"arguments are words", `{"name":"save","arguments":"note x"}`, ""},
		{"a required one is missing", `{"name":"scheduler","arguments":{"time":"8"}}`, ""},
		{"a repeat", `{"name":"save","arguments":{"kind":"a","note":"same"}}`, ""},
	}
	past := []Past{done("save", `{"note":"same","kind":"a"}`)}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call, ok := Resolve(tt.in, sample(), past)
			require.Equal(t, tt.want != "", ok)
			require.Equal(t, tt.want, strings.TrimSpace(call.Name+" "+call.Arguments))
		})
	}
}

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		`{"name":"save","arguments":{"note":"x"}}`, "null", `{"name":"save","arguments":"{"}`, "```json\n{}", "{{{{{{{{{{{{", `{"name":"clock","arguments":""}`, "\x00{\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		call, ok := Resolve(answer, sample(), nil)
		if !ok {
			require.Equal(t, models.ToolCall{}, call)
			return
		}
		spec, known := sample().findSpec(call.Name)
		require.True(t, known)
		require.NotContains(t, []string{"stop", "tool_search"}, call.Name)
		var arguments map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(call.Arguments), &arguments))
		for key := range arguments {
			require.Contains(t, schemaOf(spec.Schema).Properties, key)
		}
	})
}
