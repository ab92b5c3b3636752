package toolcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coachline/internal/agent/marks"
	"coachline/models"
	"coachline/prompts"
)

const (
	toolsTitle = "# Tools\n"
	rulesTitle = "# When to use a tool\n"
	// personTitle begins what is of one person; what is the same for all stands before.
	personTitle = "# Participant\n"
)

// Offer puts a request that was composed in native form, with its tools and
// with the calls and results of the turn, into the protocol of the model that
// answers it.
//
//   - native: with the tools in their field.
//   - text: the tools are a section of the system message, calls are fences,
//     results are user messages "[Tool result: name]".
//   - two-phase: no tools, calls and results are JSON notes. That is the
//     request for the words, after AskChoice has said that no tool is needed.
//
// Calls without a result and results without a call are left out in each of
// them, and the messages alternate between user and assistant in each: strict
// chat templates refuse all others. A small model that is offered tools is told when not to use them. There
// is never a second system message. It fails when a text cannot be
// rendered; the request that came in is not changed, and a retry is safe and
// pointless.
func Offer(lib *prompts.Library, c models.Capability, req models.ChatRequest) (models.ChatRequest, error) {
	req.Messages = pairCalls(req.Messages)
	sections, err := sectionsFor(lib, c, req.Tools)
	if err != nil {
		return models.ChatRequest{}, err
	}
	for _, section := range sections {
		req.Messages = withSection(req.Messages, section)
	}
	switch c.Protocol {
	case models.ProtocolText:
		req.Messages = rewriteMessages(req.Messages, fenceStyle())
		req.Tools = nil
	case models.ProtocolTwoPhase:
		req.Messages = rewriteMessages(req.Messages, noteStyle())
		req.Tools = nil
	case models.ProtocolNative:
		req.Messages = alternateRoles(req.Messages)
	}
	return req, nil
}

// sectionsFor returns the sections of the system message about the tools.
func sectionsFor(lib *prompts.Library, c models.Capability, tools []models.ToolSpec) ([]string, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var out []string
	if c.Protocol == models.ProtocolText {
		lines := toolLines(tools)
		if c.Size == models.SizeSmall {
			lines = shortLines(tools)
		}
		text, err := lib.Render(prompts.TextTools, prompts.StageData{Tools: lines})
		if err != nil {
			return nil, fmt.Errorf("writing tools as text: %w", err)
		}
		out = append(out, toolsTitle+text)
	}
	if c.Size == models.SizeSmall {
		text, err := lib.Render(prompts.SmallModelRules, prompts.StageData{Small: true})
		if err != nil {
			return nil, fmt.Errorf("writing rules for small models: %w", err)
		}
		out = append(out, rulesTitle+text)
	}
	return out, nil
}

// toolLines returns the tools as texts show them; a schema goes on one line.
func toolLines(tools []models.ToolSpec) []prompts.ToolLine {
	lines := make([]prompts.ToolLine, len(tools))
	for i, tool := range tools {
		schema := "{}"
		if len(tool.Schema) > 0 {
			schema = compactJSON(tool.Schema)
		}
		lines[i] = prompts.ToolLine{Name: tool.Name, Description: strings.Join(strings.Fields(tool.Description), " "), Schema: schema}
	}
	return lines
}

// shortLines returns the tools as a small model is shown them: the first sentence of each
// and the names of its arguments, with the values that they are limited to.
func shortLines(tools []models.ToolSpec) []prompts.ToolLine {
	lines := toolLines(tools)
	for i, tool := range tools {
		first, _, cut := strings.Cut(lines[i].Description, ". ")
		if cut {
			first += "."
		}
		lines[i].Description, lines[i].Schema = first, argumentNames(tool.Schema)
	}
	return lines
}

// argumentNames lists the arguments of a schema in its order; "none" where it has none or
// cannot be read.
func argumentNames(schema json.RawMessage) string {
	var whole struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &whole) != nil {
		return "none"
	}
	read := json.NewDecoder(bytes.NewReader(whole.Properties))
	_, err := read.Token() // the brace that opens it
	var names []string
	for err == nil && read.More() {
		var name json.Token
		var one struct {
			Enum []string `json:"enum"`
		}
		if name, err = read.Token(); err == nil {
			err = read.Decode(&one)
		}
		text := fmt.Sprint(name)
		if len(one.Enum) > 0 {
			text += " (" + strings.Join(one.Enum, " or ") + ")"
		}
		names = append(names, text)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// withSection puts a section into the system message, before what is of one person; a
// request without a system message gets one.
func withSection(messages []models.ChatMessage, section string) []models.ChatMessage {
	messages = slices.Clone(messages)
	at := slices.IndexFunc(messages, func(m models.ChatMessage) bool { return m.Role == roleSystem })
	if at < 0 {
		return append([]models.ChatMessage{{Role: roleSystem, Content: section}}, messages...)
	}
	text := messages[at].Content
	switch person := strings.Index(text, "\n"+personTitle); {
	case person >= 0:
		text = text[:person+1] + section + "\n\n" + text[person+1:]
	case strings.HasPrefix(text, personTitle):
		text = section + "\n\n" + text
	default:
		text = strings.TrimRight(text, "\n") + "\n\n" + section
	}
	messages[at].Content = text
	return messages
}

func fenceStyle() toolStyle {
	return toolStyle{
		call: func(call models.ToolCall) string {
			return "```tool_call\n" + encodeJSON(struct {
				Name      string `json:"name"`
				Arguments any    `json:"arguments"`
			}{call.Name, argumentsOf(call)}) + "\n```"
		},
		result: func(call models.ToolCall, content string) string {
			if problem, failed := failureOf(content); failed {
				content = "Error: " + problem
			}
			return marks.ToolResult + call.Name + "]\n" + marks.NeutraliseResult(content)
		},
	}
}
