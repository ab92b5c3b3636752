package llm

import (
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"coachline/models"
)

// build turns our request into the SDK's. Errors name what is wrong by its
// place and never quote it.
func build(req models.ChatRequest) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: req.Model}
	for i, message := range req.Messages {
		one, err := buildMessage(message)
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
	if req.MaxTokens > 0 {
		params.MaxCompletionTokens = param.NewOpt(int64(req.MaxTokens))
	}
	return params, nil
}

func buildMessage(message models.ChatMessage) (openai.ChatCompletionMessageParamUnion, error) {
	switch message.Role {
	case "system":
		return openai.SystemMessage(message.Content), nil
	case "user":
		return openai.UserMessage(message.Content), nil
	case "tool":
		return openai.ToolMessage(message.Content, message.ToolCallID), nil
	case "assistant":
		return buildAssistant(message), nil
	default:
		return openai.ChatCompletionMessageParamUnion{}, fmt.Errorf("no such role %q", message.Role)
	}
}

// buildAssistant leaves empty words out beside tool calls: some servers refuse
// an empty text there.
func buildAssistant(message models.ChatMessage) openai.ChatCompletionMessageParamUnion {
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

func buildTool(tool models.ToolSpec) (openai.ChatCompletionToolUnionParam, error) {
	function := shared.FunctionDefinitionParam{Name: tool.Name}
	if tool.Description != "" {
		function.Description = param.NewOpt(tool.Description)
	}
	if len(tool.Schema) > 0 {
		if err := json.Unmarshal(tool.Schema, &function.Parameters); err != nil {
			return openai.ChatCompletionToolUnionParam{}, fmt.Errorf("reading its schema: %w", err)
		}
	}
	return openai.ChatCompletionFunctionTool(function), nil
}
