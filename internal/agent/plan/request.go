package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

const (
	// dialogueLines, lineChars and descriptionChars keep the planner's request
	// small.
	dialogueLines    = 6
	lineChars        = 200
	descriptionChars = 120
)

// PlannerInput is what a planner is asked. Tools are the routed ones with what
// was carried over; Dialogue is as Dialogue makes it; Context is the line of
// the moment. All texts are redacted.
type PlannerInput struct {
	Query    string
	Dialogue []string
	Context  string
	Tools    []models.ToolSpec
	Model    string
}

// PlannerRequest asks for a plan. It has one system message and the person's
// text as the only user message. It fails only when the prompt cannot be
// rendered; then go on without a plan.
func PlannerRequest(lib *prompts.Library, ask PlannerInput) (models.ChatRequest, error) {
	data := prompts.StageData{
		Query: ask.Query, Dialogue: ask.Dialogue, Context: ask.Context, Limit: maxSteps,
		Tools: toolLines(ask.Tools, false),
	}
	text, err := lib.Render(prompts.Planner, data)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering planner request: %w", err)
	}
	return newRequest(ask.Model, text, ask.Query), nil
}

// Dialogue returns the last six texts of person and coach, oldest first, one
// line of at most 200 characters each. Tool rows and debug texts are left out.
func Dialogue(entries []models.Message) []string {
	var out []string
	for _, entry := range entries {
		speaker := speakerOf(entry)
		body := strings.Join(strings.Fields(entry.Text), " ")
		if speaker != "" && body != "" {
			out = append(out, speaker+": "+text.Truncate(body, lineChars))
		}
	}
	return out[max(0, len(out)-dialogueLines):]
}

func speakerOf(entry models.Message) string {
	if entry.Kind == models.KindToolCall || entry.Kind == models.KindToolResult || entry.Kind == models.KindDebug {
		return ""
	}
	switch entry.Role {
	case models.RoleUser:
		return "user"
	case models.RoleAssistant:
		return "coach"
	case models.RoleTool:
	}
	return ""
}

// ResolverInput is what is known when a step has to be turned into a call: the
// person's text, the step, the allowed tools and the results so far.
type ResolverInput struct {
	Query string
	Step  Step
	Tools []models.ToolSpec
	Past  []Past
	Model string
}

// ResolverRequest asks for the call that a step means. It has one system
// message and the step as the only user message. It fails only when the prompt
// cannot be rendered; then the chat model takes the turn.
func ResolverRequest(lib *prompts.Library, ask ResolverInput) (models.ChatRequest, error) {
	data := prompts.StageData{Query: ask.Query, Material: ask.Step.Text, Tools: toolLines(ask.Tools, true)}
	for _, past := range ask.Past {
		outcome := past.Result.Content
		if past.Result.Failed {
			outcome = "failed: " + outcome
		}
		data.Steps = append(data.Steps, past.Call.Name+": "+strings.Join(strings.Fields(outcome), " "))
	}
	text, err := lib.Render(prompts.PlanResolver, data)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering resolver request: %w", err)
	}
	return newRequest(ask.Model, text, ask.Step.Text), nil
}

// newRequest makes a request of one system message and one user message.
func newRequest(model, system, user string) models.ChatRequest {
	return models.ChatRequest{Model: model, Messages: []models.ChatMessage{
		{Role: "system", Content: system},
		{Role: "user", Content: user},
	}}
}

// toolLines returns the tools as prompts show them, with schemas if asked for.
func toolLines(tools []models.ToolSpec, schemas bool) []prompts.ToolLine {
	out := make([]prompts.ToolLine, 0, len(tools))
	for _, tool := range tools {
		line := prompts.ToolLine{Name: tool.Name, Description: text.Truncate(strings.Join(strings.Fields(tool.Description), " "), descriptionChars)}
		if schemas {
			line.Schema = strings.Join(strings.Fields(string(tool.Schema)), " ")
		}
		out = append(out, line)
	}
	return out
}

// argumentSchema is what this package reads of a tool's schema: which
// arguments there are, and of which type. The tool itself checks the rest.
type argumentSchema struct {
	Properties map[string]propertySchema `json:"properties"`
	Required   []string                  `json:"required"`
}

type propertySchema struct {
	Type any   `json:"type"`
	Enum []any `json:"enum"`
}

// schemaOf reads the schema of a tool; one that cannot be read has no
// arguments.
func schemaOf(raw json.RawMessage) argumentSchema {
	var schema argumentSchema
	if json.Unmarshal(raw, &schema) != nil {
		return argumentSchema{}
	}
	return schema
}

func (s argumentSchema) hasRequired(arguments map[string]json.RawMessage) bool {
	for _, name := range s.Required {
		if _, ok := arguments[name]; !ok {
			return false
		}
	}
	return true
}

// hasType reports whether the property may have a JSON type.
func (p propertySchema) hasType(name string) bool {
	switch kind := p.Type.(type) {
	case nil:
		return name == "string"
	case string:
		return kind == name
	case []any:
		return slices.Contains(kind, any(name))
	}
	return false
}

// fromText turns a written value into JSON of the property's type; ok is false
// when it has none or the value is not among those allowed.
func (p propertySchema) fromText(text string) (value json.RawMessage, ok bool) {
	if len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(one any) bool { return fmt.Sprint(one) == text }) {
		return nil, false
	}
	text = strings.TrimSpace(text)
	switch {
	case p.hasType("string"):
		return encodeJSON(text), true
	case p.hasType("boolean") && (text == "true" || text == "false"):
		return json.RawMessage(text), true
	case p.hasType("integer"), p.hasType("number"):
		var number json.Number
		if json.Unmarshal([]byte(text), &number) != nil || strings.HasPrefix(text, `"`) {
			return nil, false
		}
		if _, err := number.Int64(); err != nil && !p.hasType("number") {
			return nil, false
		}
		return json.RawMessage(number.String()), number != ""
	}
	return nil, false
}

// encodeJSON writes JSON with sorted keys and without the escapes that are for
// HTML pages; nil when the value holds broken JSON.
func encodeJSON(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}
