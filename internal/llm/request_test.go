package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// What we write is what the SDK would, with tools new and known.
func TestRequestsAreTheSDKs(t *testing.T) {
	odd := "a \"quoted\" <b>&\u2028é\xff\n\t\x00\x1f\\text\xe2\x80"
	schema := `{"type":"object", "properties":{"z":{"type":"string","enum":["<a>","é\u00e9"]},"a":{"maximum":1e21,"default":1.50}},"required":["z"]}`
	messages := []models.ChatMessage{
		{Role: "system", Content: odd}, {Role: "user"}, {Role: "assistant"}, {Role: "assistant", Content: "words", ToolCalls: []models.ToolCall{
			{ID: "c1", Name: "one", Arguments: `{"a":"` + odd}, {ID: odd, Name: odd},
		}},
		{Role: "tool", Content: odd, ToolCallID: odd}, {Role: "assistant", ToolCalls: []models.ToolCall{{ID: "c3", Name: "three", Arguments: "{}"}}},
		{Role: "user", Content: "last", ToolCallID: "of no matter", ToolCalls: []models.ToolCall{{ID: "c4"}}},
	}
	offered := []models.ToolSpec{
		{}, {Name: "bare"}, {Name: "null", Schema: json.RawMessage(`null`)}, {Name: "empty", Schema: json.RawMessage(`{}`)},
		{Name: odd, Description: odd, Schema: json.RawMessage(schema)}, {Name: "again", Schema: json.RawMessage(schema)},
		{Name: "again", Description: "other words", Schema: json.RawMessage(schema)},
	}
	whole := models.ChatRequest{Model: odd, Messages: messages, Tools: offered, MaxTokens: 700, JSON: true, Temperature: 0.7, Effort: "low"}
	plain := models.ChatRequest{Model: "m1", Messages: messages[:1]}
	tiny := models.ChatRequest{Model: "m1", Messages: messages[:1], Temperature: 1e-9}
	b := newBuilder()
	for _, req := range []models.ChatRequest{plain, tiny, whole, whole} {
		for _, dropped := range []map[optionalField]bool{
			nil, {wishJSON: true, wishTemperature: true, wishEffort: true}, {wishCompletionTokens: true}, {wishCompletionTokens: true, wishMaxTokens: true},
			{wishWhole: true}, {wishWhole: true, wishUsage: true},
		} {
			params, err := sdkRequest(req, dropped)
			require.NoError(t, err)
			want, err := params.MarshalJSON()
			require.NoError(t, err)
			got, err := b.encodeRequest(req, dropped)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
		}
	}
	_, err := b.encodeRequest(models.ChatRequest{Tools: []models.ToolSpec{{Name: "broken", Schema: json.RawMessage(`{`)}}}, nil)
	require.ErrorContains(t, err, "tool broken")
	_, err = b.encodeRequest(models.ChatRequest{Messages: []models.ChatMessage{{Role: "user"}, {Role: "nobody"}}}, nil)
	require.ErrorContains(t, err, "message 1")
}

// sdkRequest is a request as the SDK would build it.
func sdkRequest(req models.ChatRequest, dropped map[optionalField]bool) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: req.Model}
	for i, message := range req.Messages {
		one, err := sdkMessage(message)
		if err != nil {
			return params, fmt.Errorf("message %d: %w", i, err)
		}
		params.Messages = append(params.Messages, one)
	}
	for _, tool := range req.Tools {
		one, err := buildTool(tool)
		if err != nil {
			return params, fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		params.Tools = append(params.Tools, one)
	}
	switch {
	case req.MaxTokens <= 0:
	case !dropped[wishCompletionTokens]:
		params.MaxCompletionTokens = param.NewOpt(int64(req.MaxTokens))
	case !dropped[wishMaxTokens]:
		params.MaxTokens = param.NewOpt(int64(req.MaxTokens))
	}
	if isWished(req, wishJSON) && !dropped[wishJSON] {
		object := shared.NewResponseFormatJSONObjectParam()
		params.ResponseFormat.OfJSONObject = &object
	}
	if dropped[wishWhole] && !dropped[wishUsage] {
		params.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if isWished(req, wishTemperature) && !dropped[wishTemperature] {
		params.Temperature = param.NewOpt(req.Temperature)
	}
	if isWished(req, wishEffort) && !dropped[wishEffort] {
		params.ReasoningEffort = shared.ReasoningEffort(req.Effort)
	}
	return params, nil
}

func sdkMessage(message models.ChatMessage) (openai.ChatCompletionMessageParamUnion, error) {
	switch message.Role {
	case "system":
		return openai.SystemMessage(message.Content), nil
	case "user":
		return openai.UserMessage(message.Content), nil
	case "tool":
		return openai.ToolMessage(message.Content, message.ToolCallID), nil
	case "assistant":
		return sdkAssistant(message), nil
	default:
		return openai.ChatCompletionMessageParamUnion{}, fmt.Errorf("no such role %q", message.Role)
	}
}

func sdkAssistant(message models.ChatMessage) openai.ChatCompletionMessageParamUnion {
	var assistant openai.ChatCompletionAssistantMessageParam
	if message.Content != "" || len(message.ToolCalls) == 0 {
		assistant.Content.OfString = param.NewOpt(message.Content)
	}
	for _, call := range message.ToolCalls {
		assistant.ToolCalls = append(assistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: call.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: call.Name, Arguments: call.Arguments,
				},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &assistant}
}

func TestToolsAreBounded(t *testing.T) {
	b := newBuilder()
	for i := range 2 * knownTools {
		_, err := b.encodeTool(models.ToolSpec{Name: "a" + strings.Repeat("b", i)})
		require.NoError(t, err)
	}
	require.Equal(t, knownTools, b.tools.Len())
}
