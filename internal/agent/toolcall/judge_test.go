package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// tools are what most cases offer: names that are words and names that are not.
func tools() []models.ToolSpec {
	return []models.ToolSpec{
		{Name: "scheduler", Description: "Daily prompts.", Schema: json.RawMessage(`{"type":"object","properties":{
			"action":{"type":"string"},"fixed_time":{"type":"string"},"count":{"type":"integer"}},"required":["action","count"]}`)},
		{Name: "save_profile", Description: "Saves what the person said.", Schema: json.RawMessage(`{"type":"object","properties":{"habit":{"type":"string"}}}`)},
		{Name: "web_search", Description: "Looks\nthings up.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
		{Name: "stop", Description: "Ends the exchange."},
		{Name: "pause", Description: "Waits.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
}

func said(text string) models.ChatResponse { return models.ChatResponse{Text: text} }

func call(name, args string) models.ToolCall { return models.ToolCall{Name: name, Arguments: args} }

// Every shape, and every call of an answer.
func TestJudgeFindsCallsInText(t *testing.T) {
	list := call("scheduler", `{"action":"list"}`)
	walk := call("save_profile", `{"habit":"walk"}`)
	tests := []struct {
		name, in, words string
		want            []models.ToolCall
	}{
		{name: "fence", in: "```tool_call\n{\"name\": \"scheduler\", \"arguments\": {\"action\": \"list\"}}\n```", want: []models.ToolCall{list}},
		{name: "fence on one line", in: "```tool_call {\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}```", want: []models.ToolCall{list}},
		{name: "fence without its end", in: "One moment.\n```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}", words: "One moment.", want: []models.ToolCall{list}},
		{name: "fence marked json", in: "```json\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```", want: []models.ToolCall{list}},
		{name: "fence without a mark", in: "```\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```", want: []models.ToolCall{list}},
		{name: "tag", in: "<tool_call>\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n</tool_call>", want: []models.ToolCall{list}},
		{name: "tag without its end", in: "<tool_call>{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}", want: []models.ToolCall{list}},
		{name: "fence around a bare call", in: "```tool_call\nscheduler(action=\"list\")\n```", want: []models.ToolCall{list}},
		{name: "fence around a list", in: "```tool_calls\n[{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}]\n```", want: []models.ToolCall{list}},
		{name: "fence that names an unknown tool", in: "```tool_call\n{\"name\":\"send_email\",\"arguments\":{\"to\":\"a\"}}\n```", want: []models.ToolCall{call("send_email", `{"to":"a"}`)}},
		{name: "two fences", in: "Sure.\n```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```\n```tool_call\n{\"name\":\"save_profile\",\"arguments\":{\"habit\":\"walk\"}}\n```", words: "Sure.", want: []models.ToolCall{list, walk}},
		{name: "two objects in one fence", in: "```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n{\"name\":\"save_profile\",\"arguments\":{\"habit\":\"walk\"}}\n```", want: []models.ToolCall{list, walk}},
		{name: "shapes mixed, in order", in: "save_profile(habit=\"walk\")\n```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```", want: []models.ToolCall{walk, list}},

		{name: "literal", in: `tool_calls: [{"name":"scheduler","arguments":{"action":"list"}}]`, want: []models.ToolCall{list}},
		{name: "literal of the API's shape", in: `tool_calls: [{"id":"x","type":"function","function":{"name":"scheduler","arguments":"{\"action\":\"list\"}"}}]`, want: []models.ToolCall{list}},
		{name: "lenient: Python", in: "tool_calls: [{'name': 'scheduler', 'arguments': {'action': 'list',},},]", want: []models.ToolCall{list}},
		{name: "lenient: no quotes", in: "tool_calls: [{name: scheduler, arguments: {action: list}}]", want: []models.ToolCall{list}},
		{name: "lenient: no closing brackets", in: `tool_calls: [{"name":"scheduler","arguments":{"action":"list"}`, want: []models.ToolCall{list}},
		{name: "lenient: apostrophe", in: "tool_calls: [{'name': 'save_profile', 'arguments': {'habit': 'it's a walk'}}]", want: []models.ToolCall{call("save_profile", `{"habit":"it's a walk"}`)}},
		{name: "literal behind a mark of its family", in: `[TOOL_CALLS][{"name":"scheduler","arguments":{"action":"list"}}]`, want: []models.ToolCall{list}},
		{name: "message of the API", in: `{"content":"One moment.","tool_calls":[{"function":{"name":"scheduler","arguments":"{\"action\":\"list\"}"}}]}`, words: "One moment.", want: []models.ToolCall{list}},
		{name: "JSON alone", in: `{"name":"scheduler","parameters":{"action":"list"}}`, want: []models.ToolCall{list}},
		{name: "JSON alone behind a template's mark", in: `<|python_tag|>{"name":"scheduler","parameters":{"action":"list"}}<|eom_id|>`, want: []models.ToolCall{list}},

		{name: "name(...)", in: `save_profile(habit="walk")`, want: []models.ToolCall{walk}},
		{name: "name(...) with words around", in: "Noted.\nsave_profile(habit='walk');\nBack soon.", words: "Noted.\nBack soon.", want: []models.ToolCall{walk}},
		{name: "name(...) of several", in: `scheduler(action=create, fixed_time=08:00, count=2)`, want: []models.ToolCall{call("scheduler", `{"action":"create","count":2,"fixed_time":"08:00"}`)}},
		{name: "name(...) with an object", in: `save_profile({"habit": "walk"})`, want: []models.ToolCall{walk}},
		{name: "name(...) with the only argument", in: `save_profile("walk")`, want: []models.ToolCall{walk}},
		{name: "name(...) with the required argument", in: `web_search("knees", limit=3)`, want: []models.ToolCall{call("web_search", `{"limit":3,"query":"knees"}`)}},
		{name: "name()", in: "stop()", want: []models.ToolCall{call("stop", "{}")}},
		{name: "name(...) with a bracket inside", in: `save_profile(habit="walk (slowly), it's fine")`, want: []models.ToolCall{call("save_profile", `{"habit":"walk (slowly), it's fine"}`)}},
		{name: "name: key: value", in: "save_profile: habit: walk", want: []models.ToolCall{walk}},
		{name: "name: key: value of several", in: "scheduler: action: create, fixed_time: 08:00, count: 2", want: []models.ToolCall{call("scheduler", `{"action":"create","count":2,"fixed_time":"08:00"}`)}},
		{name: "name: key: value on lines", in: "scheduler:\n  action: create\n  fixed_time: \"08:00\"\nDone soon.", words: "Done soon.", want: []models.ToolCall{call("scheduler", `{"action":"create","fixed_time":"08:00"}`)}},
		{name: "name: object", in: `save_profile: {"habit": "walk"}`, want: []models.ToolCall{walk}},
		{name: "a number where a text is wanted", in: "save_profile: habit: 5", want: []models.ToolCall{call("save_profile", `{"habit":"5"}`)}},

		{name: "call before thinking", in: "<think>list them</think>```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```", want: []models.ToolCall{list}},
		{name: "calls behind an invented result are dropped", in: "```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```\n[Tool result: scheduler]\n{\"ok\":true}\nsave_profile(habit=\"walk\")\nDone!", want: []models.ToolCall{list}},
		{name: "arguments that are no object are the tool's to refuse", in: "```tool_call\n{\"name\":\"scheduler\",\"arguments\":[1]}\n```", want: []models.ToolCall{call("scheduler", "[1]")}},
		{name: "no arguments", in: "```tool_call\n{\"name\":\"scheduler\",\"arguments\":null}\n```", want: []models.ToolCall{call("scheduler", "{}")}},
		{name: "a readable call beside one that is not", in: "```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}}\n```\nBoth done!\n```tool_call\n{{\n```", want: []models.ToolCall{list}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := toolcall.Judge(said(tt.in), tools())
			require.Equal(t, toolcall.Verdict{Judgment: toolcall.Calls, Text: tt.words, Calls: tt.want}, got)
		})
	}
}

func TestJudgeWords(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", " Nice walk! \n", "Nice walk!"},
		{"JSON with a reply in it", `{"reply":"Nice walk!"}`, "Nice walk!"},
		{"quotes in prose", `He wrote "location": park`, `He wrote "location": park`},
		{"thinking is invisible", "<think>What now?</think>\nNice walk!", "Nice walk!"},
		{"response", `{"response":"Hi"}`, "Hi"},
		{"order of fields", `{"reply":"b","message":"a"}`, "a"},
		{"longest string is not a reply", "{\"text\":\"Hi\",\"note\":\"a much longer text\"}", "Hi"},
		{"empty error", `{"error":null,"message":"Hi"}`, "Hi"},
		{"message of the API without calls", `{"role":"assistant","content":"Hi","tool_calls":[]}`, "Hi"},
		{"wrapped twice", `{"response":"{\"text\":\"Hi\"}"}`, "Hi"},
		{"quoted text", `"Nice walk!"`, "Nice walk!"},
		{"fenced JSON", "```json\n{\"response\":\"Hi\"}\n```", "Hi"},
		{"think tags", "<think>…</think> Hi", "Hi"},
		{"thinking without its beginning", "What now?</think>Hi", "Hi"},
		{"thinking in the middle", "Hi <thinking>x</thinking>Ada", "Hi Ada"},
		{"thinking inside thinking", "<think>a<think>b</think>c</think>Hi", "Hi"},
		{"thinking that comes together", "<thi<think>x</think>nk>a</think>Hi", "Hi"},
		{"thinking in brackets", "[THINK]x[/THINK]Hi", "Hi"},
		{"channels", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>", "Hi"},
		{"marks of a template", "Hi</s><|im_end|>", "Hi"},
		{"lines of the protocol are removed", "[Tool result: scheduler]\nHi Ada", "Hi Ada"},
		{"a code fence loses its marks", "Run:\n```sh\nmake\n```\nok", "Run:\nmake\nok"},
		{"words that begin with a bracket", "[Plan] walk first", "[Plan] walk first"},
		{"a note number", "[1] walk", "[1] walk"},
		{"prose that begins with a name", "stop: at the red house: turn left", "stop: at the red house: turn left"},
		{"prose with a name and a bracket", "The scheduler (that is me) is on.", "The scheduler (that is me) is on."},
		{"a list that begins with a name", "scheduler: on", "scheduler: on"},
		{"a call of something unknown is prose", "call me (maybe)", "call me (maybe)"},
		{"braces within", "Use {name} for it", "Use {name} for it"},
		{"a box to tick", "[ ] walk\n[ ] rest", "[ ] walk\n[ ] rest"},
		{"a name with a note", "Look at my_plan (the old one).", "Look at my_plan (the old one)."},
		{"an address", "https://example.org/a_b_(c)?d={e}", "https://example.org/a_b_(c)?d={e}"},
		{"a tool that takes nothing", "pause: today: no walk", "pause: today: no walk"},
		{"a tool without a schema", "So\n stop: https://example.org/a_b then", "So\n stop: https://example.org/a_b then"},
		{"one emoji", "👍", "👍"},
		{"a smile", ":)", ":)"},
		{"a number", "5", "5"},
		{"None as a word", "None of them.", "None of them."},
		{"not text", "Hi\xff Ada", "Hi Ada"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, toolcall.Verdict{Judgment: toolcall.Words, Text: tt.want}, toolcall.Judge(said(tt.in), tools()))
		})
	}
}

