package openai

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// toolFormat is how a request wants its tools called.
type toolFormat string

const (
	native toolFormat = "native"
	// fenced: calls are blocks in the text.
	fenced toolFormat = "fenced"
	// choosing and filling are the two phases of a call without any field for
	// tools: its name, then its arguments.
	choosing toolFormat = "choosing"
	filling  toolFormat = "filling"
)

// Phrases of the texts that offer tools in words.
const (
	fencePhrase  = "To use one, write nothing but this block"
	choicePhrase = "Choose the next action; do not answer the person yet."
	fillPhrase   = "Fill in the arguments of the tool below"
	taskMark     = "[task] "
)

var (
	// ownMark begins what the program writes into a user message.
	ownMark  = regexp.MustCompile(`(?m)^\[(?:Tool result: [^\]\n]+\]|Tool note\]|The person writes\]|task\]|The conversation starts with you\.\])`)
	fence    = regexp.MustCompile("(?s)```tool_call\\s*(\\{.*?\\})\\s*```")
	toolLine = regexp.MustCompile(`(?m)^(?:- )?([A-Za-z_][\w.-]*): `)
)

// textRequest is a request whose tools are written out as text; unfolding gives it
// the form of the API, so that a conversation is read in one place.
type textRequest struct {
	Request
	manner toolFormat
	// open are the calls whose results have not come yet.
	open  []ToolCall
	count int
}

func unfold(ask Request) textRequest {
	out := textRequest{Request: ask, manner: native}
	if len(ask.Tools) > 0 || slices.ContainsFunc(ask.Messages, func(m Message) bool { return m.Role == "tool" }) {
		return out
	}
	out.Messages = nil
	for _, m := range ask.Messages {
		switch m.Role {
		case "assistant":
			out.takeCalls(m)
		case "user":
			out.addParts(string(m.Content))
		default:
			out.Messages = append(out.Messages, m)
			if _, list, found := strings.Cut(string(m.Content), "You can use these tools:\n"); found && strings.Contains(list, fencePhrase) {
				list, _, _ = strings.Cut(list, fencePhrase)
				out.setTools(list, fenced)
			}
		}
	}
	return out
}

// setTools reads the names of tools from a list in words.
func (f *textRequest) setTools(list string, as toolFormat) {
	f.manner, f.Tools = as, nil
	for _, name := range toolLine.FindAllStringSubmatch(list, -1) {
		if name[1] == "Schema" {
			continue
		}
		tool := Tool{}
		tool.Function.Name = name[1]
		f.Tools = append(f.Tools, tool)
	}
}

// takeCalls takes the calls out of the coach's text.
func (f *textRequest) takeCalls(m Message) {
	for _, block := range fence.FindAllStringSubmatch(string(m.Content), -1) {
		var written struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if json.Unmarshal([]byte(block[1]), &written) == nil {
			m.ToolCalls = append(m.ToolCalls, f.nextToolCall(written.Name, string(written.Arguments)))
		}
	}
	if len(m.ToolCalls) > 0 {
		m.Content = Content(strings.TrimSpace(fence.ReplaceAllString(string(m.Content), "")))
	}
	f.open = slices.Clone(m.ToolCalls)
	f.Messages = append(f.Messages, m)
}

func (f *textRequest) nextToolCall(name, args string) ToolCall {
	f.count++
	return ToolCall{ID: fmt.Sprintf("unfolded_%d", f.count), Type: "function", Function: Function{Name: name, Arguments: args}}
}

// addParts divides a user message at the program's own marks.
func (f *textRequest) addParts(text string) {
	starts := ownMark.FindAllStringIndex(text, -1)
	end := len(text)
	if len(starts) > 0 {
		end = starts[0][0]
	}
	f.addText(text[:end])
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		f.readMarked(text[at[0]:at[1]], strings.TrimSpace(text[at[1]:end]))
	}
}

func (f *textRequest) addText(text string) {
	if text = strings.TrimSpace(text); text != "" {
		f.Messages = append(f.Messages, Message{Role: "user", Content: Content(text)})
	}
}

