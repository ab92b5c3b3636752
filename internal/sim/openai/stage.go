// Package stage answers, by fixed rules, the requests that a reply makes
// besides the conversation itself: which tools, which steps, what to look up,
// what to remember, what a text comes to. It goes by words and understands
// nothing; every answer has the form that the request asks for.
package openai

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// stageName is a kind of request; stageNone is a conversation.
type stageName string

const (
	stageNone         stageName = ""
	stageRouter       stageName = "router"
	stagePlanner      stageName = "planner"
	stageResolver     stageName = "resolver"
	stageExtractor    stageName = "extractor"
	stageMemoryDigest stageName = "memory digest"
	stageToolDigest   stageName = "tool digest"
	stageMessages     stageName = "messages digest"
	stageLimitDigest  stageName = "limit digest"
	stageMemoryStep   stageName = "memory step"
	stageSummary      stageName = "summary"
	stageDailyNote    stageName = "daily note"
	stageFocus        stageName = "focus"
)

// openings are how the system messages of a kind begin.
var openings = map[stageName]string{
	stageRouter:       "Choose which tools could help",
	stagePlanner:      "Break the person's message into",
	stageResolver:     "Turn the step in the next message into one tool call",
	stageExtractor:    "Find what to look up in the notes kept about a person",
	stageMemoryDigest: "Below are notes about a person",
	stageToolDigest:   "Below is what a tool returned",
	stageMessages:     "Below are messages that one person sent",
	stageLimitDigest:  "Work on the message below was stopped",
	stageMemoryStep:   "Decide whether the person's newest message holds something worth remembering",
	stageSummary:      "Summarise the conversation below",
	stageDailyNote:    "Write the note of one day",
	stageFocus:        "Choose the coaching focus that fits",
}

// stageOf tells the kind of a request by its system message.
func stageOf(system string) stageName {
	for _, name := range []stageName{
		stageRouter, stagePlanner, stageResolver, stageExtractor, stageMemoryDigest, stageToolDigest, stageMessages, stageLimitDigest, stageMemoryStep, stageSummary, stageDailyNote, stageFocus,
	} {
		if strings.HasPrefix(strings.TrimSpace(system), openings[name]) {
			return name
		}
	}
	return stageNone
}

// stageCall is a tool call that the script would make. Without Args it is only
// known that the tool may be needed.
type stageCall struct {
	Name string
	Args map[string]any
}

// stageAsk is a request.
type stageAsk struct {
	// System and User are the texts of its two messages.
	System, User string
	// Intend lists the calls that the coach would make, given what it wrote
	// last (empty when that is not known) and what the person answers.
	Intend func(asked, said string) []stageCall
}

// answers are what the script says to a kind.
var answers = map[stageName]func(stageAsk) string{
	stageRouter:       stageAsk.route,
	stagePlanner:      stageAsk.plan,
	stageResolver:     stageAsk.resolve,
	stageExtractor:    stageAsk.extract,
	stageMemoryDigest: func(a stageAsk) string { return a.digest("Notes") },
	stageToolDigest:   func(a stageAsk) string { return a.digest("Result") },
	stageMessages:     stageAsk.messages,
	stageLimitDigest:  stageAsk.summariseStopped,
	stageMemoryStep:   stageAsk.remember,
	stageSummary:      stageAsk.summarise,
	stageDailyNote:    stageAsk.note,
	stageFocus:        stageAsk.focus,
}

// answerStage is what the script says; false for a request that is none of a stage.
func answerStage(ask stageAsk) (text string, ok bool) {
	answer, ok := answers[stageOf(ask.System)]
	if !ok {
		return "", false
	}
	return answer(ask), true
}

var atMost = regexp.MustCompile(`at most (\d+) `)

// limit is the first bound that the system message names.
func (a stageAsk) limit(otherwise int) int {
	if found := atMost.FindStringSubmatch(a.System); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n > 0 {
			return n
		}
	}
	return otherwise
}

// under is the text below a title line, to the end of the system message.
func (a stageAsk) under(title string) string {
	_, text, _ := strings.Cut(a.System, "\n"+title+":\n")
	return strings.TrimSpace(text)
}

// items are the list lines right below a title.
func (a stageAsk) items(title string) []string {
	var out []string
	_, text, _ := strings.Cut(a.System, "\n"+title+":\n")
	for line := range strings.Lines(text) {
		item, found := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !found {
			break
		}
		out = append(out, item)
	}
	return out
}

// tool is one that a request lists; properties are the types of its arguments,
// empty where the request shows no schema.
type tool struct {
	name, description string
	properties        map[string]property
}

type property struct {
	Type json.RawMessage `json:"type"`
}

func (a stageAsk) tools() []tool {
	var out []tool
	for _, item := range a.items("Tools") {
		name, description, found := strings.Cut(item, ": ")
		if !found {
			continue
		}
		one := tool{name: name, description: description}
		// The schema is the JSON that reaches to the end of the line.
		for at := range description {
			var schema struct {
				Properties map[string]property `json:"properties"`
			}
			if description[at] == '{' && json.Unmarshal([]byte(description[at:]), &schema) == nil {
				one.description, one.properties = strings.TrimSpace(description[:at]), schema.Properties
				break
			}
		}
		out = append(out, one)
	}
	return out
}

// lastCoachText is what the coach wrote last, as far as the request shows it.
func (a stageAsk) lastCoachText() string {
	last := ""
	for line := range strings.Lines(a.under("Said before")) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), "coach: "); found {
			last = text
		}
	}
	return last
}

var (
	questionWord = regexp.MustCompile(`(?i)^(?:and |so |but )?(?:what|whats|what's|when|where|who|whom|whose|which|why|how|do|does|did|am|is|are|was|were|can|could|will|would|should|have|has)\b`)
	aboutEarlier = regexp.MustCompile(`(?i)\bwhat (?:did|have) i (?:say|said|tell|told|mention)|\bdid i (?:say|tell|mention)|\bi (?:told|mentioned|said)\b|\bremember\b|\bknow about me\b|\blast (?:time|week|month)\b|\bwho am i\b`)
	ofTheirs     = regexp.MustCompile(`(?i)\bmy \pL+|\b(?:do|did|am|was|have|should|can) i\b`)
)

// isQuestion reports whether a text asks something.
func isQuestion(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "?") || questionWord.MatchString(text)
}

// asksEarlier reports whether a text asks, in so many words, for what was said
// before.
func asksEarlier(text string) bool { return aboutEarlier.MatchString(text) }

// topic is what a text is about, in at most n words.
func topic(text string, n int) string {
	words := keywords(text)
	return strings.Join(words[:min(len(words), n)], " ")
}
