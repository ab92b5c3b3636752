package toolcall

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"coachline/models"
)

// toolSchemas is the schemas of a request's tools by name. A nil map stands for
// names of any kind.
type toolSchemas map[string]json.RawMessage

// arguments is what a tool takes: argument names and their JSON types ("" is
// any).
type arguments struct {
	types map[string]string
	// required is the one argument that may be given without its name.
	required string
}

// anyName accepts every name: the allow-list decides later.
var anyName toolSchemas

// canCall reports whether a name may be called: any name where no tools are
// given.
func (o toolSchemas) canCall(name string) bool { return o == nil || o.hasTool(name) }

// hasTool reports whether a tool of that name is offered.
func (o toolSchemas) hasTool(name string) bool {
	_, ok := o[name]
	return ok
}

func offeredBy(tools []models.ToolSpec) toolSchemas {
	out := make(toolSchemas, len(tools))
	for _, tool := range tools {
		if tool.Name != "" {
			out[tool.Name] = tool.Schema
		}
	}
	return out
}

// argumentsFor reads the schema of a tool, which few answers ask for. One that
// cannot be read leaves its tool without known arguments.
func (o toolSchemas) argumentsFor(name string) arguments {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	taken := arguments{types: map[string]string{}}
	if json.Unmarshal(o[name], &schema) != nil {
		return taken
	}
	for name, raw := range schema.Properties {
		taken.types[name] = typeOf(raw)
	}
	if len(schema.Required) == 1 {
		taken.required = schema.Required[0]
	} else if len(schema.Properties) == 1 {
		for name := range schema.Properties {
			taken.required = name
		}
	}
	return taken
}

// typeOf returns the single type of a property, "" when it has several.
func typeOf(property json.RawMessage) string {
	var named struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(property, &named) != nil {
		return ""
	}
	return named.Type
}

// bareStart is a line that begins with a name and an opening.
var bareStart = withSign("(:", "(?m)^[ \\t]*(?:[-*>][ \\t]+)?`?([A-Za-z_][\\w.-]*)`?[ \\t]*([(:])")

// bareUntil takes over the text up to end, except for bare calls of offered
// tools on lines of their own. A bare call may reach beyond end.
func (s *scanner) bareUntil(end int) {
	for s.at < end {
		at := s.nextBare(end)
		if at == nil {
			s.words.WriteString(s.text[s.at:end])
			s.at = end
			return
		}
		s.words.WriteString(s.text[s.at:at[0]])
		name := s.text[at[2]:at[3]]
		s.at = at[1]
		var args string
		var ok bool
		if s.text[at[4]] == '(' {
			args, ok = s.readParenthesised(name)
		} else {
			args, ok = s.readKeyed(name)
		}
		if ok {
			s.calls = append(s.calls, models.ToolCall{Name: name, Arguments: args})
			continue
		}
		// A name with an underscore is no word of any language.
		s.broken = s.broken || strings.Contains(name, "_")
		s.words.WriteString(s.text[at[0]:at[1]])
		s.at = at[1]
	}
}

// nextBare finds the next line that begins with the name of an offered tool.
func (s *scanner) nextBare(end int) []int {
	if !bareStart.hasSign(s.text[s.at:end]) {
		return nil
	}
	for from := s.at; from < end; {
		at := bareStart.FindStringSubmatchIndex(s.text[from:end])
		if at == nil {
			return nil
		}
		for i := range at {
			at[i] += from
		}
		lineStart := at[0] == 0 || s.text[at[0]-1] == '\n'
		if lineStart && s.tools.hasTool(s.text[at[2]:at[3]]) {
			return at
		}
		from = at[1]
	}
	return nil
}

// lineEnd is what may stand behind a bare call.
var lineEnd = regexp.MustCompile("^[ \\t`;.,]*(?:\\r?\\n|$)")

// readParenthesised reads the arguments of name(...): pairs, one JSON object, one
// value for the only argument, or nothing. The position is left behind the
// line when ok.
func (s *scanner) readParenthesised(name string) (string, bool) {
	r := jsonRepairer{text: s.text, at: s.at, whole: true}
	args, ok := readArguments(&r, s.tools.argumentsFor(name))
	if !ok {
		return "", false
	}
	after := lineEnd.FindString(r.text[r.at:])
	if after == "" && r.at < len(r.text) {
		return "", false
	}
	s.at = r.at + len(after)
	return args, true
}

