package openai

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// statement is a pattern of saying something lasting of oneself. Group 1 is what a
// newer statement replaces: "live in", "my knee".
type statement struct {
	kind    string
	pattern *regexp.Regexp
}

// clause ends where the next thing begins.
const clause = `[^.!?;,\n]{1,160}`

var statements = []statement{
	{"constraint", regexp.MustCompile(`(?i)\b(my [\pL ]{2,30}?) (?:hurts?|aches?|is (?:injured|sore|broken|bad|painful|weak|fine|better|ok|okay)|are (?:sore|bad|fine|better))\b` + `[^.!?;,\n]{0,120}`)},
	{"constraint", regexp.MustCompile(`(?i)\bi(?:'m| am) (?:allergic to|not allowed to|not able to) ` + clause)},
	{"constraint", regexp.MustCompile(`(?i)\bi (?:cannot|can't|can not) (?:walk|run|eat|drink|stand|sit|sleep|swim|bend|lift|do)\b[^.!?;,\n]{0,120}`)},
	{"identity", regexp.MustCompile(`(?i)\bi(?:'ve)? (?:(?:live|moved|have moved|just moved) (?:in|to)) ` + clause)},
	{"identity", regexp.MustCompile(`(?i)\bi(?: have|'ve got| have got) (?:an?|one|two|three|four|five|\d+|no) ` + clause)},
	{"preference", regexp.MustCompile(`(?i)\bi (?:really |also |don't |do not )?(?:like|love|hate|prefer|enjoy|dislike) ` + clause)},
	{"goal", regexp.MustCompile(`(?i)\b(my goal) is ` + clause)},
	{"goal", regexp.MustCompile(`(?i)\bi (?:want|would like|'d like|plan) to ` + clause)},
	{"identity", regexp.MustCompile(`(?i)\bi (?:usually |always |often |mostly |normally )?\pL+ (?:[^.!?;,\n]{0,60} )?(?:(?:at|around|by) \d|every\b|each\b|in the (?:morning|evening|afternoon)s?\b|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)[^.!?;,\n]{0,100}`)},
	{"goal", regexp.MustCompile(`(?i)\bi(?:'m| am) training for ` + clause)},
	{"identity", regexp.MustCompile(`(?i)\b(my [\pL ]{2,30}?) (?:is|are|was) ` + clause)},
	{"identity", regexp.MustCompile(`(?i)\bi(?:'m| am) ` + clause)},
	{"identity", regexp.MustCompile(`(?i)\bi work (?:as|at|in|for|from|nights|mornings|shifts)\b[^.!?;,\n]{0,120}`)},
}

var (
	change = regexp.MustCompile(`(?i)\b(?:actually|instead|no longer|not anymore|any more|changed|from now on|moved|now)\b`)
	// correction is sure enough to put a time alone into a fact that has one.
	correction = regexp.MustCompile(`(?i)\b(?:actually|instead|changed|from now on|moved)\b`)
	clock      = regexp.MustCompile(`(?i)\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b`)
	// passing are states, requests and events that are of no use in a week.
	passing = regexp.MustCompile(`(?i)^i(?: have|'ve got| have got) (?:an?|one|no) (?:question|minute|moment|problem|meeting|idea|second|call|time)\b|^i (?:want to|would like to|'d like to|plan to) (?:stop|cancel|delete|change|talk|know|see|list|go on|continue)\b|^i(?:'m| am) (?:so |very |really |just |all |still |a bit |not )*(?:ready|done|ok|okay|fine|good|great|well|here|back|sorry|sure|tired|busy|happy|glad|sad|late|going|off|in|at|on|about|home|finished|trying|thinking|confused|lost|bored|doing|feeling|waiting|looking|interested)\b`)
	// past is what happened once, beside a move.
	past    = regexp.MustCompile(`(?i)^i (?:\pL+ed|was|did|went|had|got|ran|ate|slept|said|told|think|need|can|could|will|would|should) `)
	livesIn = regexp.MustCompile(`(?i)\b(?:live in|lives in|moved to)\b`)
	fact    = regexp.MustCompile(`^(\S+) \((\w+), [^)]*\): (.*)$`)
)

type listedFact struct{ id, kind, text string }

