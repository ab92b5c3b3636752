package toolcall_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

var (
	neverShown = regexp.MustCompile("(?i)```|</?think(?:ing)?>|<unused\\d+>|</?tool_call>|tool_calls[\"']?[ \\t]*[:=]|<\\|[a-z_]{1,40}\\|>")
	marked     = regexp.MustCompile("(?i)```|<tool_calls?>|<function_calls?>|tool_calls?[\"']?[ \\t]*[:=]|\\[tool_calls\\]")
)

// vanishes matches what may leave a mark behind that was not in the text.
var vanishes = regexp.MustCompile(`(?i)<|\[/?(?:think|inst)\]`)

func requireSound(t *testing.T, text string, got toolcall.Verdict) {
	known := func(c models.ToolCall) bool {
		return slices.ContainsFunc(tools(), func(spec models.ToolSpec) bool { return spec.Name == c.Name })
	}
	require.Equal(t, got.Judgment == toolcall.Calls, len(got.Calls) > 0)
	for _, c := range got.Calls {
		require.NotEmpty(t, c.Name)
		require.True(t, json.Valid([]byte(c.Arguments)), c.Arguments)
		require.True(t, known(c) || vanishes.MatchString(text) || !utf8.ValidString(text) || marked.MatchString(text), "a bare call of something unknown")
	}
	require.False(t, neverShown.MatchString(got.Text), got.Text)
	require.True(t, utf8.ValidString(got.Text))
	if got.Text != "" {
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Words, Text: got.Text}, toolcall.Judge(said(got.Text), tools()))
	}
	require.Equal(t, got.Judgment == toolcall.Words, got.Text != "" && got.Judgment != toolcall.Calls)
}

func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		"Nice walk!", "```tool_call\n{\"name\":\"stop\",\"arguments\":{}}\n```", "tool_calls: [{'name': 'stop', 'arguments': {}}", "stop()",
		"scheduler: action: list", "save_profile(habit=\"walk\")", "<think>a</think>b", "a</think>", `{"reply":"\u003cthink>x"}`, `"\"a\""`, "Great. tool_calls: []",
		"[Tool result: x]\n{}", "<tool_call>{}", "[TOOL_CALLS][", "``````", "<|channel|>analysis<|channel|>final<|message|>x", `{"a":[{"b":`, "{'a': 'it's'}",
		"scheduler(", "scheduler(a=", "stop:", "- stop: {", "web_search(\"a\", \"b\")", "```json\n{\"name\":\"x\",\"arguments\":\"{}\"}", "<</s>think>", "\\u", "[```00000000 0]", "ttool_calls:", "tool_calls: {}", "{\"\\", "stop({\"a\":1})x",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		answer := said(text)
		if cut {
			answer.FinishReason = "length"
		}
		requireSound(t, text, toolcall.Judge(answer, tools()))
		without := toolcall.Judge(answer, nil)
		require.Empty(t, without.Calls)
		require.False(t, neverShown.MatchString(without.Text))
	})
}

func FuzzTwoPhase(f *testing.F) {
	for _, seed := range []string{`{"tool":"stop"}`, `{"tool":null}`, "{", `{"name":"x","arguments":{"a":1}}`, "{a:b,c:'d'}", "{{}}", "<think>{</think>{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := toolcall.ReadChoice(text, tools())
		if err == nil && name != "" {
			require.True(t, slices.ContainsFunc(tools(), func(spec models.ToolSpec) bool { return spec.Name == name }))
		}
		args, err := toolcall.ReadArguments(text)
		if err == nil {
			var object map[string]any
			require.NoError(t, json.Unmarshal([]byte(args), &object))
		}
	})
}
