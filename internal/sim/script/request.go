package script

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
)

const unansweredCall = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."

// Request is what the script reads of a chat completion request; everything
// else of OpenAI's API is ignored.
type Request struct {
	Model      string          `json:"model"`
	Messages   []Message       `json:"messages"`
	Tools      []Tool          `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Stream     bool            `json:"stream"`
	N          int             `json:"n"`
}

// Message is one message of a Request.
type Message struct {
	Role       string     `json:"role"`
	Content    Content    `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

// Tool is a tool that the script may call.
type Tool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// ToolCall is a call as OpenAI writes it, in requests and in answers.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function names the tool; Arguments is JSON text.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Content is a text, a list of parts of which the texts count, or null.
type Content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(data []byte) error {
	var plain *string
	if err := json.Unmarshal(data, &plain); err == nil {
		if plain != nil {
			*c = Content(*plain)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("reading content: %w", err)
	}
	for _, part := range parts {
		*c += Content(part.Text)
	}
	return nil
}

// Check finds what OpenAI would refuse: a field's name and the problem, both
// empty when there is none.
func (ask Request) Check() (param, problem string) {
	switch {
	case ask.Model == "":
		return "model", "you must provide a model parameter"
	case len(ask.Messages) == 0:
		return "messages", "Invalid 'messages': empty array."
	case ask.Stream:
		return "stream", "The script does not stream; leave stream out."
	case ask.N > 1:
		return "n", "The script gives one choice; leave n out."
	}
	return ask.unanswered()
}

// unanswered finds a tool call without its result, or a result without its
// call: OpenAI refuses both.
func (ask Request) unanswered() (param, problem string) {
	var open []string
	for i, m := range ask.Messages {
		at := slices.Index(open, m.ToolCallID)
		switch {
		case m.Role == "tool" && at < 0:
			return fmt.Sprintf("messages.[%d].role", i), "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
		case m.Role == "tool":
			open = slices.Delete(open, at, at+1)
		case len(open) == 0:
			for _, call := range m.ToolCalls {
				open = append(open, call.ID)
			}
		default:
			return fmt.Sprintf("messages.[%d].role", i), unansweredCall
		}
	}
	if len(open) > 0 {
		return "messages", unansweredCall
	}
	return "", ""
}

// Answer is what the script says: text, calls, both, or neither.
type Answer struct {
	Text  string
	Calls []ToolCall
}

// Answer follows the script. It is a function of the request alone; id goes
// into the ids of the calls, which must differ within a conversation.
func (ask Request) Answer(id string) Answer {
	said := readScene(ask).answer()
	return Answer{Text: said.text, Calls: said.toolCalls(id)}
}

// Prompt is the request as one text, for counting.
func (ask Request) Prompt() string {
	var out strings.Builder
	for _, tool := range ask.Tools {
		out.WriteString(tool.Function.Name + "\n")
	}
	for _, m := range ask.Messages {
		out.WriteString(m.Role + "\n" + string(m.Content) + "\n")
		for _, call := range m.ToolCalls {
			out.WriteString(call.Function.Name + call.Function.Arguments + "\n")
		}
	}
	return out.String()
}

// Vector stands in for an embedding: a hash of the words with length 1. Equal
// texts are equal, texts that share words are near, and nothing is understood.
func Vector(text string, dimensions int) []float32 {
	sums := make([]float64, dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	// Each word adds 1 or -1 at a place of its own; the empty one stands for no words.
	for _, word := range append(words, "") {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // never fails
		sum := h.Sum64()
		sums[sum%uint64(dimensions)] += 1 - 2*float64(sum>>63)
	}
	length := 0.0
	for _, v := range sums {
		length += v * v
	}
	length = math.Sqrt(length)
	vector := make([]float32, dimensions)
	if length == 0 {
		vector[0] = 1 // The words cancelled each other out.
		return vector
	}
	for i, v := range sums {
		vector[i] = float32(v / length)
	}
	return vector
}
