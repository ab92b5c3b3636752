package toolcall

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"coachline/models"
)

type parsedText struct {
	calls []models.ToolCall
	// words is the text without its calls and without fences.
	words string
	// broken: something in it was meant as a call, or as data for a program,
	// and cannot be read.
	broken bool
}

// marker is where something other than words begins: a fence, a tag, or a
// literal list of calls.
var marker = withSign("`<_", "(?i)```|</?(?:tool_calls?|function_calls?)>|[\"']?tool_calls?[\"']?[ \\t]*[:=]|\\[tool_calls\\]")

// scanner takes a text apart from its start to its end.
type scanner struct {
	text  string
	at    int
	cut   bool // the model was stopped by its limit
	tools toolSchemas
	words strings.Builder
	parsedText
}

// extractCalls finds the calls of a text, in order: fences and tags, literal
// lists, and the two bare shapes for the names of tools that are offered. cut
// says that the text was ended by a length limit: then nothing unfinished
// counts.
func extractCalls(text string, tools toolSchemas, cut bool) parsedText {
	if out, ok := wholeJSON(text, tools); ok {
		return out
	}
	if at := ownLine.FindStringIndex(text); at != nil {
		// What stands behind a result that the model made up rests on it.
		if before := scanText(text[:at[0]], tools, false); len(before.calls) > 0 {
			return before
		}
	}
	return scanText(text, tools, cut)
}

// scanText takes a text apart from its start to its end.
func scanText(text string, tools toolSchemas, cut bool) parsedText {
	s := scanner{text: text, cut: cut, tools: tools}
	for s.at < len(s.text) {
		at := marker.FindStringIndex(s.text[s.at:])
		start, end := len(s.text), len(s.text)
		if at != nil {
			start, end = s.at+at[0], s.at+at[1]
		}
		s.bareUntil(start)
		if s.at > start || at == nil {
			continue
		}
		s.at = end
		s.readMarked(s.text[start:end])
	}
	s.parsedText.words = s.words.String()
	return s.parsedText
}

// readMarked reads what follows a marker that was just passed.
func (s *scanner) readMarked(mark string) {
	switch {
	case mark == "```":
		s.readFence()
	case strings.HasPrefix(mark, "</"):
	case mark[0] == '<':
		s.readTag()
	default:
		s.readLiteral()
	}
}

var (
	callInfo   = regexp.MustCompile(`(?i)^[ \t]*(?:tool_?calls?|tool_?use|function_?calls?|tool_code|tool)(?:[\s:{[(]|$)`)
	fenceInfo  = regexp.MustCompile(`^[ \t]*[\w+#.-]*[ \t]*(?:\r?\n|$)`)
	jsonInfo   = regexp.MustCompile(`(?i)^[ \t]*json\b`)
	closingTag = regexp.MustCompile(`(?i)</(?:tool_calls?|function_calls?)>`)
)

// readFence reads a fenced block. One that is marked as a call, or that holds one
// as JSON, is a call; any other loses its marks and keeps its content, as the
// text rules of a phone ask.
func (s *scanner) readFence() {
	body, closed := s.takeUntil("```")
	if info := callInfo.FindString(body); info != "" {
		s.readCallBlock(strings.TrimLeft(strings.TrimPrefix(body, strings.TrimRight(info, "{[(")), ": \t"), closed)
		return
	}
	content := jsonInfo.ReplaceAllString(body, "")
	isJSON := len(content) != len(body)
	if trimmed := strings.TrimSpace(content); isJSON || strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		s.fencedJSON(content, closed)
		return
	}
	s.words.WriteString(strings.TrimRight(fenceInfo.ReplaceAllString(body, ""), "\n"))
}

// takeUntil takes the text up to a closing mark and passes it; without one, all
// that is left.
func (s *scanner) takeUntil(mark string) (body string, closed bool) {
	body, rest, closed := strings.Cut(s.text[s.at:], mark)
	s.at = len(s.text) - len(rest)
	return body, closed
}

func (s *scanner) fencedJSON(content string, closed bool) {
	if calls, ok := callsIn(content, s.tools); ok && len(calls) > 0 {
		s.addCalls(calls, closed || !s.cut)
		return
	}
	// Data that is the whole answer may be a reply in disguise; beside words
	// it is nothing for a person.
	alone := strings.TrimSpace(s.words.String()) == "" && strings.TrimSpace(s.text[s.at:]) == ""
	s.broken = s.broken || !alone
	s.words.WriteString(content)
}

// readTag reads what follows an opening tag, up to the closing one if there is
// one.
func (s *scanner) readTag() {
	rest := s.text[s.at:]
	if at := closingTag.FindStringIndex(rest); at != nil {
		s.at += at[1]
		s.readCallBlock(rest[:at[0]], true)
		return
	}
	s.at = len(s.text)
	s.readCallBlock(rest, false)
}

