package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"coachline/models"
)

// optionalField is an optional part of a request: without it the answer may be worse,
// but there is one.
type optionalField string

const (
	wishJSON        optionalField = "response_format"
	wishTemperature optionalField = "temperature"
	wishEffort      optionalField = "reasoning_effort"
	// wishCompletionTokens is max_completion_tokens; a server that refuses it is
	// asked with the older wishMaxTokens, and with neither if it refuses both.
	wishCompletionTokens optionalField = "max_completion_tokens"
	wishMaxTokens        optionalField = "max_tokens"
	// wishWhole asks for the answer in one piece; without it the answer is streamed.
	wishWhole optionalField = "stream"
	// wishSystem is a system message; without it the first message of a user begins
	// with what it said.
	wishSystem optionalField = "system"
	// wishUsage asks that a stream ends with the server's count of tokens.
	wishUsage optionalField = "stream_options"
)

// isWished reports whether the request asks for it.
func isWished(req models.ChatRequest, w optionalField) bool {
	switch w {
	case wishJSON:
		return req.JSON
	case wishTemperature:
		return req.Temperature > 0
	case wishEffort:
		return req.Effort != ""
	case wishCompletionTokens, wishMaxTokens:
		return req.MaxTokens > 0
	case wishWhole, wishUsage:
		return true
	case wishSystem:
		return len(req.Messages) > 1 && req.Messages[0].Role == "system"
	}
	return false
}

// usesTools reports whether the request offers tools or tells of their use.
func usesTools(req models.ChatRequest) bool {
	return len(req.Tools) > 0 || slices.ContainsFunc(req.Messages, func(m models.ChatMessage) bool {
		return m.Role == "tool" || len(m.ToolCalls) > 0
	})
}

// encodeRequest writes our request as the server reads it, less those optional parts
// that are dropped. Errors name what is wrong by its place and never quote it. It
// is written by hand because the SDK's encoder reads each request by reflection
// and copies what is encoded once a level.
func (b builder) encodeRequest(req models.ChatRequest, dropped map[optionalField]bool) ([]byte, error) {
	if dropped[wishSystem] && isWished(req, wishSystem) {
		req.Messages = withoutSystem(req.Messages)
	}
	out := append(make([]byte, 0, sizeOf(req)), `{"messages":[`...)
	for i, message := range req.Messages {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendMessage(out, message); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	out = appendText(append(out, `],"model":`...), req.Model)
	for i, tool := range req.Tools {
		text, err := b.encodeTool(tool)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		if i == 0 {
			out = append(out, `,"tools":[`...)
		} else {
			out = append(out, ',')
		}
		out = append(out, text...)
	}
	if len(req.Tools) > 0 {
		out = append(out, ']')
	}
	return append(appendWishes(out, req, dropped), '}'), nil
}

// withoutSystem puts what the system message says at the beginning of the first
// message after it.
func withoutSystem(messages []models.ChatMessage) []models.ChatMessage {
	said, rest := messages[0].Content, slices.Clone(messages[1:])
	if rest[0].Role != "user" {
		return slices.Insert(rest, 0, models.ChatMessage{Role: "user", Content: said})
	}
	rest[0].Content = said + "\n\n" + rest[0].Content
	return rest
}

// sizeOf estimates how long a request becomes.
func sizeOf(req models.ChatRequest) int {
	size := 1024
	for _, message := range req.Messages {
		size += len(message.Content) + len(message.Content)/16 + 64
	}
	for _, tool := range req.Tools {
		size += len(tool.Description) + len(tool.Schema) + 128
	}
	return size
}

func appendWishes(out []byte, req models.ChatRequest, dropped map[optionalField]bool) []byte {
	switch {
	case req.MaxTokens <= 0:
	case !dropped[wishCompletionTokens]:
		out = strconv.AppendInt(append(out, `,"max_completion_tokens":`...), int64(req.MaxTokens), 10)
	case !dropped[wishMaxTokens]:
		out = strconv.AppendInt(append(out, `,"max_tokens":`...), int64(req.MaxTokens), 10)
	}
	if isWished(req, wishJSON) && !dropped[wishJSON] {
		out = append(out, `,"response_format":{"type":"json_object"}`...)
	}
	if dropped[wishWhole] && !dropped[wishUsage] {
		out = append(out, `,"stream_options":{"include_usage":true}`...)
	}
	if isWished(req, wishTemperature) && !dropped[wishTemperature] {
		out = strconv.AppendFloat(append(out, `,"temperature":`...), req.Temperature, 'g', -1, 64)
	}
	if isWished(req, wishEffort) && !dropped[wishEffort] {
		out = appendText(append(out, `,"reasoning_effort":`...), req.Effort)
	}
	return out
}

// appendMessage leaves empty text out beside tool calls: some servers refuse an
// empty text there.
func appendMessage(out []byte, message models.ChatMessage) ([]byte, error) {
	switch message.Role {
	case "system", "user", "tool", "assistant":
	default:
		return nil, fmt.Errorf("no such role %q", message.Role)
	}
	out = append(append(append(out, `{"role":"`...), message.Role...), '"')
	calls := message.ToolCalls
	if message.Role != "assistant" {
		calls = nil
	}
	if message.Content != "" || len(calls) == 0 {
		out = appendText(append(out, `,"content":`...), message.Content)
	}
	if message.Role == "tool" {
		out = appendText(append(out, `,"tool_call_id":`...), message.ToolCallID)
	}
	for i, call := range calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		} else {
			out = append(out, ',')
		}
		out = appendText(append(out, `{"id":`...), call.ID)
		out = appendText(append(out, `,"type":"function","function":{"name":`...), call.Name)
		out = append(appendText(append(out, `,"arguments":`...), call.Arguments), `}}`...)
	}
	if len(calls) > 0 {
		out = append(out, ']')
	}
	return append(out, '}'), nil
}

