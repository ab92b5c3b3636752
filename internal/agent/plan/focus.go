package plan

import (
	"slices"
	"strings"
	"unicode"

	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/prompts"
	"coachline/prompts/pages"
)

// FocusInput is what a model is asked. Dialogue holds recent lines, oldest
// first, each with its speaker; Context is the line of the moment. All texts
// are redacted. Previous is the focus of this conversation so far, empty where
// there is none.
type FocusInput struct {
	Query    string
	Dialogue []string
	Context  string
	Focuses  []pages.Page
	Previous string
	Model    string
}

// FocusRequest asks a model for the name of one focus. It has one system
// message and the person's text as the only user message. It fails only when
// the prompt cannot be rendered; then go on with FocusFallback.
func FocusRequest(lib *prompts.Library, ask FocusInput) (models.ChatRequest, error) {
	text, err := lib.Render(prompts.FocusChoice, prompts.StageData{
		Query: ask.Query, Dialogue: ask.Dialogue, Context: ask.Context, Earlier: ask.Previous, Tools: prompts.PageLines(ask.Focuses),
	})
	return models.ChatRequest{Model: ask.Model, Messages: []models.ChatMessage{
		{Role: "system", Content: text},
		{Role: "user", Content: ask.Query},
	}}, wrap.Error(err, "rendering focus request")
}

// PickFocus reads the answer to FocusRequest: the one name in it. ok is false
// when it holds none of the names, or several.
func PickFocus(answer string, focuses []pages.Page) (name string, ok bool) {
	words := strings.FieldsFunc(text.WithoutThinking(answer), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
	for _, word := range words {
		word = strings.ToLower(strings.Trim(word, "-_"))
		known := slices.ContainsFunc(focuses, func(page pages.Page) bool { return page.Name == word })
		if known && ok && word != name {
			return "", false
		}
		if known {
			name, ok = word, true
		}
	}
	return name, ok
}

// FocusFallback returns the focus where nothing was chosen: the previous one of
// this conversation, else the first by the name of its file. how says which.
// focuses must not be empty; a previous one that does not exist any more counts
// for none.
func FocusFallback(previous string, focuses []pages.Page) (name, how string) {
	if slices.ContainsFunc(focuses, func(page pages.Page) bool { return page.Name == previous }) {
		return previous, "previous"
	}
	return focuses[0].Name, "first"
}

// NarrowToFocus keeps the tools that go with a focus, in their order. The zero
// page keeps all.
func NarrowToFocus(specs []models.ToolSpec, focus pages.Page) []models.ToolSpec {
	return slices.DeleteFunc(slices.Clone(specs), func(spec models.ToolSpec) bool { return !focus.Permits(spec.Name) })
}
