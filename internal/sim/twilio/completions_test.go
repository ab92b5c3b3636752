package twilio

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
)

const system = "# Persona\nA coach.\n\n# Mode: INTAKE\nAsk.\n\n# Profile status\nMissing: habit_domain\n\n# Schedules\nNone."

// chat is a request with one text of the person and the product's tools.
func chat(said string) map[string]any {
	tools := []any{}
	for _, name := range []string{"scheduler", "save_user_profile", "transition_state", "generate_habit_prompt"} {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": name, "parameters": map[string]any{}}})
	}
	return map[string]any{
		"model": "gpt-something", "tools": tools,
		"messages": []any{
			map[string]any{"role": "system", "content": system},
			map[string]any{"role": "user", "content": said},
		},
	}
}

func TestCompletionShape(t *testing.T) {
	at := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	cfg := config(nil)
	cfg.Now = func() time.Time { return at }
	b := start(t, cfg)
	code, answer := b.do(t, http.MethodPost, "/v1/chat/completions", chat("hi"))
	require.Equal(t, http.StatusOK, code)
	require.Regexp(t, `^chatcmpl-[0-9a-f]{24}$`, answer["id"])
	usage := answer["usage"].(map[string]any)
	require.InDelta(t, usage["total_tokens"], usage["prompt_tokens"].(float64)+usage["completion_tokens"].(float64), 0)
	delete(answer, "usage")
	delete(answer, "id")
	require.Equal(t, map[string]any{
		"object": "chat.completion", "created": float64(at.Unix()), "model": "script",
		"choices": []any{map[string]any{
			"index": 0.0, "finish_reason": "stop", "logprobs": nil,
			"message": map[string]any{"role": "assistant", "refusal": nil, "content": "What small habit would you like to start with?"},
		}},
	}, answer)
}

func TestCompletionReadByOpenAIsLibrary(t *testing.T) {
	b := start(t, config(nil))
	client := openai.NewClient(option.WithBaseURL(b.URL+"/v1"), option.WithAPIKey("key"), option.WithMaxRetries(0))
	ask := openai.ChatCompletionNewParams{
		Model:    "any",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system), openai.UserMessage("call two tools")},
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "scheduler"}),
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "save_user_profile"}),
		},
	}
	first, err := client.Chat.Completions.New(context.Background(), ask)
	require.NoError(t, err)
	require.Equal(t, "tool_calls", first.Choices[0].FinishReason)
	calls := first.Choices[0].Message.ToolCalls
	require.Len(t, calls, 2)
	require.NotEqual(t, calls[0].ID, calls[1].ID)
	require.JSONEq(t, `{"action":"list"}`, calls[0].Function.Arguments)

	ask.Messages = append(ask.Messages, first.Choices[0].Message.ToParam(),
		openai.ToolMessage(`{"ok":true,"schedules":[]}`, calls[0].ID), openai.ToolMessage(`{"ok":true}`, calls[1].ID))
	second, err := client.Chat.Completions.New(context.Background(), ask)
	require.NoError(t, err)
	require.Equal(t, "Both are done: scheduler and save_user_profile.", second.Choices[0].Message.Content)

	vectors, err := client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{
		Model: "any", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a walk", "a walk", "tax"}},
	})
	require.NoError(t, err)
	require.Len(t, vectors.Data, 3)
	require.Equal(t, vectors.Data[0].Embedding, vectors.Data[1].Embedding)
	require.NotEqual(t, vectors.Data[0].Embedding, vectors.Data[2].Embedding)

	models, err := client.Models.List(context.Background())
	require.NoError(t, err)
	require.Equal(t, "script", models.Data[0].ID)
}

func TestCompletionIsDeterministic(t *testing.T) {
	b := start(t, config(nil))
	_, first := b.do(t, http.MethodPost, "/v1/chat/completions", chat("list my schedules"))
	_, second := b.do(t, http.MethodPost, "/v1/chat/completions", chat("list my schedules"))
	require.Equal(t, first["choices"], second["choices"])
	require.Equal(t, first["id"], second["id"])
}

