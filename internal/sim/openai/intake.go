package openai

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	clockQuestion = "At what clock time shall I text you, for example 8:00 am?"
	proposalMark  = "Shall I text you every day"
)

// question is the fixed text that asks for a profile field; the next turn
// recognises it.
func question(field string) string {
	switch field {
	case "habit_domain":
		return "What small habit would you like to start with?"
	case "motivational_frame":
		return "Why does that matter to you?"
	case "preferred_time":
		return "What time of day suits you best, for example 8:00 am, or between 9 and 11?"
	case "prompt_anchor":
		return "What do you already do every day that the habit can follow, for example your morning coffee?"
	}
	return "Please tell me this: " + strings.ReplaceAll(field, "_", " ") + "?"
}

// spanish is the language of some: who writes it is not answered in English.
var spanish = regexp.MustCompile(`(?i)\b(quiero|después|hola|todos los días)\b`)

// opener matches words that answer no question about oneself.
var opener = regexp.MustCompile(`^(hi|hello|hey|hi there|hello there|yes|yeah|yep|ok|okay|sure|ready|i am ready|im ready|start|lets start|lets go|go)$`)

// fieldAnswer takes the words that answer the coach's last question, and the
// answer to a proposed time.
func (sc parsedRequest) fieldAnswer() (saying, bool) {
	if sc.inFeedback() || sc.said == "" {
		return saying{}, false
	}
	if strings.Contains(sc.asked, proposalMark) || strings.Contains(sc.asked, clockQuestion) {
		return sc.timeAnswer()
	}
	for _, field := range sc.missing() {
		if strings.Contains(sc.asked, question(field)) && !opener.MatchString(normalise(sc.said)) {
			return sc.saveField(field), true
		}
	}
	return saying{}, false
}

func (sc parsedRequest) saveField(field string) saying {
	said := sc.said
	if from, to, timed := parseTimes(said); field == "preferred_time" && timed {
		said = timeText(from, to)
	}
	return callTools(call{toolSave, map[string]any{field: clipText(said, longestField-3)}})
}

// timeAnswer: yes makes the schedule, another time is saved and proposed, and
// anything else is asked again.
func (sc parsedRequest) timeAnswer() (saying, bool) {
	if len(sc.missing()) > 0 || sc.hasSchedule() {
		return saying{}, false
	}
	from, to, timed := parseTimes(sc.profile("preferred_time"))
	_, _, another := parseTimes(sc.said)
	switch {
	case another:
		return sc.saveField("preferred_time"), true
	case !timed || !strings.Contains(sc.asked, proposalMark) || !isAgreement(sc.said):
		return saying{text: clockQuestion}, true
	case to == "":
		return callTools(call{toolScheduler, map[string]any{"action": "create", "type": "fixed", "fixed_time": from}}), true
	}
	return callTools(call{toolScheduler, map[string]any{
		"action": "create", "type": "random", "random_start_time": from, "random_end_time": to,
	}}), true
}

var agreement = regexp.MustCompile(`^(yes|yeah|yep|ok|okay|sure|please do|go ahead|sounds good|perfect|great|do it|y)\b`)

func isAgreement(said string) bool { return agreement.MatchString(normalise(said)) }

// answerIntake asks for the next missing field, or proposes the time.
func (sc parsedRequest) answerIntake() (saying, bool) {
	if sc.inFeedback() {
		return saying{}, false
	}
	return sc.nextSetUp("")
}

