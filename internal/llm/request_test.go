package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// TestBodyIsTheSDKs: our shape is written byte for byte as the SDK writes its
// own, so that a provider's prompt cache holds whichever is used.
func TestBodyIsTheSDKs(t *testing.T) {
	odd := "a \"quoted\" <b>&\u2028é\xff\n\\text"
	schema := `{"type":"object", "properties":{"z":{"type":"string","enum":["<a>","é\u00e9"]},"a":{"maximum":1e21,"default":1.50}},"required":["z"]}`
	calls := []models.ToolCall{{ID: "a", Name: "scheduler", Arguments: `{"x":1}`}, {}}
	for _, req := range []models.ChatRequest{
		{},
		{Model: "m1", MaxTokens: 300, JSON: true, Temperature: 0.25},
		{Messages: []models.ChatMessage{{Role: "system", Content: odd}, {Role: "user", Content: odd}, {Role: "user"}}},
		{Messages: []models.ChatMessage{
			{Role: "assistant"}, {Role: "assistant", Content: odd}, {Role: "assistant", ToolCalls: calls},
			{Role: "assistant", Content: "one moment", ToolCalls: calls}, {Role: "tool", Content: odd, ToolCallID: "a"}, {Role: "tool"},
		}},
		{Tools: []models.ToolSpec{
			{}, {Name: "bare"}, {Name: "null", Schema: json.RawMessage(`null`)}, {Name: "empty", Schema: json.RawMessage(`{}`)},
			{Name: odd, Description: odd, Schema: json.RawMessage(schema)}, {Name: "again", Schema: json.RawMessage(schema)},
		}},
	} {
		want, err := sdkBody(t, req).MarshalJSON()
		require.NoError(t, err)
		b := newBuilder()
		for range 2 {
			got, err := b.build(req, nil)
			require.NoError(t, err)
			text, err := param.Override[openai.ChatCompletionNewParams](got).MarshalJSON()
			require.NoError(t, err)
			require.Equal(t, string(want), string(text))
		}
	}
}

func TestSchemasAreRemembered(t *testing.T) {
	b := newBuilder()
	for i := range 2 * knownSchemas {
		_, err := b.schema(json.RawMessage("{" + strings.Repeat(" ", i) + "}"))
		require.NoError(t, err)
	}
	require.Equal(t, knownSchemas, b.schemas.Len())
}

// sdkBody is a request in the SDK's types.
func sdkBody(t *testing.T, req models.ChatRequest) openai.ChatCompletionNewParams {
	t.Helper()
	params := openai.ChatCompletionNewParams{Model: req.Model}
	if req.MaxTokens > 0 {
		params.MaxCompletionTokens = param.NewOpt(int64(req.MaxTokens))
	}
	if req.JSON {
		object := shared.NewResponseFormatJSONObjectParam()
		params.ResponseFormat.OfJSONObject = &object
	}
	if req.Temperature > 0 {
		params.Temperature = param.NewOpt(req.Temperature)
	}
	for _, message := range req.Messages {
		switch message.Role {
		case "system":
			params.Messages = append(params.Messages, openai.SystemMessage(message.Content))
		case "user":
			params.Messages = append(params.Messages, openai.UserMessage(message.Content))
		case "tool":
			params.Messages = append(params.Messages, openai.ToolMessage(message.Content, message.ToolCallID))
		case "assistant":
			params.Messages = append(params.Messages, sdkAssistant(message))
		}
	}
	for _, tool := range req.Tools {
		function := shared.FunctionDefinitionParam{Name: tool.Name}
		if tool.Description != "" {
			function.Description = param.NewOpt(tool.Description)
		}
		if len(tool.Schema) > 0 {
			require.NoError(t, json.Unmarshal(tool.Schema, &function.Parameters))
		}
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(function))
	}
	return params
}

func sdkAssistant(message models.ChatMessage) openai.ChatCompletionMessageParamUnion {
	var assistant openai.ChatCompletionAssistantMessageParam
	if message.Content != "" || len(message.ToolCalls) == 0 {
		assistant.Content.OfString = param.NewOpt(message.Content)
	}
	for _, call := range message.ToolCalls {
		assistant.ToolCalls = append(assistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID:       call.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: call.Arguments},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &assistant}
}