// appendText writes a text as JSON; what is no UTF-8 becomes U+FFFD, as with
// encoding/json.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	plain := 0 // where what is not yet written begins
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				out = append(append(out, text[plain:i]...), `\ufffd`...)
				plain = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			out = append(out, text[plain:i]...)
			switch c {
			case '"', '\\':
				out = append(out, '\\', c)
			case '\n':
				out = append(out, '\\', 'n')
			default:
				out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			plain = i + 1
		}
		i++
	}
	return append(append(out, text[plain:]...), '"')
}

// builder writes requests. It is safe for use by several goroutines.
type builder struct {
	// tools are those of requests, encoded, by the hash of all that they are made
	// of: every request of a programme has the same, and they are most of it.
	tools *lru.Cache[uint64, knownTool]
	seed  maphash.Seed
}

type knownTool struct {
	spec models.ToolSpec
	text []byte
}

// knownTools bounds them; a programme has some dozens.
const knownTools = 256

func newBuilder() builder {
	tools, err := lru.New[uint64, knownTool](knownTools)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return builder{tools: tools, seed: maphash.MakeSeed()}
}

func (b builder) encodeTool(tool models.ToolSpec) ([]byte, error) {
	key := maphash.String(b.seed, tool.Name) ^ maphash.String(b.seed, tool.Description)<<1 ^ maphash.Bytes(b.seed, tool.Schema)<<2
	known, ok := b.tools.Get(key)
	if ok && known.spec.Name == tool.Name && known.spec.Description == tool.Description && bytes.Equal(known.spec.Schema, tool.Schema) {
		return known.text, nil
	}
	built, err := buildTool(tool)
	if err != nil {
		return nil, err
	}
	text, err := built.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding it: %w", err)
	}
	tool.Schema = bytes.Clone(tool.Schema)
	b.tools.Add(key, knownTool{tool, text})
	return text, nil
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
