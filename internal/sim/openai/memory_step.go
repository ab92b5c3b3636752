package openai

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// statement is what the script takes for something lasting: what a person has. Any other
// text leaves the facts as they are, which is what a reply does without the step.
var (
	statement = regexp.MustCompile(`(?i)\bi(?: have|'ve got| have got) (?:an?|one|two|three|four|five|\d+|no) [^.!?;,\n]{1,160}`)
	passing   = regexp.MustCompile(`(?i) (?:question|minute|moment|problem|meeting|idea|second|call|time)\b`)
	fact      = regexp.MustCompile(`^\S+ \(\w+, [^)]*\): (.*)$`)
)

// remember decides by the first sentence of the text that says something lasting.
func (a stageAsk) remember() string {
	if _, notes, _ := strings.Cut(a.System, "\nMessage: "+strings.TrimSpace(a.User)); strings.Contains(notes, "Saving something new is not allowed here.") {
		return none
	}
	return encode(a.decide(a.User))
}

// close decides in the same way for each message of a conversation that rests.
func (a stageAsk) close() string {
	out := map[string]any{"note": ""}
	if strings.Contains(a.System, "\nSummary so far:\n") {
		out["summary"] = "They talked about the habit."
	}
	if strings.Contains(a.System, "\nKnown facts:\n") {
		facts := []map[string]string{}
		for line := range strings.Lines(a.under("What is new")) {
			said, theirs := strings.CutPrefix(strings.TrimSpace(line), "person: ")
			if fact := a.decide(said); theirs && fact["action"] != "none" {
				facts = append(facts, fact)
			}
		}
		out["facts"] = facts
	}
	return encode(out)
}

// decide says what one text adds to the known facts.
func (a stageAsk) decide(text string) map[string]string {
	for _, sentence := range sentences(straight(text)) {
		words := statement.FindString(sentence)
		if words == "" || isQuestion(sentence) || passing.MatchString(words) {
			continue
		}
		said := asSentence(aboutThem(words))
		isKnown := func(item string) bool {
			part := fact.FindStringSubmatch(item)
			return part != nil && sameWords(part[1], said)
		}
		if !slices.ContainsFunc(a.items("Known facts"), isKnown) {
			return map[string]string{"action": "save", "kind": "identity", "text": said}
		}
	}
	return map[string]string{"action": "none"}
}

const none = `{"action":"none"}`

func straight(text string) string { return strings.ReplaceAll(text, "\u2019", "'") }

func asSentence(text string) string {
	text = strings.Join(strings.Fields(strings.TrimRight(text, " .!,;:")), " ")
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// aboutThem turns what a person says of themselves into words about them: the
// verbs of "I" and "they" are the same but for two.
func aboutThem(said string) string { return turnPronouns(said, "they", "their", "them") }

// aboutYou turns words about a person into words to them.
func aboutYou(text string) string {
	return turnPronouns(text, "you", "your", "you")
}

var pronoun = regexp.MustCompile(`(?i)\b(?:i'm|i am|i was|i've|i|they|my|their|me|them|myself|themselves|mine|theirs)\b`)

func turnPronouns(text, subject, possessive, object string) string {
	return pronoun.ReplaceAllStringFunc(straight(text), func(word string) string {
		upper := word[0] >= 'A' && word[0] <= 'Z' && !strings.HasPrefix(strings.ToLower(word), "i")
		out := object
		switch strings.ToLower(word) {
		case "i'm", "i am":
			out = subject + " are"
		case "i was":
			out = subject + " were"
		case "i've":
			out = subject + " have"
		case "i", "they":
			out = subject
		case "my", "their":
			out = possessive
		case "mine", "theirs":
			out = possessive + "s"
		case "myself", "themselves":
			out = possessive + "self"
			if possessive == "their" {
				out = "themselves"
			}
		}
		if upper {
			return strings.ToUpper(out[:1]) + out[1:]
		}
		return out
	})
}

var questionWord = regexp.MustCompile(`(?i)^(?:and |so |but )?(?:what|whats|what's|when|where|who|whom|whose|which|why|how|do|does|did|am|is|are|was|were|can|could|will|would|should|have|has)\b`)

// isQuestion reports whether a text asks something.
func isQuestion(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "?") || questionWord.MatchString(text)
}
