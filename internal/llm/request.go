package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"coachline/models"
)

// wish is an optional part of a request: without it the answer may be worse,
// but there is one.
type wish string

const (
	wishJSON        wish = "response_format"
	wishTemperature wish = "temperature"
	// wishCompletionTokens is max_completion_tokens; a server that refuses it is
	// asked with the older wishMaxTokens, and with neither if it refuses both.
	wishCompletionTokens wish = "max_completion_tokens"
	wishMaxTokens        wish = "max_tokens"
	// wishWhole: the answer in one piece; without it the answer is streamed.
	wishWhole wish = "stream"
	// wishUsage: a stream ends with the server's count of tokens.
	wishUsage wish = "stream_options"
)

// isWished reports whether the request asks for it.
func isWished(req models.ChatRequest, w wish) bool {
	switch w {
	case wishJSON:
		return req.JSON
	case wishTemperature:
		return req.Temperature > 0
	case wishCompletionTokens, wishMaxTokens:
		return req.MaxTokens > 0
	case wishWhole, wishUsage:
		return true
	}
	return false
}

// usesTools reports whether the request offers tools or tells of their use.
func usesTools(req models.ChatRequest) bool {
	return len(req.Tools) > 0 || slices.ContainsFunc(req.Messages, func(m models.ChatMessage) bool {
		return m.Role == "tool" || len(m.ToolCalls) > 0
	})
}

// build turns our request into the SDK's, less those optional parts that
// are dropped. Errors name what is wrong by its place and never quote it.
func (b builder) build(req models.ChatRequest, dropped map[wish]bool) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: req.Model}
	for i, message := range req.Messages {
		one, err := buildMessage(message)
		if err != nil {
			return params, fmt.Errorf("message %d: %w", i, err)
		}
		params.Messages = append(params.Messages, one)
	}
	for _, tool := range req.Tools {
		one, err := b.tool(tool)
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

// builder writes requests. It is safe for use by several goroutines.
type builder struct {
	// tools are those of requests, encoded, by all that they are made of: every
	// request of a programme has the same, and they are most of it.
	tools *lru.Cache[string, openai.ChatCompletionToolUnionParam]
}

// knownTools bounds them; a programme has some dozens.
const knownTools = 256

func newBuilder() builder {
	tools, err := lru.New[string, openai.ChatCompletionToolUnionParam](knownTools)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return builder{tools: tools}
}

func (b builder) tool(tool models.ToolSpec) (openai.ChatCompletionToolUnionParam, error) {
	key := strings.Join([]string{tool.Name, tool.Description, string(tool.Schema)}, "\x00")
	if known, ok := b.tools.Get(key); ok {
		return known, nil
	}
	built, err := buildTool(tool)
	if err != nil {
		return built, err
	}
	text, err := built.MarshalJSON()
	if err != nil {
		return built, fmt.Errorf("encoding it: %w", err)
	}
	encoded := param.Override[openai.ChatCompletionFunctionToolParam](json.RawMessage(text))
	built = openai.ChatCompletionToolUnionParam{OfFunction: &encoded}
	b.tools.Add(key, built)
	return built, nil
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
