package llm

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"coachline/internal/text"
	"coachline/models"
)

// answer is the part of a chat completion that we use, as loosely as
// OpenAI-compatible servers write it.
type answer struct {
	Model   looseText `json:"model"`
	Choices []struct {
		FinishReason looseText         `json:"finish_reason"`
		Message      *assistantMessage `json:"message"`
		Text         json.RawMessage   `json:"text"`
		Error        json.RawMessage   `json:"error"`
	} `json:"choices"`
	// Message and what follows it is Ollama's own form, Content a bare one.
	Message    json.RawMessage `json:"message"`
	DoneReason looseText       `json:"done_reason"`
	Content    json.RawMessage `json:"content"`
	StopReason looseText       `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
	Prompted   looseCount      `json:"prompt_eval_count"`
	Evaluated  looseCount      `json:"eval_count"`
}

// assistantMessage is a message of the assistant; servers have three names for what the
// model wrote for itself, and an older one for a call.
type assistantMessage struct {
	Content          json.RawMessage `json:"content"`
	Refusal          looseText       `json:"refusal"`
	ToolCalls        []answerCall    `json:"tool_calls"`
	FunctionCall     *answerFunction `json:"function_call"`
	ReasoningContent looseText       `json:"reasoning_content"`
	Reasoning        looseText       `json:"reasoning"`
	Thinking         looseText       `json:"thinking"`
}

type answerCall struct {
	ID       looseText      `json:"id"`
	Function answerFunction `json:"function"`
}

type answerFunction struct {
	Name      looseText       `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// readAnswer takes an answer with a success status: its message, else its first
// choice's message or text, else its content. An answer that makes no sense is
// ModelBusy: the model may do better next time.
func readAnswer(body []byte) (models.ChatResponse, *fault) {
	var in answer
	if err := json.Unmarshal(body, &in); err != nil {
		return models.ChatResponse{}, unreadableFault(body)
	}
	message, reason, failed := in.firstMessage()
	if failed != nil {
		return models.ChatResponse{}, failed
	}
	if message == nil {
		return models.ChatResponse{}, readNothing(body)
	}
	if reason == "content_filter" || message.Refusal != "" {
		return models.ChatResponse{}, &fault{key: keyGood, err: models.ModelError{
			Class: models.ModelDeclined, Status: http.StatusOK, Message: "the model declined to answer",
		}}
	}
	content, thoughts, ok := readContent(message.Content)
	if !ok {
		return models.ChatResponse{}, malformedFault("content is neither text nor parts")
	}
	said, inline, _ := text.SplitThinking(content)
	return models.ChatResponse{
		Text: said, Thinking: message.joinThinking(thoughts, inline), Calls: message.toolCalls(),
		FinishReason: string(reason), Model: string(in.Model), Usage: in.countUsage(),
	}, nil
}

func malformedFault(why string) *fault { return serverFault(http.StatusOK, "malformed answer: "+why) }

// isPage reports whether a body is a web page, which no model server answers with.
func isPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

const pageHint = "it is a web page and not a model's; is OPENAI_BASE_URL right?"

// unreadableFault is for an answer that is no JSON of a known shape.
func unreadableFault(body []byte) *fault {
	if isPage(body) {
		return malformedFault(pageHint)
	}
	return malformedFault("it is not JSON of a known shape")
}

// firstMessage finds the message; nil when there is none.
func (in answer) firstMessage() (*assistantMessage, looseText, *fault) {
	var own *assistantMessage
	switch {
	// Gateways also put a remark there, such as "success".
	case json.Unmarshal(in.Message, &own) == nil && own != nil:
		return own, in.DoneReason, nil
	case len(in.Choices) > 0:
		choice := in.Choices[0]
		if isPresent(choice.Error) {
			return nil, "", faultInSuccess(readProblem(choice.Error))
		}
		if choice.Message == nil || !isPresent(choice.Message.Content) && isPresent(choice.Text) {
			return &assistantMessage{Content: choice.Text}, choice.FinishReason, nil
		}
		return choice.Message, choice.FinishReason, nil
	case isPresent(in.Content):
		return &assistantMessage{Content: in.Content}, in.StopReason, nil
	}
	return nil, "", nil
}

func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// maxSeconds is a day, which no recording lasts.
const maxSeconds = 24 * 60 * 60

// countUsage returns what the server counted; zero where it counted nothing.
func (in answer) countUsage() models.Usage {
	var counts struct {
		Prompt     looseCount `json:"prompt_tokens"`
		Completion looseCount `json:"completion_tokens"`
		Input      looseCount `json:"input_tokens"`
		Output     looseCount `json:"output_tokens"`
		Details    struct {
			Cached looseCount `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		// Servers that write speech down count seconds.
		Seconds float64 `json:"seconds"`
	}
	// What cannot be read is not counted.
	_ = json.Unmarshal(in.Usage, &counts)
	return models.Usage{
		Prompt:     int(max(counts.Prompt, counts.Input, in.Prompted)),
		Cached:     int(counts.Details.Cached),
		Completion: int(max(counts.Completion, counts.Output, in.Evaluated)),
		Audio:      int(math.Ceil(min(max(counts.Seconds, 0), maxSeconds) * 1000)),
	}
}

// readNothing reads an answer without a message. Gateways report a failed model
// as an error object under a success status.
func readNothing(body []byte) *fault { return faultInSuccess(readFailure(body)) }

// faultInSuccess returns a failure under a success status; the code may be the status
// that it should have had.
func faultInSuccess(failed failure) *fault {
	if status, err := strconv.Atoi(failed.code); err == nil && status >= http.StatusBadRequest && status < 600 {
		return byStatus(status, failed)
	}
	if failed.code != "" || failed.kind != "" {
		return byStatus(http.StatusOK, failed)
	}
	return malformedFault("no message")
}

// readContent accepts a text, null, nothing, and a list of parts, of which the
// texts are joined and the thoughts are kept apart.
func readContent(raw json.RawMessage) (text, thoughts string, ok bool) {
	if !isPresent(raw) || json.Unmarshal(raw, &text) == nil {
		return text, "", true
	}
	var parts []struct {
		Text     looseText       `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", "", false
	}
	for _, part := range parts {
		inner, deeper, _ := readContent(part.Thinking)
		text += string(part.Text)
		thoughts += deeper + inner
	}
	return text, thoughts, true
}

// joinThinking joins what the server kept apart with what stood in the content.
func (m *assistantMessage) joinThinking(inContent ...string) string {
	apart := m.ReasoningContent
	if apart == "" {
		apart = m.Reasoning
	}
	if apart == "" {
		apart = m.Thinking
	}
	var out []string
	for _, one := range append([]string{string(apart)}, inContent...) {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return strings.Join(out, "\n\n")
}

func (m *assistantMessage) toolCalls() []models.ToolCall {
	if len(m.ToolCalls) == 0 && m.FunctionCall != nil {
		return readCalls([]answerCall{{Function: *m.FunctionCall}})
	}
	return readCalls(m.ToolCalls)
}

// readCalls keeps the order of the calls and gives each an id of its own: a
// missing or repeated one becomes "call_<index>", the same at every reading.
func readCalls(in []answerCall) []models.ToolCall {
	var out []models.ToolCall
	seen := map[string]bool{}
	for i, call := range in {
		id := string(call.ID)
		if id == "" || seen[id] {
			id = "call_" + strconv.Itoa(i)
		}
		for seen[id] {
			id += "_"
		}
		seen[id] = true
		out = append(out, models.ToolCall{ID: id, Name: string(call.Function.Name), Arguments: readArguments(call.Function.Arguments)})
	}
	return out
}

// readArguments returns the JSON text of the arguments: usually a string that holds
// it, on some servers the object itself. No arguments are an empty object.
func readArguments(raw json.RawMessage) string {
	if !isPresent(raw) {
		return "{}"
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return "{}"
		}
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return string(raw)
	}
	return compact.String()
}

// looseText takes a JSON text, or a number as its digits; anything else is
// empty rather than an error, because a field that we can do without must not
// cost the answer.
type looseText string

// UnmarshalJSON never fails.
func (t *looseText) UnmarshalJSON(raw []byte) error {
	var text string
	var number json.Number
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*t = looseText(text)
	case json.Unmarshal(raw, &number) == nil:
		*t = looseText(number)
	}
	return nil
}

// looseCount takes a number of tokens, also as a text or with a fraction;
// anything else is 0.
type looseCount int

// maxCount is more tokens than any answer has.
const maxCount = 1 << 30

// UnmarshalJSON never fails.
func (c *looseCount) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && n > 0 && n < maxCount {
		*c = looseCount(n)
	}
	return nil
}
