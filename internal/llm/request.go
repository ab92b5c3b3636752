package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"coachline/models"
)

// wish is an optional part of a request: without it the answer may be worse,
// but there is one.
type wish string

const (
	wishJSON        wish = "response_format"
	wishTemperature wish = "temperature"
)

// wished reports whether the request asks for it.
func wished(req models.ChatRequest, w wish) bool {
	switch w {
	case wishJSON:
		return req.JSON
	case wishTemperature:
		return req.Temperature > 0
	}
	return false
}

// usesTools reports whether the request offers tools or tells of their use.
func usesTools(req models.ChatRequest) bool {
	return len(req.Tools) > 0 || slices.ContainsFunc(req.Messages, func(m models.ChatMessage) bool {
		return m.Role == "tool" || len(m.ToolCalls) > 0
	})
}

// body is a request as it goes over the wire, its members in the order of the
// SDK's own type, which encodes every text once for each type that it is
// wrapped in.
type body struct {
	Messages    []bodyMessage `json:"messages,omitempty"`
	Model       string        `json:"model,omitempty"`
	MaxTokens   int           `json:"max_completion_tokens,omitempty"`
	Temperature float64       `json:"temperature,omitempty"`
	Format      *bodyFormat   `json:"response_format,omitempty"`
	Tools       []bodyTool    `json:"tools,omitempty"`
}

type bodyMessage struct {
	Content    *string    `json:"content,omitempty"`
	ToolCalls  []bodyCall `json:"tool_calls,omitempty"`
	ToolCallID *string    `json:"tool_call_id,omitempty"`
	Role       string     `json:"role"`
}

type bodyCall struct {
	ID       string     `json:"id"`
	Function bodyCalled `json:"function,omitzero"`
	Type     string     `json:"type"`
}

type bodyCalled struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

type bodyFormat struct {
	Type string `json:"type"`
}

type bodyTool struct {
	Function bodyFunction `json:"function,omitzero"`
	Type     string       `json:"type"`
}

type bodyFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// typeFunction is the only type of tools and calls that we use.
const typeFunction = "function"

// builder writes requests. It is safe for use by several goroutines.
type builder struct {
	// schemas are those of tools as they are sent, by their text: every request
	// of a programme has the same.
	schemas *lru.Cache[string, json.RawMessage]
}

// knownSchemas bounds them; a programme has some dozens of tools.
const knownSchemas = 256

func newBuilder() builder {
	schemas, err := lru.New[string, json.RawMessage](knownSchemas)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return builder{schemas: schemas}
}

// build turns our request into what is sent, less those optional parts that
// are dropped. Errors name what is wrong by its place and never quote it.
func (b builder) build(req models.ChatRequest, dropped map[wish]bool) (body, error) {
	out := body{
		Model: req.Model, MaxTokens: max(req.MaxTokens, 0),
		Messages: make([]bodyMessage, len(req.Messages)), Tools: make([]bodyTool, len(req.Tools)),
	}
	for i, message := range req.Messages {
		one, err := buildMessage(message)
		if err != nil {
			return out, fmt.Errorf("message %d: %w", i, err)
		}
		out.Messages[i] = one
	}
	for i, tool := range req.Tools {
		schema, err := b.schema(tool.Schema)
		if err != nil {
			return out, fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		out.Tools[i] = bodyTool{Type: typeFunction, Function: bodyFunction{Name: tool.Name, Description: tool.Description, Parameters: schema}}
	}
	if wished(req, wishJSON) && !dropped[wishJSON] {
		out.Format = &bodyFormat{Type: "json_object"}
	}
	if wished(req, wishTemperature) && !dropped[wishTemperature] {
		out.Temperature = req.Temperature
	}
	return out, nil
}

// buildMessage leaves empty words out beside tool calls: some servers refuse
// an empty text there.
func buildMessage(message models.ChatMessage) (bodyMessage, error) {
	out := bodyMessage{Role: message.Role, Content: &message.Content}
	switch message.Role {
	case "system", "user":
	case "tool":
		out.ToolCallID = &message.ToolCallID
	case "assistant":
		if message.Content == "" && len(message.ToolCalls) > 0 {
			out.Content = nil
		}
		for _, call := range message.ToolCalls {
			called := bodyCalled{Name: call.Name, Arguments: call.Arguments}
			out.ToolCalls = append(out.ToolCalls, bodyCall{ID: call.ID, Function: called, Type: typeFunction})
		}
	default:
		return out, fmt.Errorf("no such role %q", message.Role)
	}
	return out, nil
}

// schema is an object with its members in order, whatever order they were
// written in, so that requests begin alike. Nobody may change what it returns.
func (b builder) schema(text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if known, ok := b.schemas.Get(string(text)); ok {
		return known, nil
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("reading its schema: %w", err)
	}
	var out bytes.Buffer
	if object != nil {
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(object); err != nil {
			return nil, fmt.Errorf("writing its schema: %w", err)
		}
	}
	schema := bytes.TrimSpace(out.Bytes())
	b.schemas.Add(string(text), schema)
	return schema, nil
}
