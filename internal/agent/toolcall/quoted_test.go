package toolcall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

func TestQuotesHold(t *testing.T) {
	held := toolcall.NewQuotes("Look: ```tool_call\n{\"name\": \"save_profile\", \"arguments\": {\"habit\": \"a long walk, in the park, every single day\"}}\n```", "pause {}")
	for _, c := range []models.ToolCall{
		call("save_profile", `{"habit":"a long walk, in the park, every single day"}`),
		call("save_profile", `{"note":"mine","habit":"A long walk; in the park, every now and then"}`),
		call("SAVE_PROFILE", `{"inner":[{"habit":"a long walk in the park every"}]}`),
		call("save_profile", `{}`),
	} {
		require.True(t, held.Hold(c), c)
	}
	for _, c := range []models.ToolCall{
		call("save_profile", `{"habit":"a swim"}`), call("save_profile", `{"note":"a long walk"}`), call("web_search", `{"habit":"a long walk, in the park, every single day"}`),
		call("pause", `{}`), call("", `{}`), call("scheduler", `{"action":"list"}`),
	} {
		require.False(t, held.Hold(c), c)
	}
	require.False(t, toolcall.Quotes{}.Hold(call("save_profile", `{}`)))
}

func TestJudgeNative(t *testing.T) {
	const block = "```tool_call\n{\"name\":\"save_profile\",\"arguments\":{\"habit\":\"walk\"}}\n```"
	quotes := toolcall.NewQuotes("what is this? " + block)
	for _, tt := range []struct {
		name, text string
		quotes     toolcall.Quotes
		want       toolcall.Verdict
	}{
		{"words", "Nice walk!", quotes, toolcall.Verdict{Judgment: toolcall.Words, Text: "Nice walk!"}},
		{"its own call", "Saved!\n" + block, toolcall.Quotes{}, toolcall.Verdict{Judgment: toolcall.Malformed}},
		{"a quoted call", "It saves a habit:\n" + block, quotes, toolcall.Verdict{Judgment: toolcall.Words, Text: "It saves a habit:"}},
		{"nothing but a quoted call", block, quotes, toolcall.Verdict{Judgment: toolcall.Malformed}},
		{"a quoted call beside its own", "It saves:\n" + block + "\n```tool_call\n{\"name\":\"pause\",\"arguments\":{}}\n```", quotes, toolcall.Verdict{Judgment: toolcall.Malformed}},
		{"a bare call", "save_profile(habit=\"walk\")", toolcall.Quotes{}, toolcall.Verdict{Judgment: toolcall.Malformed}},
		{"JSON alone", `{"name":"save_profile","parameters":{"habit":"walk"}}`, toolcall.Quotes{}, toolcall.Verdict{Judgment: toolcall.Malformed}},
		{"an unreadable call", "Done.\n```tool_call\nx\n```", quotes, toolcall.Verdict{Judgment: toolcall.Malformed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, toolcall.JudgeNative(said(tt.text), toolcall.Native{Tools: tools(), Quotes: tt.quotes}))
			require.Equal(t, tt.want.Judgment, toolcall.JudgeNative(said(tt.text), toolcall.Native{Known: tools(), Quotes: tt.quotes}).Judgment)
		})
	}
	t.Run("the API's calls", func(t *testing.T) {
		calls := []models.ToolCall{{ID: "a", Name: "save_profile", Arguments: `{"habit":"walk"}`}}
		got := toolcall.JudgeNative(models.ChatResponse{Text: "One moment.\n" + block, Calls: calls}, toolcall.Native{Tools: tools(), Quotes: quotes})
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Calls, Text: "One moment.", Calls: calls}, got)
	})
}