// readCallBlock reads the inside of a block that was marked as a call.
func (s *scanner) readCallBlock(body string, closed bool) {
	calls, ok := callsIn(body, anyName)
	if !ok {
		inner := scanner{text: strings.TrimSpace(body), tools: s.tools}
		inner.bareUntil(len(inner.text))
		calls, ok = inner.calls, strings.TrimSpace(inner.words.String()) == ""
	}
	if !ok || len(calls) == 0 {
		s.broken = true
		return
	}
	s.addCalls(calls, closed || !s.cut)
}

// readLiteral reads "tool_calls: [...]". What cannot be read is passed over: the
// answer as a whole is not shown.
func (s *scanner) readLiteral() {
	read, ok := readValue(s.text[s.at:])
	if !ok {
		s.broken = true
		return
	}
	s.at = len(s.text) - len(read.rest)
	calls, ok := decodeCalls(read.json, anyName)
	if !ok || len(calls) == 0 {
		s.broken = true
		return
	}
	s.addCalls(calls, read.whole || !s.cut)
}

// addCalls takes calls over, unless they may have been cut off.
func (s *scanner) addCalls(calls []models.ToolCall, complete bool) {
	if !complete {
		s.broken = true
		return
	}
	s.calls = append(s.calls, calls...)
}

// wholeJSON reads a text that is one JSON value: calls of tools that are
// offered, or an object that holds words, such as a message in the shape of the
// API. ok is false for every other text.
func wholeJSON(text string, tools toolSchemas) (parsedText, bool) {
	read, ok := readValue(text)
	if !ok || !read.whole || strings.TrimSpace(read.rest) != "" {
		return parsedText{}, false
	}
	if calls, ok := decodeCalls(read.json, tools); ok && len(calls) > 0 {
		return parsedText{calls: calls, words: messageText(read.json)}, true
	}
	words := messageText(read.json)
	return parsedText{words: words}, words != ""
}

// callsIn reads one or more JSON values that are calls and nothing else.
func callsIn(text string, tools toolSchemas) ([]models.ToolCall, bool) {
	var calls []models.ToolCall
	text = strings.TrimSpace(text)
	for text != "" {
		read, ok := readValue(text)
		if !ok {
			return nil, false
		}
		some, ok := decodeCalls(read.json, tools)
		if !ok {
			return nil, false
		}
		calls = append(calls, some...)
		text = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(read.rest), ",;"))
	}
	return calls, true
}

// decodeCalls reads a call, a list of calls or a message that holds a list.
func decodeCalls(raw string, tools toolSchemas) ([]models.ToolCall, bool) {
	if strings.HasPrefix(raw, "[") {
		var items []json.RawMessage
		if json.Unmarshal([]byte(raw), &items) != nil {
			return nil, false
		}
		var calls []models.ToolCall
		for _, item := range items {
			call, ok := decodeCall(item, tools)
			if !ok {
				return nil, false
			}
			calls = append(calls, call)
		}
		return calls, true
	}
	var message struct {
		Calls json.RawMessage `json:"tool_calls"`
	}
	if json.Unmarshal([]byte(raw), &message) == nil && strings.HasPrefix(string(message.Calls), "[") {
		return decodeCalls(string(message.Calls), tools)
	}
	call, ok := decodeCall([]byte(raw), tools)
	if !ok {
		return nil, false
	}
	return []models.ToolCall{call}, true
}

// callShape is a call as models write it.
type callShape struct {
	Name       string          `json:"name"`
	Tool       string          `json:"tool"`
	Function   json.RawMessage `json:"function"`
	Arguments  json.RawMessage `json:"arguments"`
	Args       json.RawMessage `json:"args"`
	Parameters json.RawMessage `json:"parameters"`
	Input      json.RawMessage `json:"input"`
}

func decodeCall(raw []byte, tools toolSchemas) (models.ToolCall, bool) {
	var shape callShape
	if json.Unmarshal(raw, &shape) != nil {
		return models.ToolCall{}, false
	}
	var name string
	if len(shape.Function) > 0 && json.Unmarshal(shape.Function, &name) != nil {
		var inner callShape
		if json.Unmarshal(shape.Function, &inner) != nil {
			return models.ToolCall{}, false
		}
		name = inner.Name
		shape.Arguments, shape.Parameters = inner.Arguments, inner.Parameters
	}
	for _, other := range []string{shape.Name, shape.Tool} {
		if name == "" {
			name = other
		}
	}
	given := firstOf(shape.Arguments, shape.Args, shape.Parameters, shape.Input)
	if name == "" || !tools.canCall(name) || (given == nil && !tools.hasTool(name)) {
		return models.ToolCall{}, false
	}
	return models.ToolCall{Name: name, Arguments: argumentText(given)}, true
}

func firstOf(raws ...json.RawMessage) json.RawMessage {
	at := slices.IndexFunc(raws, func(raw json.RawMessage) bool { return len(raw) > 0 })
	if at < 0 {
		return nil
	}
	return raws[at]
}

// argumentText returns the arguments as JSON text: an object, also one that was
// written as a string. Anything else is passed on for the tool to refuse.
func argumentText(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return compactJSON(raw)
	}
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	if read, ok := readValue(text); ok && strings.TrimSpace(read.rest) == "" {
		return read.json
	}
	return compactJSON(raw)
}
