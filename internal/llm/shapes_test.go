package llm

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func recording(t *testing.T, folder, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", folder, name+".json"))
	require.NoError(t, err)
	return string(body)
}

// recordings fails when a table forgets a file.
func recordings(t *testing.T, folder string, count int) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join("testdata", folder))
	require.NoError(t, err)
	require.Len(t, files, count)
}

func TestAnswersOfOddServers(t *testing.T) {
	const advice, thought = "Walk after lunch.", "They like walks."
	list := []models.ToolCall{{ID: "call_0", Name: "scheduler", Arguments: `{"action":"list"}`}}
	table := []struct {
		name string
		want models.ChatResponse
	}{
		{"openai", models.ChatResponse{Text: "Hi Ada!", FinishReason: "stop", Model: "gpt-4.1-mini-2025-04-14", Usage: models.Usage{Prompt: 1117, Cached: 1024, Completion: 46}}},
		{"openai-tools", models.ChatResponse{FinishReason: "tool_calls", Model: "gpt-4.1-mini-2025-04-14", Usage: models.Usage{Prompt: 82, Completion: 17},
			Calls: []models.ToolCall{{ID: "call_abc", Name: "scheduler", Arguments: `{"action":"list"}`}}}},
		{"deepseek-reasoner", models.ChatResponse{Text: advice, Thinking: thought, FinishReason: "stop", Model: "deepseek-reasoner", Usage: models.Usage{Prompt: 20, Completion: 12}}},
		{"openrouter", models.ChatResponse{Text: advice, Thinking: thought, FinishReason: "stop", Model: "qwen/qwen3-32b", Usage: models.Usage{Prompt: 20, Completion: 12}}},
		{"ollama-native", models.ChatResponse{Thinking: "A schedule is wanted.", FinishReason: "stop", Model: "qwen3:8b", Usage: models.Usage{Prompt: 26, Completion: 298},
			Calls: []models.ToolCall{{ID: "call_0", Name: "scheduler", Arguments: `{"action":"list","days":[1,2]}`}, {ID: "call_1", Name: "scheduler", Arguments: "{}"}}}},
		{"llamacpp-think", models.ChatResponse{Text: advice, Thinking: thought, FinishReason: "stop", Model: "gpt-3.5-turbo", Usage: models.Usage{Prompt: 21, Completion: 9}}},
		{"template-think", models.ChatResponse{Text: advice, Thinking: thought, FinishReason: "stop", Model: "r1-distill"}},
		{"mistral-thinking", models.ChatResponse{Text: advice, Thinking: thought, FinishReason: "stop", Model: "magistral-small", Usage: models.Usage{Prompt: 5, Completion: 6}}},
		{"legacy-completion", models.ChatResponse{Text: advice, FinishReason: "length", Model: "davinci", Usage: models.Usage{Prompt: 5, Completion: 7}}},
		{"bare-content", models.ChatResponse{Text: advice, Thinking: thought, FinishReason: "end_turn", Model: "claude", Usage: models.Usage{Prompt: 10, Completion: 4}}},
		{"function-call", models.ChatResponse{FinishReason: "function_call", Model: "old", Calls: list}},
		{"remark-beside-choices", models.ChatResponse{Text: advice}},
		{"numbers-as-ids", models.ChatResponse{Model: "7", Calls: []models.ToolCall{
			{ID: "17", Name: "save", Arguments: `{"a":1}`}, {ID: "call_1", Name: "save", Arguments: "{}"}, {ID: "call_2", Name: "save", Arguments: "{}"}}}},
	}
	for _, test := range table {
		t.Run("J3 "+test.name, func(t *testing.T) {
			got, err := client(t, answers(200, recording(t, "answers", test.name)), nil).Complete(t.Context(), hello())
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	recordings(t, "answers", len(table))
}

func TestFailuresOfOddServers(t *testing.T) {
	table := []struct {
		name   string
		status int
		class  models.ModelErrorClass
	}{
		{"openrouter-no-tools", 404, models.ModelNoTools},
		{"ollama-no-tools", 400, models.ModelNoTools},
		{"vllm-no-tools", 400, models.ModelNoTools},
		{"fastapi-no-tools", 422, models.ModelNoTools},
		{"llamacpp-no-tools", 500, models.ModelNoTools},
		{"gemini-no-tools", 400, models.ModelNoTools},
		{"openrouter-raw-no-tools", 400, models.ModelNoTools},
		{"tool-role-no-tools", 400, models.ModelNoTools},
		{"openai-bad-schema", 400, models.ModelRefused},
		{"gemini-bad-schema", 400, models.ModelRefused},
		{"openai-orphan", 400, models.ModelRefused},
		{"unknown-parameter", 400, models.ModelRefused},
		{"openai-answer-too-long", 400, models.ModelRefused},
		{"groq-tool-use-failed", 400, models.ModelBusy},
		{"gemini-bad-key", 400, models.ModelAuth},
		{"openai-overflow", 400, models.ModelOverflow},
		{"anthropic-overflow", 400, models.ModelOverflow},
		{"gemini-overflow", 400, models.ModelOverflow},
		{"llamacpp-overflow", 500, models.ModelOverflow},
		{"lmstudio-overflow", 400, models.ModelOverflow},
		{"ollama-overflow", 400, models.ModelOverflow},
		{"xai-overflow", 400, models.ModelOverflow},
		{"tgi-overflow", 422, models.ModelOverflow},
		{"together-overflow", 422, models.ModelOverflow},
		{"llamacpp-overflow-fields", 400, models.ModelOverflow},
		{"vllm-overflow", 400, models.ModelOverflow},
		{"openai-larger-than-the-minute", 429, models.ModelOverflow},
		{"openai-limited", 429, models.ModelBusy},
	}
	withTools := hello()
	withTools.Tools = []models.ToolSpec{{Name: "scheduler"}}
	for _, test := range table {
		t.Run("A29 "+test.name, func(t *testing.T) {
			sent := 0
			handler := answers(test.status, recording(t, "failures", test.name))
			c := client(t, func(w http.ResponseWriter, r *http.Request) { sent++; handler(w, r) }, nil)
			_, err := c.Complete(t.Context(), withTools)
			got := modelError(t, err)
			require.Equal(t, test.class, got.Class, got.Message)
			require.Equal(t, test.status, got.Status)
			require.Equal(t, 1, sent)
		})
	}
	recordings(t, "failures", len(table))
}

// A request without tools, or a bad request of another kind, says nothing
// about tools.
func TestNoToolsIsSaidOfToolsAlone(t *testing.T) {
	c := client(t, answers(400, recording(t, "failures", "ollama-no-tools")), nil)
	told := hello()
	told.Messages = append(told.Messages, models.ChatMessage{Role: "assistant", ToolCalls: []models.ToolCall{{ID: "a", Name: "save", Arguments: "{}"}}})
	for _, test := range []struct {
		name string
		in   models.ChatRequest
		want models.ModelErrorClass
	}{
		{"without tools", hello(), models.ModelRefused},
		{"tools in the history", told, models.ModelNoTools},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.Complete(t.Context(), test.in)
			require.Equal(t, test.want, modelError(t, err).Class)
		})
	}
}

func TestAFailedChoice(t *testing.T) {
	body := `{"choices":[{"finish_reason":"error","error":{"code":429,"message":"private"},"message":{"content":"half a"}}]}`
	_, err := client(t, answers(200, body), nil).Complete(t.Context(), hello())
	got := modelError(t, err)
	require.Equal(t, models.ModelBusy, got.Class)
	require.Equal(t, 2*time.Second, got.RetryAfter)
}

func FuzzReadAnswer(f *testing.F) {
	for _, folder := range []string{"answers", "failures"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
		require.NoError(f, err)
		for _, file := range files {
			body, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, failed := readAnswer(body)
		if failed != nil {
			require.NotEmpty(t, failed.err.Class)
			require.NotEmpty(t, failed.err.Message)
			return
		}
		require.GreaterOrEqual(t, min(out.Usage.Prompt, out.Usage.Cached, out.Usage.Completion), 0)
		seen := map[string]bool{}
		for _, call := range out.Calls {
			require.NotEmpty(t, call.ID)
			require.False(t, seen[call.ID], "two calls of id %s", call.ID)
			require.NotEmpty(t, strings.TrimSpace(call.Arguments+"x"))
			seen[call.ID] = true
		}
	})
}

func FuzzReadFailure(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"sk-private-key does not support tools","code":"sk-private-key"}}`))
	f.Add(422, []byte(`{"detail":[{"loc":["body","tools"],"msg":"no"}]}`))
	f.Add(200, []byte(`[{}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		out := byStatus(status, readFailure(body))
		require.NotEmpty(t, out.err.Class)
		require.NotContains(t, out.err.Message, key)
	})
}
