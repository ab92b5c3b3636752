package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// check finds what OpenAI would refuse: a field's name and the problem, both
// empty when there is none.
func (ask Request) check() (param, problem string) {
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

// FollowScript answers the body of a chat completion request. It is a function
// of the body alone.
//
// The script is a habit coach without a model. It walks an intake by the sections of the
// system message (package reply writes them), calls the tools it is offered,
// and answers feedback. Besides ordinary answers it knows commands: "list my
// schedules", "cancel ..." or "delete ..." (the named or the only schedule),
// "talk later in N minutes", "feedback in N minutes", "feedback now", "give me
// a prompt", "what do you know about me", "what time is it", "forget ..." (a
// topic, an id, or everything), "search the web for ..." and "read the page ..."
// where those tools are offered. A question about the person is answered from
// what the system message says was remembered. For tests it knows these words,
// anywhere in a text:
//
//   - "call two tools": two calls in one message, then a summary
//   - "loop tools": a call in every step for as long as tools are offered
//   - "say nothing": an empty answer; "say nothing once": empty while tools
//     are offered, words when they are not
//   - "bad arguments": a call of scheduler whose arguments break its schema
//   - "text and tool": words that claim a success, with a call that fails
//   - "unknown tool": a call of a tool that does not exist
//
// After a failed call it says so. Without tools it answers in text only. The
// stages of a reply, which ask for something else than an answer to the person,
// are answered in stage.go.
func FollowScript(body []byte) (Answer, error) {
	ask, err := ReadRequest(body)
	if err != nil {
		return Answer{}, err
	}
	return ask.follow(requestID(body)), nil
}

// FollowRequest is FollowScript for a request that was not sent over HTTP; id goes
// into the ids of the calls, which must differ within a conversation.
func FollowRequest(ask Request, id string) (Answer, error) {
	if param, problem := ask.check(); problem != "" {
		return Answer{}, &RequestError{Param: param, Problem: problem}
	}
	return ask.follow(id), nil
}

func (ask Request) follow(id string) Answer {
	answer := ask.answer(id)
	answer.Prompt = ask.Prompt()
	return answer
}

// ReadRequest reads the body of a chat completion request. An error is a
// *RequestError: OpenAI would refuse it.
func ReadRequest(body []byte) (Request, error) {
	var ask Request
	if err := json.Unmarshal(body, &ask); err != nil {
		return ask, &RequestError{Problem: "We could not parse the JSON body of your request."}
	}
	if param, problem := ask.check(); problem != "" {
		return ask, &RequestError{Param: param, Problem: problem}
	}
	return ask, nil
}

// answer follows the script; id goes into the ids of the calls, which must
// differ within a conversation.
func (ask Request) answer(id string) Answer {
	if text, ok := answerStage(stageAsk{System: ask.newest("system"), User: ask.newest("user")}); ok {
		return inWords(text)
	}
	return unfold(ask).answerText(id)
}

func (ask Request) newest(role string) string {
	for _, m := range slices.Backward(ask.Messages) {
		if m.Role == role {
			return string(m.Content)
		}
	}
	return ""
}

// Prompt is a request as one text in its order: tools, then messages.
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
