package openai

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// The answers in this file are to the requests that a reply makes besides the
// conversation itself. All but the memory step get the same answer each time: one
// that leaves the reply as it would be without the stage.

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
	stageClosing      stageName = "closing"
	stageFocus        stageName = "focus"
	stageLook         stageName = "second look"
	stageAdvice       stageName = "advice"
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
	stageClosing:      "A conversation between a person and their coach has come to rest",
	stageFocus:        "Choose the coaching focus that fits",
	stageLook:         "Look once more at a text message",
	stageAdvice:       "Judge a text before an automated habit coach sends it",
}

// stageOf tells the kind of a request by its system message.
func stageOf(system string) stageName {
	for _, name := range []stageName{
		stageRouter, stagePlanner, stageResolver, stageExtractor, stageMemoryDigest, stageToolDigest, stageMessages, stageLimitDigest, stageMemoryStep, stageClosing, stageFocus, stageLook, stageAdvice,
	} {
		if strings.HasPrefix(strings.TrimSpace(system), openings[name]) {
			return name
		}
	}
	return stageNone
}

// stageAsk is a request of a stage: the texts of its two messages.
type stageAsk struct{ System, User string }

const (
	// undecided is no answer that the router or the focus stage can read, so that
	// every tool is offered and the focus stays.
	undecided = "I cannot say."
	nothing   = "NONE"
	// digestChars is the limit where the request names none.
	digestChars = 500
)

// answers are what the script says to a kind.
var answers = map[stageName]func(stageAsk) string{
	stageRouter:       always(undecided),
	stagePlanner:      always("Reply to the user."),
	stageResolver:     always("null"),
	stageExtractor:    always(`{"keywords":[],"from":null,"to":null,"questions":[]}`),
	stageMemoryDigest: func(a stageAsk) string { return a.digest("Notes") },
	stageToolDigest:   func(a stageAsk) string { return a.digest("Result") },
	stageMessages:     func(a stageAsk) string { return a.digest("Messages") },
	stageLimitDigest:  always("This may be incomplete. I could not finish looking into this."),
	stageMemoryStep:   stageAsk.remember,
	stageClosing:      stageAsk.close,
	stageFocus:        stageAsk.chooseFocus,
	stageLook:         stageAsk.lookAgain,
	stageAdvice:       always(fineAdvice),
}

// fineAdvice lets a draft go as it is.
const fineAdvice = `{"verdict":"fine","kind":"other","text":""}`

// AnswerAdvice returns the answer that lets a draft go, for stand-ins with answers of
// their own; ok is false for a request that judges none.
func AnswerAdvice(body []byte) (answer Answer, ok bool) {
	return Answer{Text: fineAdvice, Prompt: string(body)}, bytes.Contains(body, []byte(openings[stageAdvice]))
}

func always(text string) func(stageAsk) string { return func(stageAsk) string { return text } }

// answerStage is what the script says; false for a request that is none of a stage.
func answerStage(ask stageAsk) (text string, ok bool) {
	answer, ok := answers[stageOf(ask.System)]
	if !ok {
		return "", false
	}
	return answer(ask), true
}

var setbacks = regexp.MustCompile(`(?i)\b(slipped|missed|skipped|gave up|giving up|guilty|failed)\b`)

// chooseFocus knows one of the shipped focuses by words.
func (a stageAsk) chooseFocus() string {
	if setbacks.MatchString(a.User) && strings.Contains(a.System, "- setback: ") {
		return "setback"
	}
	return undecided
}

// digest is the material itself, as far as it fits.
func (a stageAsk) digest(title string) string {
	if text := clipLines(a.under(title), a.limit(digestChars)); text != "" {
		return text
	}
	return nothing
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

// grave are parts of words at which the script takes a message for a danger; it knows no
// idioms.
var grave = regexp.MustCompile(`(?i)\b(die|dead|suicid|kill|worthless|hopeless|no reason|give up|end it|hurt my|sterb|tot\b|umbring|sinnlos|morir|muerto|matar|inútil|inutil|mourir|mort|tuer|inutile|morrer|morto|matar|inútil)`)

// lookAgain judges a message with a weak sign of danger by its words.
func (a stageAsk) lookAgain() string {
	if grave.MatchString(a.User) {
		return `{"danger":"possible","about":"self","kind":"other","reason":"the script found a word of danger"}`
	}
	return `{"danger":"none","about":"general","kind":"other","reason":"the script found no word of danger"}`
}