func TestCachedTokens(t *testing.T) {
	long := func(n int, said string) map[string]any {
		ask := chat(said)
		ask["messages"].([]any)[0].(map[string]any)["content"] = system + strings.Repeat(" word", n)
		return ask
	}
	b := start(t, config(nil))
	for _, tc := range []struct {
		name      string
		in        map[string]any
		want, all int // cached tokens, and the least of all tokens
	}{
		{"nothing came before", long(1000, "a walk"), 0, 1250},
		{"the same again, in steps of 128", long(1000, "a walk"), 1280, 1280},
		{"another end", long(1000, "lunch"), 1280, 1280},
		{"a common beginning that is too short", long(700, "a walk"), 0, 870},
		{"a short prompt", chat("hi"), 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, answer := b.do(t, http.MethodPost, "/v1/chat/completions", tc.in)
			usage := answer["usage"].(map[string]any)
			require.InDelta(t, tc.want, usage["prompt_tokens_details"].(map[string]any)["cached_tokens"], 0)
			require.GreaterOrEqual(t, usage["prompt_tokens"], float64(tc.all))
		})
	}
}

func TestEmbeddingsShape(t *testing.T) {
	b := start(t, config(nil))
	code, answer := b.do(t, http.MethodPost, "/v1/embeddings", map[string]any{"model": "m", "input": []string{"my knee hurts", "a knee that hurts", "income tax"}})
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "list", answer["object"])
	require.Equal(t, map[string]any{"prompt_tokens": 10.0, "total_tokens": 10.0}, answer["usage"])
	data := objects(t, answer["data"])
	require.Len(t, data, 3)
	cosine := func(a, b int) (sum float64) {
		x, y := data[a]["embedding"].([]any), data[b]["embedding"].([]any)
		require.Len(t, x, 256)
		for i := range x {
			sum += x[i].(float64) * y[i].(float64)
		}
		return sum
	}
	for i, item := range data {
		require.Equal(t, "embedding", item["object"])
		require.InDelta(t, i, item["index"], 0)
	}
	require.Greater(t, cosine(0, 1), 0.9)
	require.Less(t, cosine(0, 2), 0.3)
}

func TestModelRefusals(t *testing.T) {
	b := start(t, config(nil))
	with := func(key string, value any) map[string]any {
		ask := chat("hi")
		ask[key] = value
		return ask
	}
	call := map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "x", "arguments": "{}"}}}}
	user := map[string]any{"role": "user", "content": "hi"}
	for _, tc := range []struct {
		name, path string
		in         any
		param      any
	}{
		{"stream", "/v1/chat/completions", with("stream", true), "stream"},
		{"several choices", "/v1/chat/completions", with("n", 2), "n"},
		{"no model", "/v1/chat/completions", with("model", ""), "model"},
		{"no messages", "/v1/chat/completions", with("messages", []any{}), "messages"},
		{"call without result", "/v1/chat/completions", with("messages", []any{user, call}), "messages"},
		{"words between call and result", "/v1/chat/completions", with("messages", []any{call, user}), "messages.[1].role"},
		{"result without call", "/v1/chat/completions", with("messages", []any{map[string]any{"role": "tool", "tool_call_id": "c1", "content": "x"}}), "messages.[0].role"},
		{"not an object", "/v1/chat/completions", "x", nil},
		{"embedding of numbers", "/v1/embeddings", map[string]any{"model": "m", "input": []int{1}}, "input"},
		{"embedding of nothing", "/v1/embeddings", map[string]any{"model": "m"}, "input"},
		{"too many dimensions", "/v1/embeddings", map[string]any{"input": "x", "dimensions": 5000}, "dimensions"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, answer := b.do(t, http.MethodPost, tc.path, tc.in)
			require.Equal(t, http.StatusBadRequest, code)
			problem := answer["error"].(map[string]any)
			require.Equal(t, "invalid_request_error", problem["type"])
			require.Equal(t, tc.param, problem["param"])
			require.NotEmpty(t, problem["message"])
		})
	}
}

func TestModelNeedsAKey(t *testing.T) {
	b := start(t, config(nil))
	for _, header := range []string{"", "Bearer ", "Basic abc"} {
		req, err := http.NewRequest(http.MethodPost, b.URL+"/v1/chat/completions", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("Authorization", header)
		code, answer := answered(t, req)
		require.Equal(t, http.StatusUnauthorized, code, header)
		require.Equal(t, "invalid_api_key", answer["error"].(map[string]any)["code"])
	}
}

func TestEmbeddingsAsBase64(t *testing.T) {
	b := start(t, config(nil))
	code, answer := b.do(t, http.MethodPost, "/v1/embeddings", map[string]any{"input": "x", "dimensions": 8, "encoding_format": "base64"})
	require.Equal(t, http.StatusOK, code)
	raw, err := base64.StdEncoding.DecodeString(objects(t, answer["data"])[0]["embedding"].(string))
	require.NoError(t, err)
	require.Len(t, raw, 8*4)
}
