package toolcall_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// Ordinary replies are words, unchanged, in every protocol.
func TestOrdinaryReplies(t *testing.T) {
	corpus, err := os.ReadFile("../testdata/replies.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(corpus)) {
		text := strings.TrimSpace(line)
		want := toolcall.Verdict{Judgment: toolcall.Words, Text: text}
		require.Equal(t, want, toolcall.Judge(said(text), tools()), text)
		require.Equal(t, want, toolcall.JudgeNative(said(text), toolcall.Native{Tools: tools()}), text)
		require.Equal(t, want, toolcall.JudgeNative(said(text), toolcall.Native{}), text)
	}
}

func TestJudgeCleansWrappings(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`Sure! {"reply":"Nice walk!"}`, "Nice walk!"},
		{"Here you are: {\"message\": \"Nice walk!\"}\n", "Nice walk!"},
		{"Coach: Nice walk!", "Nice walk!"},
		{"**Coach:** Nice walk!", "Nice walk!"},
		{"AI Coach: Nice walk!", "Nice walk!"},
		{"assistant\nNice walk!", "Nice walk!"},
		{"Assistant: Coach: Nice walk!", "Nice walk!"},
		{`assistant {"reply":"Nice walk!"}`, "Nice walk!"},
	} {
		want := toolcall.Verdict{Judgment: toolcall.Words, Text: tt.want}
		require.Equal(t, want, toolcall.Judge(said(tt.in), tools()), tt.in)
		require.Equal(t, want, toolcall.JudgeNative(said(tt.in), toolcall.Native{}), tt.in)
	}
	for _, in := range []string{
		`Sure! {"reply":"Nice walk!"} And more.`, `I do it now: {"name":"delete_all","arguments":{"x":1}}`, "I will use save_profile to keep that.",
		`Done {"tool":"scheduler","args":{"action":"list"}} for you.`, "Let me call web_search first.",
	} {
		require.Equal(t, toolcall.Malformed, toolcall.Judge(said(in), tools()).Judgment, in)
		require.Equal(t, toolcall.Malformed, toolcall.JudgeNative(said(in), toolcall.Native{Known: tools()}).Judgment, in)
	}
	t.Run("a tool that the participant named", func(t *testing.T) {
		text := "It is a command: save_profile keeps a habit."
		got := toolcall.JudgeNative(said(text), toolcall.Native{Known: tools(), Quotes: toolcall.NewQuotes("what is save_profile?")})
		require.Equal(t, toolcall.Verdict{Judgment: toolcall.Words, Text: text}, got)
	})
}

func TestSized(t *testing.T) {
	require.Equal(t, 400, toolcall.Sized(models.ChatRequest{}, models.Capability{}).MaxTokens)
	require.Equal(t, 256, toolcall.Sized(models.ChatRequest{}, models.Capability{ContextTokens: 1024, AnswerTokens: 400}).MaxTokens)
	require.Equal(t, 4096, toolcall.Sized(models.ChatRequest{}, toolcall.Known("o3", toolcall.Sources{})).MaxTokens)
	require.Equal(t, 77, toolcall.Sized(models.ChatRequest{MaxTokens: 77}, models.Capability{ContextTokens: 8192}).MaxTokens)
	require.Equal(t, 1024, toolcall.SizedStage(models.ChatRequest{Model: "gpt-4o"}, 0, 0).MaxTokens)
	for model, want := range map[string]models.ChatRequest{
		"gpt-4o-mini": {MaxTokens: 100}, "qwen3:8b": {MaxTokens: 4096}, // it thinks, and knows no effort
		"gpt-5-mini": {MaxTokens: 100, Effort: "minimal"}, "openai/gpt-5.1": {MaxTokens: 100, Effort: "none"},
		"o3": {MaxTokens: 4096, Effort: "low"}, "gpt-oss:20b": {MaxTokens: 4096, Effort: "low"},
	} {
		want.Model = model
		require.Equal(t, want, toolcall.SizedStage(models.ChatRequest{Model: model}, 100, 0))
	}
}
