package openai

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// framing is a phrase of the text before what was remembered.
	framing = "noted in earlier conversations"
	// forgetEvery is written, and forgetAsked is of the text that goes out instead.
	forgetEvery = "Shall I forget everything that I noted about you? Say yes."
	forgetAsked = "Reply YES to delete it all."
	// personAsked is of the program's question whose number it is.
	personAsked  = "Reply YES and we go on"
	personAsk    = "First, are you still the one whom I coach?"
	forgetWhich  = "Which one shall I forget?"
	nothingNoted = "I have nothing noted about that."
	// candidatesMark stands before the facts that a wish to forget may mean.
	candidatesMark = "It may be: "
	longestFact    = 240
	longestList    = 600
)

// memoryLine is a line of what was remembered; day is empty where it has no date.
type memoryLine struct{ day, text string }

var (
	notedLine = regexp.MustCompile(`^(?:\[(\d{4}-\d\d-\d\d)\] )?(.*?)(?: \(f\d+\))?$`)
	ofMyself  = regexp.MustCompile(`(?i)\b(?:i|me|my|mine)\b`)
	recalling = regexp.MustCompile(`(?i)\bwhat (?:did|have) i (?:say|said|tell|told)|\bdo you remember\b`)
)

// memory is what the system message says was remembered.
func (sc parsedRequest) memory() []memoryLine {
	var out []memoryLine
	for _, title := range slices.Sorted(maps.Keys(sc.sections)) {
		if !strings.Contains(sc.sections[title], framing) {
			continue
		}
		_, body, _ := strings.Cut(sc.sections[title], framing)
		_, body, _ = strings.Cut(body, "\n")
		for line := range strings.Lines(body) {
			if part := notedLine.FindStringSubmatch(strings.TrimSpace(line)); part[2] != "" {
				out = append(out, memoryLine{part[1], part[2]})
			}
		}
	}
	return out
}

// findNoted is the entry of the memory that shares most words with a text, the
// newest of several; false when none shares any.
func (sc parsedRequest) findNoted(text string) (best memoryLine, found bool) {
	most := 0
	for _, one := range sc.memory() {
		n := sharedWords(text, one.text)
		if n > most || n == most && n > 0 && one.day > best.day {
			best, most = one, n
		}
	}
	return best, most > 0
}

// answerFromMemory answers a question about the person from what was remembered.
func (sc parsedRequest) answerFromMemory() (saying, bool) {
	recalls := recalling.MatchString(sc.said)
	if !isQuestion(sc.said) && !recalls || !ofMyself.MatchString(sc.said) {
		return saying{}, false
	}
	fact, found := sc.findNoted(sc.said)
	if !found {
		return saying{text: nothingNoted}, recalls
	}
	when := ""
	if fact.day != "" {
		when = " on " + fact.day
	}
	return say("You told me%s: %s", when, clipText(aboutYou(fact.text), longestFact)), true
}

func (sc parsedRequest) canCall(name string) bool { return slices.Contains(sc.tools, name) }

var (
	forgetting = regexp.MustCompile(`^(?:please |can you |could you |will you )*forget (?:about )?(.+)$`)
	everything = regexp.MustCompile(`^(?:everything|all|me|what you know about me)\b`)
	factID     = regexp.MustCompile(`\bf\d+\b`)
)

// answerMemories are the wishes to see and to erase what was remembered.
func (sc parsedRequest) answerMemories() (saying, bool) {
	said := normalise(sc.said)
	id := factID.FindString(said)
	switch {
	case sc.hasPhrase("what do you know about me") && sc.canCall(toolList):
		return callTools(call{toolList, map[string]any{}}), true
	case !sc.canCall(toolForget):
		return saying{}, false
	case strings.Contains(sc.asked, forgetAsked) && isAgreement(sc.said):
		return callTools(call{toolForget, map[string]any{"all": true}}), true
	case strings.Contains(sc.asked, forgetWhich) && id != "":
		return callTools(call{toolForget, map[string]any{"id": id}}), true
	}
	wish := forgetting.FindStringSubmatch(said)
	if wish == nil {
		return saying{}, false
	}
	topic := strings.Join(keywords(wish[1]), " ")
	switch {
	case everything.MatchString(wish[1]):
		return callTools(call{toolForget, map[string]any{"all": true}}), true
	case id != "":
		return callTools(call{toolForget, map[string]any{"id": id}}), true
	case topic == "":
		return saying{}, false
	}
	return callTools(call{toolForget, map[string]any{"topic": clipText(topic, longestFact)}}), true
}

// spoken names fields of the profile as people do.
var spoken = strings.NewReplacer("habit_domain", "habit", "motivational_frame", "reason", "preferred_time", "time", "prompt_anchor", "anchor", "_", " ")

func (sc parsedRequest) profileLine() string {
	lines := strings.FieldsFunc(sc.sections["Profile"], func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		if name, value, found := strings.Cut(line, ": "); found {
			lines[i] = "your " + spoken.Replace(strings.TrimPrefix(name, "- ")) + " is " + value
		}
	}
	return strings.Join(lines, "; ")
}

func (sc parsedRequest) afterList(d completedCall) saying {
	if list := d.text("text"); list != "" {
		return say("This is what I know: %s\nAnd you told me:\n%s", clipText(sc.profileLine(), longestFact), clipLines(list, longestList))
	}
	return sc.sayProfile(longestList)
}

// sayProfile ends with a full stop: a long sentence without one looks cut off.
func (sc parsedRequest) sayProfile(limit int) saying {
	return say("This is what I know: %s.", strings.TrimRight(clipText(sc.profileLine(), limit), "."))
}

// clipLines keeps whole lines, the first in any case.
func clipLines(list string, n int) string {
	var out []string
	for line := range strings.Lines(list) {
		if n <= len("...") {
			break
		}
		line = clipText(line, n-len("..."))
		if n -= len([]rune(line)) + 1; n < 0 {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func (sc parsedRequest) afterForget(d completedCall) saying {
	count, _ := d.result["count"].(float64)
	switch all, _ := d.args["all"].(bool); {
	case all:
		return say("Done. I forgot everything that I had noted about you.")
	case count == 0:
		return saying{text: nothingNoted}
	}
	return say("Done. I forgot %s of my notes.", strconv.FormatFloat(count, 'f', -1, 64))
}

// whichToForget asks for the one that is meant, or whether everything is; false
// for any other problem.
func whichToForget(d completedCall, problem string) (saying, bool) {
	switch d.text("confirm") {
	case "":
	case toolForget + " all":
		return saying{text: forgetEvery}, true
	default:
		return saying{text: personAsk}, true
	}
	_, list, found := strings.Cut(problem, candidatesMark)
	if d.name != toolForget || !found {
		return saying{}, false
	}
	return say("%s Answer with the letter and number: %s", forgetWhich, clipText(list, longestFact)), true
}
