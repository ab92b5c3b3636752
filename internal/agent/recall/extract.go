package recall

import (
	"fmt"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

const (
	minKeywords  = 3
	maxKeywords  = 5
	maxQuestions = 3
	// keywordChars and questionChars bound what a model may hand to a search.
	keywordChars  = 60
	questionChars = 200
	// dialogueLines and lineChars keep the requests small.
	dialogueLines = 6
	lineChars     = 200
	// minYear and maxYear bound the instants that are believed.
	minYear = 1970
	maxYear = 2199
)

// Ask is what the extractor is asked. Topic is the hint of a plan, empty
// without one; Dialogue holds recent lines, oldest first, each with its
// speaker; Context is the line of the moment.
type Ask struct {
	Query    string
	Topic    string
	Dialogue []string
	Context  string
	Model    string
}

// queryText returns the person's text, with the topic of a plan below it.
func (a Ask) queryText() string {
	if topic := plainLine(a.Topic); topic != "" {
		return a.Query + "\nTopic: " + topic
	}
	return a.Query
}

// Key names the extractor's answer in the cache: redacted query and topic.
func (a Ask) Key() string { return a.Query + "\x00" + a.Topic }

// ExtractRequest asks what to look up. It has one system message and the
// person's text as the only user message. It fails only when the prompt cannot
// be rendered; then search by similarity alone.
func ExtractRequest(lib *prompts.Library, ask Ask) (models.ChatRequest, error) {
	data := prompts.StageData{Query: ask.queryText(), Dialogue: lastLines(ask.Dialogue), Context: plainLine(ask.Context)}
	text, err := lib.Render(prompts.Extractor, data)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering extractor request: %w", err)
	}
	return newRequest(ask.Model, text, ask.queryText()), nil
}

// newRequest makes a request of one system message and one user message.
func newRequest(model, system, user string) models.ChatRequest {
	return models.ChatRequest{Model: model, Messages: []models.ChatMessage{
		{Role: "system", Content: system},
		{Role: "user", Content: user},
	}}
}

// lastLines returns the last lines of a dialogue, each cut and on one line.
func lastLines(dialogue []string) []string {
	var out []string
	for _, line := range dialogue[max(0, len(dialogue)-dialogueLines):] {
		out = append(out, text.TruncateWithin(plainLine(line), lineChars))
	}
	return out
}

// Extract is what to look up. From and To are UTC and in order; either may be
// nil.
type Extract struct {
	Keywords  []string
	From, To  *time.Time
	Questions []string
}

// ParseExtract reads the answer to ExtractRequest: three to five
// keywords, filled up from the query where the model gave fewer, at most three
// questions, and instants that can be read; two in the wrong order are
// swapped. A day as the end means all of it. ok is false, and the result
// empty, when the answer holds no JSON object; ask once more, then go on with
// the empty one.
func ParseExtract(answer string, ask Ask) (found Extract, ok bool) {
	var raw struct {
		Keywords  any `json:"keywords"`
		From      any `json:"from"`
		To        any `json:"to"`
		Questions any `json:"questions"`
	}
	if !text.FirstObject(answer, &raw) {
		return Extract{}, false
	}
	found.Keywords = readTexts(raw.Keywords, maxKeywords, keywordChars)
	for _, word := range Words(ask.queryText()) {
		if len(found.Keywords) >= minKeywords {
			break
		}
		found.Keywords = appendNew(found.Keywords, word)
	}
	found.Questions = readTexts(raw.Questions, maxQuestions, questionChars)
	found.From, found.To = readSpan(raw.From, raw.To)
	return found, true
}

// readTexts reads a list of texts, or one text divided by commas, without
// repetitions.
func readTexts(raw any, most, chars int) []string {
	list, _ := raw.([]any)
	if text, isText := raw.(string); isText {
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, part)
		}
	}
	var out []string
	for _, item := range list {
		body, isText := item.(string)
		if body = text.TruncateWithin(plainLine(body), chars); !isText || body == "" || len(out) == most {
			continue
		}
		out = appendNew(out, body)
	}
	return out
}

func appendNew(list []string, text string) []string {
	for _, known := range list {
		if strings.EqualFold(known, text) {
			return list
		}
	}
	return append(list, text)
}

// parsedInstant is an instant that a model wrote; wholeDay when it named none of its
// hours.
type parsedInstant struct {
	at       time.Time
	wholeDay bool
}

// readSpan reads both ends of a time span and puts them in order; an end that
// cannot be read is nil.
func readSpan(rawFrom, rawTo any) (from, to *time.Time) {
	first, hasFirst := readInstant(rawFrom)
	last, hasLast := readInstant(rawTo)
	if hasFirst && hasLast && last.at.Before(first.at) {
		first, last = last, first
	}
	if hasLast && last.wholeDay {
		last.at = last.at.AddDate(0, 0, 1).Add(-time.Nanosecond)
	}
	if hasFirst {
		from = &first.at
	}
	if hasLast {
		to = &last.at
	}
	return from, to
}

// readInstant reads an instant that a model wrote in one of the usual forms,
// and reports whether it could.
func readInstant(raw any) (parsedInstant, bool) {
	text, _ := raw.(string)
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		at, err := time.Parse(layout, text)
		if err == nil && at.Year() >= minYear && at.Year() <= maxYear {
			return parsedInstant{at: at.UTC(), wholeDay: layout == time.DateOnly}, true
		}
	}
	return parsedInstant{}, false
}
