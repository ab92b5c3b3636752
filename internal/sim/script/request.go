package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coachline/internal/sim/script/stage"
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

// Tool is a tool that the script may call; it reads no more than the name, and
// the rest only counts.
type Tool struct {
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
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
	return ask.unpairedCall()
}

// unpairedCall finds a tool call without its result, or a result without its
// call: OpenAI refuses both.
func (ask Request) unpairedCall() (param, problem string) {
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
// into the ids of the calls, which must differ within a conversation. A stage
// of a reply is known by its system message (package stage), and tools that are
// offered in words are called in words.
func (ask Request) Answer(id string) Answer {
	asked := stage.Ask{System: ask.newest("system"), User: ask.newest("user"), Intend: intend}
	if text, ok := stage.Answer(asked); ok {
		return inWords(text)
	}
	return unfold(ask).answerText(id)
}

// newest is the last text of a role.
func (ask Request) newest(role string) string {
	for _, m := range slices.Backward(ask.Messages) {
		if m.Role == role {
			return string(m.Content)
		}
	}
	return ""
}

// Prompt is the request as one text, for counting.
func (ask Request) Prompt() string {
	var out strings.Builder
	for _, tool := range ask.Tools {
		out.WriteString(tool.Function.Name + "\n" + tool.Function.Description + "\n" + string(tool.Function.Parameters) + "\n")
	}
	for _, m := range ask.Messages {
		out.WriteString(m.Role + "\n" + string(m.Content) + "\n")
		for _, call := range m.ToolCalls {
			out.WriteString(call.Function.Name + call.Function.Arguments + "\n")
		}
	}
	return out.String()
}