func (f *textRequest) readMarked(mark, text string) {
	name, isResult := strings.CutPrefix(mark, "[Tool result: ")
	switch {
	case isResult:
		f.addResult(strings.TrimSuffix(name, "]"), text)
	case mark == "[Tool note]":
		f.addNote(text)
	case mark == "[The person writes]":
		f.addText(text)
	case strings.HasPrefix(text, choicePhrase):
		_, list, _ := strings.Cut(text, "\nTools:\n")
		f.setTools(list, choosing)
	case strings.HasPrefix(text, fillPhrase):
		_, list, _ := strings.Cut(text, "\n\n")
		f.setTools(firstLine(list), filling)
	case mark == strings.TrimSpace(taskMark):
		f.addText(taskMark + text)
	}
}

// addResult belongs to the first open call of that name; without one it is only
// words.
func (f *textRequest) addResult(name, text string) {
	at := slices.IndexFunc(f.open, func(c ToolCall) bool { return c.Function.Name == name })
	if at < 0 {
		f.addText(text)
		return
	}
	f.Messages = append(f.Messages, Message{Role: "tool", Content: Content(text), ToolCallID: f.open[at].ID})
	f.open = slices.Delete(f.open, at, at+1)
}

func (f *textRequest) addNote(text string) {
	var written struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Result    json.RawMessage `json:"result"`
		Error     string          `json:"error"`
	}
	if json.NewDecoder(strings.NewReader(text)).Decode(&written) != nil || written.Tool == "" {
		f.addText(text)
		return
	}
	content := string(written.Result)
	_ = json.Unmarshal(written.Result, &content) // A result of words is a JSON text.
	if written.Error != "" {
		raw, _ := json.Marshal(map[string]any{"ok": false, "error": written.Error}) // Texts always encode.
		content = string(raw)
	}
	made := f.nextToolCall(written.Tool, string(written.Arguments))
	// Words that the coach wrote beside its call stand in a message before it.
	if n := len(f.Messages) - 1; n >= 0 && f.Messages[n].Role == "assistant" && len(f.Messages[n].ToolCalls) == 0 {
		f.Messages[n].ToolCalls = []ToolCall{made}
	} else {
		f.Messages = append(f.Messages, Message{Role: "assistant", ToolCalls: []ToolCall{made}})
	}
	f.Messages = append(f.Messages, Message{Role: "tool", Content: Content(content), ToolCallID: made.ID})
}

func (f textRequest) answerText(id string) Answer {
	sc := readScene(f.Request)
	switch f.manner {
	case choosing:
		name := any(nil)
		if c, more := sc.nextCall(); more {
			name = c.name
		}
		return inWords(encode(map[string]any{"tool": name}))
	case filling:
		args := map[string]any{}
		if c, more := sc.nextCall(); more && slices.Contains(sc.tools, c.name) {
			args = c.args
		}
		return inWords(encode(args))
	case fenced:
		said := sc.answer()
		parts := []string{said.text}
		for _, c := range said.calls {
			parts = append(parts, "```tool_call\n"+encode(map[string]any{"name": c.name, "arguments": c.args})+"\n```")
		}
		return inWords(strings.TrimSpace(strings.Join(parts, "\n")))
	case native:
	}
	said := sc.answer()
	return Answer{Text: said.text, Calls: said.toolCalls(id)}
}

func inWords(text string) Answer { return Answer{Text: text, Calls: []ToolCall{}} }

func encode(value any) string {
	raw, _ := json.Marshal(value) // Texts, numbers and maps of them always encode.
	return string(raw)
}

// nextCall is the next of the calls that the turn needs, one at a time; false
// when the person can be answered, also about a failure.
func (sc parsedRequest) nextCall() (call, bool) {
	if sc.hasSection("Task: habit prompt") || sc.hasSection("Task: greeting") {
		return call{}, false
	}
	var wanted []call
	for _, c := range sc.answerNew().calls {
		if _, ran := sc.ran(c.name); !ran {
			wanted = append(wanted, c)
		}
	}
	if n := len(sc.steps); n > 0 {
		for _, d := range sc.steps[n-1] {
			if _, failed := d.failure(); failed {
				return call{}, false
			}
		}
		wanted = append(wanted, sc.answerAfterTools().calls...)
	}
	at := slices.IndexFunc(wanted, func(c call) bool { return slices.Contains(sc.tools, c.name) })
	if at < 0 {
		return call{}, false
	}
	return wanted[at], true
}

func (sc parsedRequest) ran(name string) (completedCall, bool) {
	for _, step := range slices.Backward(sc.steps) {
		for _, d := range slices.Backward(step) {
			if d.name == name {
				return d, true
			}
		}
	}
	return completedCall{}, false
}
