package recall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// Sizes in characters.
const (
	// rawBelow is the length from which on a digest is worth a model call.
	rawBelow = 400
	// memoryBatch and toolBatch are the most that one call reads; memoryAnswer
	// and toolAnswer the most that it may answer.
	memoryBatch  = 2000
	memoryAnswer = 500
	toolBatch    = 2500
	toolAnswer   = 600
	// memoryRaw is what is kept of a block whose digest failed.
	memoryRaw = 1500
)

// IsDigestEnabled reports whether a digest runs: a nil setting means that it
// does for small models.
func IsDigestEnabled(setting *bool, size models.ModelSize) bool {
	if setting != nil {
		return *setting
	}
	switch size {
	case models.SizeSmall:
		return true
	case models.SizeLarge:
	}
	return false
}

// DigestPlan says what a digest asks. Without Batches there is nothing to ask and
// Raw is the result.
type DigestPlan struct {
	// Raw is the material as it was.
	Raw string
	// Batches are the materials of one call each, in order.
	Batches []string

	fence Fence
}

// DigestAnswer is what the model said to one batch. Failed: it gave no answer in
// time, or none at all.
type DigestAnswer struct {
	Text   string
	Failed bool
}

// Digest is what a digest came to. Decision is a short code with the lengths
// before and after; it holds no personal data.
type Digest struct {
	Text     string
	Decision string
}

// answerText returns an answer without its thinking.
func answerText(answer string) string {
	return text.WithoutThinking(strings.ToValidUTF8(answer, ""))
}

// isNone reports whether an answer says that nothing is relevant.
func isNone(answer string) bool {
	switch strings.ToUpper(strings.TrimSuffix(strings.Trim(strings.TrimSpace(answer), "\"'*`"), ".")) {
	case "NONE", "(NONE)", "[NONE]", "N/A", "NIL":
		return true
	}
	return false
}

// readAnswers divides the answers to a plan's batches. An answer that is
// missing or blank has failed.
func readAnswers(batches []string, answers []DigestAnswer, limit int) (texts []string, failed []bool) {
	texts, failed = make([]string, len(batches)), make([]bool, len(batches))
	for i := range batches {
		var body string
		if i < len(answers) && !answers[i].Failed {
			body = answerText(answers[i].Text)
		}
		failed[i] = body == ""
		if !isNone(body) {
			texts[i] = text.Truncate(body, limit)
		}
	}
	return texts, failed
}

func countChars(text string) int { return utf8.RuneCountInString(text) }

// EstimateTokens estimates the length of a text: 2.5 characters a token,
// rounded up.
func EstimateTokens(text string) int { return (countChars(text)*2 + 4) / 5 }

// joinParts joins parts to batches of at most limit characters; a longer part is
// a batch of its own.
func joinParts(parts []string, separator string, limit int) []string {
	var batches []string
	var size int // of the newest batch
	for _, part := range parts {
		joined := size + countChars(separator) + countChars(part)
		if newest := len(batches) - 1; newest >= 0 && joined <= limit {
			batches[newest] += separator + part
			size = joined
			continue
		}
		batches = append(batches, part)
		size = countChars(part)
	}
	return batches
}

// DigestInput is what a digest is asked.
type DigestInput struct {
	// Query is the person's text.
	Query string
	// Batch is one of a plan's batches.
	Batch string
	Model string
}

func (a DigestInput) renderBatch(lib *prompts.Library, name prompts.Name, limit int) (models.ChatRequest, error) {
	return renderRequest(lib, name, prompts.StageData{Query: a.Query, Material: a.Batch, Limit: limit}, a.Model)
}

// renderRequest makes a request of one system message and one user message, since
// strict chat templates refuse a request without the latter.
func renderRequest(lib *prompts.Library, name prompts.Name, data prompts.StageData, model string) (models.ChatRequest, error) {
	text, err := lib.Render(name, data)
	if err != nil {
		return models.ChatRequest{}, err
	}
	user := data.Query
	if strings.TrimSpace(user) == "" {
		user = "Go ahead."
	}
	return models.ChatRequest{Model: model, Messages: []models.ChatMessage{
		{Role: "system", Content: text},
		{Role: "user", Content: user},
	}}, nil
}

// dropBlank returns the parts that are not blank.
func dropBlank(parts []string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return strings.TrimSpace(part) == "" })
}