func readArguments(r *jsonRepairer, taken arguments) (string, bool) {
	if c, ok := r.nextByte(); ok && c == '{' {
		read, ok := readValue(r.text[r.at:])
		r.at = len(r.text) - len(read.rest)
		return read.json, ok && r.passClosing()
	}
	values := map[string]json.RawMessage{}
	for !r.passClosing() {
		name, raw, ok := readPair(r, taken)
		if !ok || values[name] != nil || !r.passComma() {
			return "", false
		}
		values[name] = raw
	}
	return encodeJSON(values), true
}

// passComma passes a comma; it is false where neither that nor the closing
// parenthesis comes next.
func (r *jsonRepairer) passComma() bool {
	c, ok := r.nextByte()
	if ok && c == ',' {
		r.at++
		return true
	}
	return ok && c == ')'
}

// passClosing passes the closing parenthesis, and reports whether that came
// next.
func (r *jsonRepairer) passClosing() bool {
	c, ok := r.nextByte()
	if !ok || c != ')' {
		return false
	}
	r.at++
	return true
}

var pairName = regexp.MustCompile(`^["']?([\p{L}_][\p{L}\p{N}_.-]*)["']?[ \t]*[:=][ \t]*`)

// readPair reads key=value or, for the only argument, a value alone.
func readPair(r *jsonRepairer, taken arguments) (name string, raw json.RawMessage, ok bool) {
	if match := pairName.FindStringSubmatch(r.text[r.at:]); match != nil {
		name = match[1]
		r.at += len(match[0])
	} else if name = taken.required; name == "" {
		return "", nil, false
	}
	c, ok := r.nextByte()
	if !ok {
		return "", nil, false
	}
	var text string
	switch c {
	case '"', '\'':
		text, ok = r.readQuoted(c)
		return name, json.RawMessage(encodeJSON(text)), ok
	case '{', '[':
		read, ok := readValue(r.text[r.at:])
		r.at = len(r.text) - len(read.rest)
		return name, json.RawMessage(read.json), ok && read.whole
	}
	text, ok = r.readBare(",)\n")
	return name, asType(text, taken.types[name]), ok
}

// asType makes a scalar a text where the schema wants a text.
func asType(scalar, kind string) json.RawMessage {
	if kind == "string" && !strings.HasPrefix(scalar, `"`) && scalar != "null" {
		return json.RawMessage(encodeJSON(scalar))
	}
	return json.RawMessage(scalar)
}

var (
	keyedPair = regexp.MustCompile(`(?:^|[,;\n])[ \t]*(?:-[ \t]+)?["']?([\p{L}_][\p{L}\p{N}_]*)["']?[ \t]*[:=]`)
	// moreLines are the lines that belong to a call because they are set in.
	moreLines = regexp.MustCompile(`^[^\n]*(?:\n[ \t]+[^\n]*)*\n?`)
)

// readKeyed reads the arguments of "name: key: value", on the line and on those
// below that are set in. Every key must be an argument that the tool's schema
// names, so that prose which happens to begin with a tool's name stays prose;
// a tool without a schema therefore has no call of this shape.
func (s *scanner) readKeyed(name string) (string, bool) {
	block := moreLines.FindString(s.text[s.at:])
	if read, ok := readValue(block); ok && read.whole && strings.TrimSpace(read.rest) == "" {
		s.at += len(block)
		return read.json, strings.HasPrefix(read.json, "{")
	}
	taken := s.tools.argumentsFor(name)
	body := strings.TrimSpace(block)
	places := keyedPair.FindAllStringSubmatchIndex(body, -1)
	places = slices.DeleteFunc(places, func(at []int) bool { _, declared := taken.types[body[at[2]:at[3]]]; return !declared })
	if len(places) == 0 || places[0][0] != 0 {
		return "", false
	}
	values := map[string]json.RawMessage{}
	for i, at := range places {
		end := len(body)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		key := body[at[2]:at[3]]
		values[key] = keyedValue(body[at[1]:end], taken.types[key])
	}
	s.at += len(block)
	return encodeJSON(values), true
}

func keyedValue(text, kind string) json.RawMessage {
	text = strings.TrimSpace(text)
	if read, ok := readValue(text); ok && read.whole && strings.TrimSpace(read.rest) == "" {
		return json.RawMessage(read.json)
	}
	for _, quote := range []string{`"`, `'`} {
		if inner, ok := strings.CutPrefix(text, quote); ok && strings.HasSuffix(inner, quote) {
			return json.RawMessage(encodeJSON(strings.TrimSuffix(inner, quote)))
		}
	}
	return asType(scalarJSON(text), kind)
}