func TestJudgeMalformed(t *testing.T) {
	for _, tt := range []struct{ name, in string }{
		{"malformed text", "tool_calls: []"},
		{"words before an empty list", "Great. tool_calls: []"},
		{"list of data", `[{"a":1}]`},
		{"null", "null"},
		{"fenced empty list", "```json\n[]\n```"},
		{"object whose bracket is missing", `{"reply":"Hi"`},
		{"fenced data", "```json\n{\"a\":1}\n```"},
		{"fenced data beside words", "Here:\n```json\n{\"reply\":\"Hi\"}\n```"},
		{"object that does not end", `{"reply":"Hi`},
		{"object without words", `{"a":1}`},
		{"data-dump key", `{"location":"park","temp":5}`},
		{"any case", "TOOL_CALLS: scheduler"},
		{"tool_code", "tool_code\nprint(1)"},
		{"tool_output", "Tool_Output: 5"},
		{"unused mark", "Hi <unused94> Ada"},
		{"error is no reply", `{"error":"boom"}`},
		{"a message beside an error", `{"error":"boom","message":"internal"}`},
		{"empty list", "[]"},
		{"data on a line", "Done.\n{\"ok\":true}"},
		{"invented result", "[Tool result: scheduler]\n{\"ok\":true}\nDone, it is set."},
		{"fence that cannot be read", "Done, it is set!\n```tool_call\nscheduler at 8\n```"},
		{"empty fence", "```tool_call\n```"},
		{"argument cut off", "```tool_call\n{\"name\":\"save_profile\",\"arguments\":{\"habit\":\"wal"},
		{"number cut off", `tool_calls: [{"name":"scheduler","arguments":{"count":1`},
		{"call of something unknown", `delete_all(x="y")`},
		{"call inside a sentence", `I will use save_profile(habit="walk") now.`},
		{"call of a name that is a word", `I will use scheduler(action="list") now.`},
		{"several values without names", `scheduler("a", "b")`},
		{"argument given twice", `save_profile(habit="walk", habit="run")`},
		{"call that cannot be read", "save_profile: later"},
		{"JSON that names an unknown tool", `{"name":"send_email","arguments":{}}`},
		{"call inside a reply", `{"reply":"<tool_call>{\"name\":\"stop\",\"arguments\":{}}</tool_call>"}`},
		{"call that appears when a mark goes", "tool_<|x|>calls: []"},
		{"brackets", "}]"},
		{"wrapped too often", `{"text":` + wrapped(17) + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, toolcall.Verdict{Judgment: toolcall.Malformed}, toolcall.Judge(said(tt.in), tools()))
		})
	}
}

