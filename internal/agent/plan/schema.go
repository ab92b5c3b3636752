package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

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