func (a stageAsk) facts() []listedFact {
	var out []listedFact
	for _, item := range a.items("Known facts") {
		if part := fact.FindStringSubmatch(item); part != nil {
			out = append(out, listedFact{part[1], part[2], part[3]})
		}
	}
	return out
}

// remember decides by the first sentence of the text that says something
// lasting, or that corrects a known fact.
func (a stageAsk) remember() string {
	_, notes, _ := strings.Cut(a.System, "\nMessage: "+strings.TrimSpace(a.User))
	maySave := !strings.Contains(notes, "Saving something new is not allowed here.")
	mayUpdate := !strings.Contains(notes, "There is no fact that you may update.")
	return encode(a.decide(a.User, maySave, mayUpdate))
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
			if fact := a.decide(said, true, true); theirs && fact["action"] != "none" {
				facts = append(facts, fact)
			}
		}
		out["facts"] = facts
	}
	return encode(out)
}

// decide says what one text adds to the known facts.
func (a stageAsk) decide(text string, maySave, mayUpdate bool) map[string]string {
	for _, sentence := range sentences(straight(text)) {
		if isQuestion(sentence) {
			continue
		}
		said, kind, subject := findStatement(sentence)
		old, newText, changes := a.findReplaced(sentence, said, subject)
		switch {
		case changes && sameWords(old.text, newText):
			return map[string]string{"action": "none"}
		case changes && mayUpdate:
			return map[string]string{"action": "update", "id": old.id, "kind": old.kind, "text": newText}
		case changes, said == "", !maySave:
			continue
		}
		return map[string]string{"action": "save", "kind": kind, "text": said}
	}
	return map[string]string{"action": "none"}
}

const none = `{"action":"none"}`

func straight(text string) string { return strings.ReplaceAll(text, "\u2019", "'") }

// findStatement is the first lasting thing that a sentence says, as a sentence
// of the person, with its kind and with what it is about where only one thing
// of the sort can hold.
func findStatement(sentence string) (said, kind, subject string) {
	first := len(sentence)
	for _, s := range statements {
		at := s.pattern.FindStringSubmatchIndex(sentence)
		if at == nil || at[0] >= first {
			continue
		}
		words := sentence[at[0]:at[1]]
		if passing.MatchString(words) || past.MatchString(words) && !livesIn.MatchString(words) {
			continue
		}
		first, said, kind, subject = at[0], asSentence(aboutThem(words)), s.kind, ""
		if len(at) > 2 {
			subject = aboutThem(sentence[at[2]:at[3]])
		}
	}
	return said, kind, subject
}

// findReplaced finds the fact that a sentence replaces, and what it says then. A
// time alone goes into the fact; a correction replaces the fact that shares
// most words with it.
func (a stageAsk) findReplaced(sentence, said, subject string) (old listedFact, text string, ok bool) {
	best := 0
	for _, f := range a.facts() {
		if sameWords(f.text, said) {
			return f, said, true
		}
		if score := f.replacedBy(sentence, said, subject); score > best {
			old, best = f, score
		}
	}
	at := clock.FindString(sentence)
	switch {
	case best == 0:
		return listedFact{}, "", false
	case at != "" && clock.MatchString(old.text):
		return old, clock.ReplaceAllLiteralString(old.text, at), true
	case said == "":
		said = asSentence(aboutThem(leading.ReplaceAllString(sentence, "")))
	}
	return old, said, true
}

// replacedBy is how sure it is that a sentence takes the place of the fact; 0
// when it does not.
func (f listedFact) replacedBy(sentence, said, subject string) int {
	score := sharedWords(sentence, f.text)
	timed := clock.MatchString(sentence) && clock.MatchString(f.text)
	switch {
	case livesIn.MatchString(said) && livesIn.MatchString(f.text),
		subject != "" && strings.Contains(strings.ToLower(f.text), strings.ToLower(subject)+" "),
		timed && correction.MatchString(sentence):
		return score + 1
	case change.MatchString(sentence):
		return score
	}
	return 0
}

var leading = regexp.MustCompile(`(?i)^(?:(?:oh|no|well|actually|sorry|correction|ah|hm)\b[ ,:]*)+`)

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