// nextSetUp is the next step of the set-up after some opening words; false when
// there is nothing left to set up.
func (sc parsedRequest) nextSetUp(opening string) (saying, bool) {
	missing := sc.missing()
	switch {
	case len(missing) > 0 && missing[0] == "motivational_frame" && spanish.MatchString(sc.said):
		return saying{text: "Entendido. ¿Por qué es importante para ti?"}, true
	case len(missing) > 0:
		return saying{text: opening + question(missing[0])}, true
	case sc.hasSchedule():
		return saying{}, false
	}
	from, to, timed := parseTimes(sc.profile("preferred_time"))
	if !timed {
		return saying{text: opening + clockQuestion}, true
	}
	at := "at " + from
	if to != "" {
		at = "between " + from + " and " + to
	}
	if strings.Contains(sc.asked, proposalMark) {
		return say("%sOne word is enough. %s %s?", opening, proposalMark, at), true
	}
	if opening == "" {
		return say("Ready to go on with %s %s? %s %s?", sc.part("habit_domain", "your habit"), sc.anchor(), proposalMark, at), true
	}
	return say("%sHere is the plan: %s, %s. %s %s? Say yes, or another time.",
		opening, sc.anchor(), sc.part("habit_domain", "your habit"), proposalMark, at), true
}

func (sc parsedRequest) afterSave(d completedCall) saying {
	switch {
	case d.arg("last_successful_prompt") != "":
		return say("Well done! I noted that this one worked for you: %q", d.arg("last_successful_prompt"))
	case d.arg("last_barrier") != "":
		return say("Thanks for telling me. I noted what got in the way. What would make it easier next time?")
	}
	if reply, more := sc.nextSetUp("Got it. "); more && !sc.inFeedback() {
		return reply
	}
	return say("Got it, I saved that.")
}

// confirmSchedule cites what the scheduler says it made.
func confirmSchedule(d completedCall) saying {
	made := scheduleView{Time: d.text("time"), From: d.text("from"), To: d.text("to"), Zone: d.text("zone")}
	if made.Time == "" && made.From == "" {
		made.Time, made.From, made.To = d.arg("fixed_time"), d.arg("random_start_time"), d.arg("random_end_time")
	}
	text := "Done. You get a text every day " + made.when() + "."
	if next := d.text("next_run"); len(next) >= len("2006-01-02T15:04") {
		text += " The first is for " + strings.TrimSpace(d.text("weekday")+" "+strings.Replace(next[:len("2006-01-02T15:04")], "T", " ", 1)) + "."
	}
	return saying{text: text}
}

// Bounds of the parts of a habit prompt, in words; with the script's own words
// they stay under 30.
const partWords = 7

// habitSentence writes one sentence of anchor, action and benefit that differs
// from the last one.
func (sc parsedRequest) habitSentence() string {
	habit := sc.part("habit_domain", "your habit")
	benefit := sc.part("motivational_frame", "every small step counts")
	first := []rune(sc.anchor())
	first[0] = unicode.ToUpper(first[0])
	anchor := string(first)
	sentence := anchor + ", take two minutes for " + habit + ": " + benefit + "."
	if sentence == sc.value("Profile", "last prompt") {
		sentence = anchor + ", start with two minutes of " + habit + ": " + benefit + "."
	}
	return sentence
}

func (sc parsedRequest) anchor() string {
	anchor := sc.part("prompt_anchor", "today")
	first, _, _ := strings.Cut(anchor, " ")
	if !slices.Contains([]string{"after", "before", "when", "whenever", "while", "once", "as", "at", "in", "on", "every", "during", "today"}, first) {
		anchor = "after " + anchor
	}
	return anchor
}

// part is the first clause of a profile field, a few words long and turned
// from "I" to "you".
func (sc parsedRequest) part(field, otherwise string) string {
	said := sc.profile(field)
	if cut := strings.IndexAny(said, ".!?;:\n"); cut >= 0 {
		said = said[:cut]
	}
	list := strings.Fields(said)
	list = list[:min(len(list), partWords)]
	for i, word := range list {
		switch strings.ToLower(word) {
		case "i", "me":
			list[i] = "you"
		case "my":
			list[i] = "your"
		case "am":
			list[i] = "are"
		case "i'm":
			list[i] = "you are"
		case "myself":
			list[i] = "yourself"
		}
	}
	text := strings.TrimFunc(clipText(strings.Join(list, " "), 60), func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	if text == "" {
		return otherwise
	}
	if first := []rune(text); len(first) > 1 && !unicode.IsUpper(first[1]) { // Not an abbreviation.
		first[0] = unicode.ToLower(first[0])
		text = string(first)
	}
	return text
}