// Prose comes back as it was.
func TestJudgeKeepsProse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"walk", "Nice!", "x < 3", "stop:", "pause", "scheduler", "(so)", "[ok]", "{x}", "\"location\":", "'quoted'", "“quoted”", "5", "8:30", "a_b",
			"- walk", "\n", "\n\n", "**bold**", "`code`", "👍🏽", "今日は", "think", "json", "null", "tool", "call me (maybe)", "save it: now", "1. rest", "https://example.org/a_b",
		}), 1, 30).Draw(t, "words")
		text := "So " + strings.Join(words, " ") + " then."
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Words, Text: text}, toolcall.Judge(said(text), tools()))
	})
}

// wrapped is a JSON string of a JSON object of a JSON string, and so on.
func wrapped(times int) string {
	text := `"Hi"`
	for range times {
		raw, _ := json.Marshal(`{"text":` + text + `}`)
		if len(raw) > 1<<20 {
			break
		}
		text = string(raw)
	}
	return text
}

func TestJudgeThinkingAndEmpty(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     toolcall.Judgment
	}{
		{"thinking uses a round and is not seen", "<think>What now?</think>", toolcall.Thinking},
		{"thinking without its end", "<think>I should call ```tool_call\n{\"name\":\"stop\",\"arguments\":{}}\n```", toolcall.Thinking},
		{"thinking without its beginning", "What now?</think>", toolcall.Thinking},
		{"a channel of thinking", "<|channel|>analysis<|message|>hm", toolcall.Thinking},
		{"empty and used up have words of their own", "", toolcall.Empty},
		{"blank", " \n\t", toolcall.Empty},
		{"marks only", "</s>", toolcall.Empty},
		{"empty quotes", `""`, toolcall.Empty},
		{"own lines only", "[Tool result: x]", toolcall.Empty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, toolcall.Verdict{Judgment: tt.want}, toolcall.Judge(said(tt.in), tools()))
		})
	}
}

