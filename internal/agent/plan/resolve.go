package plan

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
)

// maxObjects bounds how many braces of an answer are tried as the call.
const maxObjects = 8

// Concrete reads a step as a call without asking a model. It does so only
// when nothing is left to guess: a tool of the catalogue, every argument known
// to it and of the right type, all required ones there, no placeholder in angle
// brackets, no other text. The call has no id. It refuses what Resolve refuses.
func Concrete(step Step, allowed Catalogue, past []Past) (call models.ToolCall, ok bool) {
	placeholder := strings.Contains(step.Text, "<") && strings.Contains(step.Text, ">")
	if placeholder || strings.HasSuffix(step.Text, text.Ellipsis) || utf8.RuneCountInString(step.Text) > stepChars {
		return models.ToolCall{}, false
	}
	name, rest := splitHead(step.Text, allowed)
	spec, found := allowed.findSpec(name)
	if !found {
		return models.ToolCall{}, false
	}
	pairs, found := strictPairs(rest)
	if !found {
		return models.ToolCall{}, false
	}
	schema := schemaOf(spec.Schema)
	arguments := map[string]json.RawMessage{}
	for _, one := range pairs {
		property, known := schema.Properties[one.key]
		value, fits := property.fromText(one.value)
		if _, twice := arguments[one.key]; !known || !fits || twice {
			return models.ToolCall{}, false
		}
		arguments[one.key] = value
	}
	return acceptCall(name, arguments, callChecks{allowed, past})
}

// callChecks is what a call is checked against before it may run.
type callChecks struct {
	allowed Catalogue
	past    []Past
}

// Resolve reads the answer to ResolverRequest: {"name": ..., "arguments": {...}},
// with prose or a fence around it where a model adds them. Unknown arguments
// are dropped. ok is false for null, for what is no call, for a tool outside
// the catalogue, for a search of tools or the end of the exchange, for missing
// arguments and for a call that was answered already; then the chat model
// takes the turn. The call has no id.
func Resolve(answer string, allowed Catalogue, past []Past) (call models.ToolCall, ok bool) {
	answer = text.WithoutThinking(answer)
	if strings.HasPrefix(answer, "null") {
		return models.ToolCall{}, false
	}
	written, ok := firstObject(answer)
	if !ok {
		return models.ToolCall{}, false
	}
	spec, found := allowed.findSpec(written.Name)
	given, readable := written.readArguments()
	if !found || !readable {
		return models.ToolCall{}, false
	}
	schema := schemaOf(spec.Schema)
	arguments := map[string]json.RawMessage{}
	for key, value := range given {
		if _, known := schema.Properties[key]; known {
			arguments[key] = value
		}
	}
	return acceptCall(written.Name, arguments, callChecks{allowed, past})
}

// writtenCall is a call as a resolver writes it.
type writtenCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// readArguments reads an object, or a text that holds one; none is an empty one.
func (w writtenCall) readArguments() (map[string]json.RawMessage, bool) {
	raw := w.Arguments
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		raw = json.RawMessage(text)
	}
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]json.RawMessage{}, true
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(raw, &object)
	return object, err == nil && object != nil
}

// firstObject finds the first JSON object of an answer that names a tool.
func firstObject(answer string) (writtenCall, bool) {
	for range maxObjects {
		at := strings.IndexByte(answer, '{')
		if at < 0 {
			break
		}
		answer = answer[at:]
		var written writtenCall
		if json.NewDecoder(strings.NewReader(answer)).Decode(&written) == nil && written.Name != "" {
			return written, true
		}
		answer = answer[1:]
	}
	return writtenCall{}, false
}

// acceptCall makes a call of a tool that may run, and reports whether it may:
// not a search of tools or the end of the exchange, not without a required
// argument, and not a call that was answered already.
func acceptCall(name string, arguments map[string]json.RawMessage, in callChecks) (models.ToolCall, bool) {
	spec, found := in.allowed.findSpec(name)
	if !found || name == in.allowed.Search || name == in.allowed.Stop || !schemaOf(spec.Schema).hasRequired(arguments) {
		return models.ToolCall{}, false
	}
	written := encodeJSON(arguments)
	if written == nil {
		return models.ToolCall{}, false
	}
	call := models.ToolCall{Name: name, Arguments: string(written)}
	if _, repeated := findAnswered(call, in.past); repeated {
		return models.ToolCall{}, false
	}
	return call, true
}
