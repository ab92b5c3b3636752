package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coachline/internal/agent/marks"
	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// How often each phase is asked again after an answer that cannot be read; then
// the step ends and the words are asked for.
const (
	ChoiceRetries   = 1
	ArgumentRetries = 2
)

// Ask is one phase of a step in the two-phase protocol.
type Ask struct {
	Capability models.Capability
	// Request is the step in native form, with its tools.
	Request models.ChatRequest
	// Problem is what was wrong with the answer before: the text of an error of
	// ReadChoice or ReadArguments, or of the tool; empty the first time.
	Problem string
}

// AskChoice asks which tool comes next, if any. Everything but the end of
// the last user message is the same as in the step's other requests, so that
// the provider's prompt cache holds it. ReadChoice reads the answer.
func AskChoice(lib *prompts.Library, ask Ask) (models.ChatRequest, error) {
	data := prompts.StageData{Tools: toolLines(ask.Request.Tools), Steps: problemLines(ask.Problem)}
	return ask.withTask(lib, prompts.ToolChoice, data)
}

// AskArguments asks for the arguments of the tool that was chosen; it
// fails for a tool that the request does not offer. A tool for which
// TakesArguments is false needs no such request. ReadArguments reads the
// answer.
func AskArguments(lib *prompts.Library, ask Ask, tool string) (models.ChatRequest, error) {
	at := slices.IndexFunc(ask.Request.Tools, func(spec models.ToolSpec) bool { return spec.Name == tool })
	if at < 0 {
		return models.ChatRequest{}, errors.New("asking for arguments of a tool that is not offered")
	}
	data := prompts.StageData{Tools: toolLines(ask.Request.Tools[at : at+1]), Steps: problemLines(ask.Problem)}
	return ask.withTask(lib, prompts.ToolArguments, data)
}

// withTask returns the step's request with a task at its end.
func (a Ask) withTask(lib *prompts.Library, name prompts.Name, data prompts.StageData) (models.ChatRequest, error) {
	a.Capability.Protocol = models.ProtocolTwoPhase
	req, err := Offer(lib, a.Capability, a.Request)
	if err != nil {
		return models.ChatRequest{}, err
	}
	text, err := lib.Render(name, data)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("writing task: %w", err)
	}
	end := alternatingMessages{messages: slices.Clone(req.Messages)}
	end.addMessage(roleUser, marks.Task+text)
	req.Messages = end.messages
	return req, nil
}

// problemLines returns a problem as the lines of a prompt; there is none
// without a problem.
func problemLines(problem string) []string {
	if problem == "" {
		return nil
	}
	return []string{strings.Join(strings.Fields(problem), " ")}
}

// ReadChoice reads the answer to AskChoice: the name of an offered tool, or ""
// when the person can be answered now. An error is text for the model, to be
// given back as Ask.Problem.
func ReadChoice(text string, tools []models.ToolSpec) (string, error) {
	raw, ok := onlyObject(text)
	if !ok {
		return "", errors.New("the answer was not one JSON object")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil {
		return "", errors.New("the answer was not one JSON object")
	}
	chosen, ok := fields["tool"]
	if !ok {
		return "", errors.New("the answer had no field tool")
	}
	var name string
	if json.Unmarshal(chosen, &name) != nil {
		return "", errors.New("the field tool was neither a name nor null")
	}
	name = strings.TrimSpace(name)
	if noValue.MatchString(name) || strings.EqualFold(name, "none") {
		name = ""
	}
	if name != "" && !offeredBy(tools).hasTool(name) {
		return "", errors.New("the field tool named no tool of the list")
	}
	return name, nil
}

// ReadArguments reads the answer to AskArguments as JSON text of one object. It
// does not check it against the schema, which the tool does. An error is text
// for the model, to be given back as Ask.Problem.
func ReadArguments(text string) (string, error) {
	raw, ok := onlyObject(text)
	if !ok {
		return "", errors.New("the answer was not one JSON object")
	}
	var wrapped struct {
		Arguments json.RawMessage `json:"arguments"`
		Name      string          `json:"name"`
		Tool      string          `json:"tool"`
	}
	isCall := json.Unmarshal([]byte(raw), &wrapped) == nil && (wrapped.Name != "" || wrapped.Tool != "")
	if isCall && strings.HasPrefix(string(wrapped.Arguments), "{") {
		return string(wrapped.Arguments), nil
	}
	return raw, nil
}

// TakesArguments reports whether a tool has any argument to fill in; one whose
// schema names none is called with {} at once.
func TakesArguments(tool models.ToolSpec) bool {
	return len(offeredBy([]models.ToolSpec{tool}).argumentsFor(tool.Name).types) > 0
}

// onlyObject returns the one JSON object of an answer, without thinking, a
// fence and text around it. An answer with an object that its text does not
// close, or with a second one, is refused.
func onlyObject(answer string) (string, bool) {
	answer = text.WithoutThinking(strings.ToValidUTF8(answer, ""))
	start := strings.IndexByte(answer, '{')
	if start < 0 {
		return "", false
	}
	read, ok := readValue(answer[start:])
	if !ok || !read.whole || strings.ContainsAny(read.rest, "{}") {
		return "", false
	}
	return read.json, true
}

// noteStyle returns the style of the two-phase protocol.
func noteStyle() toolStyle {
	return toolStyle{
		call: func(models.ToolCall) string { return "" },
		result: func(call models.ToolCall, content string) string {
			note := struct {
				Tool      string `json:"tool"`
				Arguments any    `json:"arguments"`
				Result    any    `json:"result,omitempty"`
				Error     string `json:"error,omitempty"`
			}{Tool: call.Name, Arguments: argumentsOf(call)}
			if problem, failed := failureOf(content); failed {
				note.Error = problem
			} else {
				note.Result = asValue(content)
			}
			return marks.ToolNote + encodeJSON(note)
		},
	}
}

// argumentsOf returns the arguments as JSON, or as the text that they are.
func argumentsOf(call models.ToolCall) any {
	if strings.TrimSpace(call.Arguments) == "" {
		return struct{}{}
	}
	return asValue(call.Arguments)
}

func asValue(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