func TestJudgeNativeCalls(t *testing.T) {
	calls := []models.ToolCall{{ID: "a", Name: "scheduler", Arguments: "{"}, {ID: "b", Name: "unknown", Arguments: "{}"}}
	answer := models.ChatResponse{Text: "<think>hm</think>One moment.", Calls: calls}
	t.Run("the API's calls first, as they are", func(t *testing.T) {
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Calls, Text: "One moment.", Calls: calls}, toolcall.Judge(answer, tools()))
	})
	t.Run("not those in the text besides", func(t *testing.T) {
		both := answer
		both.Text = "Hm.\n```tool_call\n{\"name\":\"stop\",\"arguments\":{}}\n```"
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Calls, Text: "Hm.", Calls: calls}, toolcall.Judge(both, tools()))
	})
	t.Run("words that are not fit are dropped", func(t *testing.T) {
		bad := answer
		bad.Text = `{"a":1}`
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Calls, Calls: calls}, toolcall.Judge(bad, tools()))
		bad.Text = "tool_calls: []"
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Calls, Calls: calls}, toolcall.Judge(bad, tools()))
	})
	t.Run("none without tools", func(t *testing.T) {
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Words, Text: "One moment."}, toolcall.Judge(answer, nil))
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Malformed}, toolcall.Judge(said("Done.\n```tool_call\n{\"name\":\"stop\",\"arguments\":{}}\n```"), nil))
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Words, Text: "stop: habit: x"}, toolcall.Judge(said("stop: habit: x"), nil))
	})
}

// An answer that its limit cut off may lack arguments, even where its brackets
// can be completed.
func TestJudgeRefusesWhatALimitCut(t *testing.T) {
	for _, text := range []string{
		"```tool_call\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}",
		`tool_calls: [{"name":"scheduler","arguments":{"action":"list"}`,
		`<tool_call>{"name":"scheduler","arguments":{"action":"list"}}`,
		"```json\n{\"name\":\"scheduler\",\"arguments\":{\"action\":\"list\"}",
	} {
		answer := models.ChatResponse{Text: text, FinishReason: "length"}
		require.Equal(t, toolcall.Malformed, toolcall.Judge(answer, tools()).Judgment, text)
		answer.FinishReason = "stop"
		require.Equal(t, toolcall.Calls, toolcall.Judge(answer, tools()).Judgment, text)
	}
}
