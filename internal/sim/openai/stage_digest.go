package openai

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	nothing       = "NONE"
	digestChars   = 500 // where the request names no limit
	summaryChars  = 2000
	summaryLine   = 300
	saidChars     = 60 // of one text in a summary
	noteLines     = 5
	noteLineChars = 80
	noteWords     = 200
	// wholeLine is how long a line may be that is kept as it is.
	wholeLine    = 240
	limitResults = 2
)

var whoAmI = regexp.MustCompile(`(?i)\bwho am i\b|\bknow about me\b|\babout me\b|\bsuggest|\brecommend|\bideas?\b|\bwhat should i\b`)

// digest keeps the lines of the material that share words with the text, in
// their order: notes come newest first. A long line is divided into sentences.
// For a suggestion, and for who the person is, everything counts.
func (a stageAsk) digest(title string) string {
	every := whoAmI.MatchString(a.User)
	var kept []string
	size, limit := 0, a.limit(digestChars)
	for _, one := range units(a.under(title)) {
		if !every && sharedWords(a.User, one) == 0 {
			continue
		}
		if len(kept) == 0 {
			one = clipTo(one, limit)
		}
		if size += utf8.RuneCountInString(one) + 1; size > limit+1 {
			break
		}
		kept = append(kept, one)
	}
	if len(kept) == 0 {
		return nothing
	}
	return strings.Join(kept, "\n")
}

func units(material string) []string {
	var out []string
	for line := range strings.Lines(material) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case utf8.RuneCountInString(line) <= wholeLine:
			out = append(out, line)
		default:
			out = append(out, sentences(line)...)
		}
	}
	return out
}

// summariseStopped tells the person what was found. Results that are data are
// named, not shown.
func (a stageAsk) summariseStopped() string {
	parts := []string{"This may be incomplete."}
	for line := range strings.Lines(a.under("What was done")) {
		rest, isResult := strings.CutPrefix(strings.TrimSpace(line), "result of ")
		name, text, found := strings.Cut(rest, ": ")
		if !isResult || !found {
			continue
		}
		if strings.ContainsAny(text, "{[") {
			text = "A step with " + strings.ReplaceAll(name, "_", " ") + " gave an answer that I could not work through"
		}
		parts = append(parts, strings.TrimRight(clipTo(text, wholeLine), ".")+".")
		if len(parts) > limitResults {
			break
		}
	}
	if len(parts) == 1 {
		parts = append(parts, "I could not finish looking into this.")
	}
	return strings.Join(parts, " ")
}

// between is the text below one title and above another.
func (a stageAsk) between(title, next string) string {
	text, _, _ := strings.Cut("\n"+a.under(title), "\n"+next+":\n")
	if text = strings.TrimSpace(text); text == "None." {
		return ""
	}
	return text
}

// saidBy are the texts of the person in a conversation.
func saidBy(conversation string) []string {
	var out []string
	for line := range strings.Lines(conversation) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), "person: "); found {
			out = append(out, text)
		}
	}
	return out
}

// summarise keeps the earlier summary and adds one line. Where both are too
// long, the oldest lines go.
func (a stageAsk) summarise() string {
	conversation := a.under("Conversation")
	said := saidBy(conversation)
	for i := range said {
		said[i] = clipTo(said[i], saidChars)
	}
	added := "Then the coach wrote: " + clipTo(conversation, saidChars)
	if len(said) > 0 {
		added = clipTo("The person said: "+strings.Join(said, "; "), summaryLine)
	}
	lines := strings.Split(strings.TrimSpace(a.between("Earlier summary", "Conversation")+"\n"+added), "\n")
	for len(lines) > 1 && utf8.RuneCountInString(strings.Join(lines, "\n")) > a.limit(summaryChars) {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// note has a line for each text of the person that has a topic and is not in
// the note already.
func (a stageAsk) note() string {
	earlier := a.between("Note so far", "Conversation of the day")
	left := a.words()
	var lines []string
	for _, text := range saidBy(a.under("Conversation of the day")) {
		line := "Person: " + clipTo(text, noteLineChars)
		if len(keywords(text)) == 0 || strings.Contains(earlier+"\n"+strings.Join(lines, "\n"), line) {
			continue
		}
		if left -= len(strings.Fields(line)); left < 0 || len(lines) == noteLines {
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nothing
	}
	return strings.Join(lines, "\n")
}

var atMostWords = regexp.MustCompile(`at most (\d+) words`)

func (a stageAsk) words() int {
	if found := atMostWords.FindStringSubmatch(a.System); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			return n
		}
	}
	return noteWords
}

// messages tells what a person wrote by the messages themselves, as far as they
// fit.
func (a stageAsk) messages() string {
	text := strings.Join(a.items("Messages"), "; ")
	if most := a.limit(1000); utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	if text == "" {
		return nothing
	}
	return text
}
