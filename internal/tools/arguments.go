package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"coachline/models"
)

// Arguments are the decoded arguments of one call.
type Arguments map[string]any

// Text returns a string argument; empty when it is absent.
func (a Arguments) Text(name string) string {
	s, _ := a[name].(string)
	return s
}

// argumentsField names the arguments as a whole in errors.
const argumentsField = "arguments"

// maxReported bounds how many faults one error lists.
const maxReported = 3

func compileSchema(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // A schema names no file and no address.
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource(name+".json", doc); err != nil {
		return nil, err
	}
	return compiler.Compile(name + ".json")
}

// parseArguments decodes, tidies and checks the arguments of a call. Every error is a
// *models.FieldError written for the model.
func (t *Tool) parseArguments(raw string) (Arguments, error) {
	args, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	t.Tidy(args)
	if err := t.compiled.Validate(map[string]any(args)); err != nil {
		return nil, t.explainError(err)
	}
	return args, nil
}

// decodeObject reads one JSON object. Models also send an object wrapped in a
// string, which is unwrapped once, and nothing at all for no arguments.
// Numbers become float64, so one too large for that is refused here.
func decodeObject(raw string) (Arguments, error) {
	if strings.TrimSpace(raw) == "" {
		return Arguments{}, nil
	}
	var value any
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		return nil, models.BadField(argumentsField, "must be one valid JSON object; this could not be read")
	}
	if inner, ok := value.(string); ok {
		if err := json.Unmarshal([]byte(inner), &value); err != nil {
			return nil, models.BadField(argumentsField, "must be one JSON object, not text")
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, models.BadField(argumentsField, "must be one JSON object with named fields")
	}
	return object, nil
}

// dropEmpty removes arguments that models send to say "not given": null and
// the empty string.
func dropEmpty(args Arguments) {
	for name, value := range args {
		if value == nil || value == "" {
			delete(args, name)
		}
	}
}

// tidyTexts is dropEmpty after texts were cleaned.
func tidyTexts(args Arguments) {
	for name, value := range args {
		if text, isText := value.(string); isText {
			args[name] = cleanText(text)
		}
	}
	dropEmpty(args)
}

// cleanText trims a text and removes control characters, which mean nothing in a
// fact about a person.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// fault is one thing wrong with the arguments.
type fault struct{ field, message string }

// explainError turns a schema error into a text for the model: which field,
// what is wrong, what is allowed.
func (t *Tool) explainError(err error) error {
	invalid := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return models.BadField(argumentsField, "could not be checked")
	}
	faults := t.findFaults(invalid)
	slices.SortFunc(faults, func(a, b fault) int {
		return strings.Compare(a.field+a.message, b.field+b.message)
	})
	faults = slices.Compact(faults)
	if len(faults) > maxReported {
		faults = faults[:maxReported]
	}
	message := faults[0].message
	for _, more := range faults[1:] {
		message += "; " + more.field + ": " + more.message
	}
	return models.BadField(faults[0].field, "%s", message)
}

func (t *Tool) findFaults(e *jsonschema.ValidationError) []fault {
	var all []fault
	for _, cause := range e.Causes {
		all = append(all, t.findFaults(cause)...)
	}
	if len(e.Causes) > 0 {
		return all
	}
	field := argumentsField
	if len(e.InstanceLocation) > 0 {
		field = e.InstanceLocation[0]
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			all = append(all, fault{name, "is required" + t.listChoices(name)})
		}
		return all
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			all = append(all, fault{shortName(name), "is not an argument of " + t.Name + "; " + t.allowedFields()})
		}
		return all
	default:
		return []fault{{field, describeFault(e.ErrorKind)}}
	}
}

func describeFault(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + typeWords(k.Want)
	case *kind.Enum:
		return "must be one of " + joinValues(k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("is too long (%d characters); at most %d are allowed", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has too many values; at most %d are allowed", k.Want)
	case *kind.Pattern:
		// The only pattern of any tool is the one for a time of day.
		return "must be a time as HH:MM on the 24-hour clock, for example 08:00 or 19:30"
	case *kind.Minimum:
		return "must be " + k.Want.FloatString(0) + " or more"
	case *kind.Maximum:
		return "must be " + k.Want.FloatString(0) + " or less"
	default:
		return "is not valid"
	}
}

func typeWords(types []string) string {
	words := map[string]string{
		"string": "text", "number": "a number", "array": "a list", "object": "an object",
		"boolean": "true or false", "integer": "a whole number",
	}
	var out []string
	for _, t := range types {
		if t != "null" {
			out = append(out, words[t])
		}
	}
	if slices.Contains(types, "null") {
		out = append(out, "null")
	}
	return strings.Join(out, " or ")
}

// listChoices names the allowed values of an argument that has few.
func (t *Tool) listChoices(name string) string {
	values := allowedValues(t.compiled.Properties[name])
	if len(values) == 0 {
		return ""
	}
	return "; use one of " + strings.Join(values, ", ")
}

func allowedValues(schema *jsonschema.Schema) []string {
	if schema == nil || schema.Enum == nil {
		return nil
	}
	var values []string
	for _, value := range schema.Enum.Values {
		values = append(values, fmt.Sprint(value))
	}
	return values
}

func joinValues(values []any) string {
	var out []string
	for _, value := range values {
		out = append(out, fmt.Sprint(value))
	}
	return strings.Join(out, ", ")
}

func (t *Tool) fieldNames() []string {
	var names []string
	for name := range t.compiled.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t *Tool) allowedFields() string {
	if names := t.fieldNames(); len(names) > 0 {
		return "allowed are " + strings.Join(names, ", ")
	}
	return "it takes none"
}

// shortName bounds a name that the model made up, so that an error stays short.
func shortName(name string) string {
	const most = 40
	runes := []rune(cleanText(name))
	if len(runes) == 0 {
		return "(no name)"
	}
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most]) + "..."
}
