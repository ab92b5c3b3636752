package plan

import (
	"slices"
	"strings"
	"unicode"

	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/prompts"
)

// routeDescriptionChars bounds a tool's line in the request.
const routeDescriptionChars = 120

// RouterInput is what a model is asked to route. Dialogue holds recent lines,
// oldest first, each with its speaker; Context is the line of the moment. All
// texts are redacted.
type RouterInput struct {
	RouteInput
	Dialogue []string
	Context  string
	Model    string
}

// RouterRequest asks a model for at most five tool names. It has one system
// message and the person's text as the only user message. It fails only when
// the prompt cannot be rendered; then select without an answer.
func RouterRequest(lib *prompts.Library, ask RouterInput) (models.ChatRequest, error) {
	data := prompts.StageData{Query: ask.Query, Dialogue: ask.Dialogue, Context: ask.Context, Limit: maxPicks}
	for _, tool := range ask.Tools {
		data.Tools = append(data.Tools, prompts.ToolLine{Name: tool.Name, Description: shortDescription(tool.Description)})
	}
	text, err := lib.Render(prompts.Router, data)
	return models.ChatRequest{Model: ask.Model, Messages: []models.ChatMessage{
		{Role: "system", Content: text},
		{Role: "user", Content: ask.Query},
	}}, wrap.Error(err, "rendering router request")
}

// shortDescription returns a tool's description on one line, cut at
// routeDescriptionChars.
func shortDescription(description string) string {
	return text.Truncate(text.OneLine(description), routeDescriptionChars)
}

// PickTools reads the answer to RouterRequest: the known names in it, at most
// five, in the order of the catalogue. "none" is a good answer that picks
// nothing. ok is false when the answer is neither, so that another strategy
// decides.
func PickTools(answer string, tools []models.ToolSpec) (names []string, ok bool) {
	words := strings.FieldsFunc(text.WithoutThinking(answer), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`“”‘’«»,;()[]{}<>*|", r)
	})
	picked := map[string]bool{}
	none := false
	for _, word := range words {
		word = strings.Trim(word, ".:!-•")
		none = none || strings.EqualFold(word, "none")
		at := slices.IndexFunc(tools, func(tool models.ToolSpec) bool { return strings.EqualFold(tool.Name, word) })
		if at >= 0 && len(picked) < maxPicks {
			picked[tools[at].Name] = true
		}
	}
	return inOrder(tools, picked), len(picked) > 0 || none
}
