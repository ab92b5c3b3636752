// Package stage answers, by fixed rules, the requests that a reply makes
// besides the conversation itself: which tools, which steps, what to look up,
// what to remember, what a text comes to. It goes by words and understands
// nothing; every answer has the form that the request asks for.
package stage

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"coachline/internal/sim/script/gist"
)

// Name is a kind of request; None is a conversation.
type Name string

const (
	None         Name = ""
	Router       Name = "router"
	Planner      Name = "planner"
	Resolver     Name = "resolver"
	Extractor    Name = "extractor"
	MemoryDigest Name = "memory digest"
	ToolDigest   Name = "tool digest"
	Messages     Name = "messages digest"
	LimitDigest  Name = "limit digest"
	MemoryStep   Name = "memory step"
	Summary      Name = "summary"
	DailyNote    Name = "daily note"
	Focus        Name = "focus"
)

// openings are how the system messages of a kind begin.
var openings = map[Name]string{
	Router:       "Choose which tools could help",
	Planner:      "Break the person's message into",
	Resolver:     "Turn the step in the next message into one tool call",
	Extractor:    "Find what to look up in the notes kept about a person",
	MemoryDigest: "Below are notes about a person",
	ToolDigest:   "Below is what a tool returned",
	Messages:     "Below are messages that one person sent",
	LimitDigest:  "Work on the message below was stopped",
	MemoryStep:   "Decide whether the person's newest message holds something worth remembering",
	Summary:      "Summarise the conversation below",
	DailyNote:    "Write the note of one day",
	Focus:        "Choose the coaching focus that fits",
}

// Of tells the kind of a request by its system message.
func Of(system string) Name {
	for _, name := range []Name{
		Router, Planner, Resolver, Extractor, MemoryDigest, ToolDigest, Messages, LimitDigest, MemoryStep, Summary, DailyNote, Focus,
	} {
		if strings.HasPrefix(strings.TrimSpace(system), openings[name]) {
			return name
		}
	}
	return None
}

// Call is a tool call that the script would make. Without Args it is only
// known that the tool may be needed.
type Call struct {
	Name string
	Args map[string]any
}

// Ask is a request.
type Ask struct {
	// System and User are the texts of its two messages.
	System, User string
	// Intend lists the calls that the coach would make, given what it wrote
	// last (empty when that is not known) and what the person answers.
	Intend func(asked, said string) []Call
}

// answers are what the script says to a kind.
var answers = map[Name]func(Ask) string{
	Router:       Ask.route,
	Planner:      Ask.plan,
	Resolver:     Ask.resolve,
	Extractor:    Ask.extract,
	MemoryDigest: func(a Ask) string { return a.digest("Notes") },
	ToolDigest:   func(a Ask) string { return a.digest("Result") },
	Messages:     Ask.messages,
	LimitDigest:  Ask.summariseStopped,
	MemoryStep:   Ask.remember,
	Summary:      Ask.summarise,
	DailyNote:    Ask.note,
	Focus:        Ask.focus,
}

// Answer is what the script says; false for a request that is none of a stage.
func Answer(ask Ask) (text string, ok bool) {
	answer, ok := answers[Of(ask.System)]
	if !ok {
		return "", false
	}
	return answer(ask), true
}

var atMost = regexp.MustCompile(`at most (\d+) `)

// limit is the first bound that the system message names.
func (a Ask) limit(otherwise int) int {
	if found := atMost.FindStringSubmatch(a.System); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n > 0 {
			return n
		}
	}
	return otherwise
}

// under is the text below a title line, to the end of the system message.
func (a Ask) under(title string) string {
	_, text, _ := strings.Cut(a.System, "\n"+title+":\n")
	return strings.TrimSpace(text)
}

// items are the list lines right below a title.
func (a Ask) items(title string) []string {
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

func (a Ask) tools() []tool {
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
func (a Ask) lastCoachText() string {
	last := ""
	for line := range strings.Lines(a.under("Said before")) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), "coach: "); found {
			last = text
		}
	}
	return last
}

func encode(value any) string {
	raw, _ := json.Marshal(value) // Texts, numbers and maps of them always encode.
	return string(raw)
}

var (
	questionWord = regexp.MustCompile(`(?i)^(?:and |so |but )?(?:what|whats|what's|when|where|who|whom|whose|which|why|how|do|does|did|am|is|are|was|were|can|could|will|would|should|have|has)\b`)
	aboutEarlier = regexp.MustCompile(`(?i)\bwhat (?:did|have) i (?:say|said|tell|told|mention)|\bdid i (?:say|tell|mention)|\bi (?:told|mentioned|said)\b|\bremember\b|\bknow about me\b|\blast (?:time|week|month)\b|\bwho am i\b`)
	ofTheirs     = regexp.MustCompile(`(?i)\bmy \pL+|\b(?:do|did|am|was|have|should|can) i\b`)
)

// IsQuestion reports whether a text asks something.
func IsQuestion(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "?") || questionWord.MatchString(text)
}

// AsksEarlier reports whether a text asks, in so many words, for what was said
// before.
func AsksEarlier(text string) bool { return aboutEarlier.MatchString(text) }

// topic is what a text is about, in at most n words.
func topic(text string, n int) string {
	words := gist.Words(text)
	return strings.Join(words[:min(len(words), n)], " ")
}
