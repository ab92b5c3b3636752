// Package outgoing says what no reply of a model may hold that is about to reach a
// person's phone: what was written for a program, what only the program says, what
// is not true of a coach that is a program, and what was said before. It is pure.
package outgoing

import (
	"regexp"
	"strings"

	"coachline/internal/text"
)

// Kind is why a reply is refused; empty for one that may go.
type Kind string

const (
	Thinking     Kind = "thinking"
	Wrapper      Kind = "wrapper"
	Template     Kind = "template"
	Program      Kind = "program"
	Internals    Kind = "internals"
	InventedSelf Kind = "invented self"
	Human        Kind = "claims to be human"
	Pull         Kind = "pull"
	Promise      Kind = "promise"
	ProgramOnly  Kind = "words of the programme"
	Secrets      Kind = "asks for secrets"
	Link         Kind = "link"
	Language     Kind = "other language"
	Repetition   Kind = "repetition"
	Danger       Kind = "talks down an emergency"
	Dose         Kind = "dose of a medicine"
	Bill         Kind = "bill"
	Money        Kind = "asks for money"
	Number       Kind = "number"
	Unreadable   Kind = "unreadable"
	Cut          Kind = "cut"
	FixedText    Kind = "fixed text"
	Again        Kind = "said before"
	Echo         Kind = "echo"
)

// Reply is a text that a model wrote for a person, and what it is judged by.
type Reply struct {
	Text string
	// Programme is the programme's name.
	Programme string
	// Written are the person's newest messages, the newest last; Said those of the
	// coach, likewise.
	Written, Said []string
	// Known are texts whose links and names may be repeated: what the person wrote,
	// the operator's texts, what tools returned.
	Known []string
	// Fixed are the programme's fixed texts; nil for none.
	Fixed *Fixed
	// Done is what tools did in the turn.
	Done Done
	// IsEnded says that the model ended the text by itself, as its server tells.
	IsEnded bool
}

// Check returns the first reason for which a reply may not go; empty for none.
func Check(r Reply) Kind {
	said := quoted.ReplaceAllString(r.Text, " ")
	known := strings.ToLower(strings.Join(r.Known, "\n"))
	if kind := r.findKind(rules, said, known); kind != "" {
		return kind
	}
	if own := strings.TrimSpace(r.Text); isCutOff(own, r.IsEnded) || lowerStart.MatchString(own) {
		return Cut
	}
	if kind := r.findKind(masked, unmask(said), known); kind != "" {
		return kind
	}
	switch {
	case findEncoded(r.Text) != "":
		return Unreadable
	case falseClaim(said, r.Done) != "":
		return Promise
	case isRepetitive(r.Text):
		return Repetition
	case r.Fixed.isIn(r.Text) || beginsWithName(r.Text, r.Programme):
		return FixedText
	case isOtherLanguage(r):
		return Language
	case isAgain(r.Text, r.Said):
		return Again
	case isEcho(r.Text, r.Written):
		return Echo
	}
	return ""
}

// findKind returns the first reason by rule. What stands in quotes is another's, but for
// what a program writes.
func (r Reply) findKind(rules []rule, words, known string) Kind {
	for _, rule := range rules {
		in := words
		if rule.whole {
			in = r.Text
		}
		found := rule.find(in)
		isOwnName := rule.kind == InventedSelf && r.Programme != "" && strings.Contains(found, r.Programme)
		if found != "" && !isOwnName && !isGiven(rule.kind, found, known) {
			return rule.kind
		}
	}
	return ""
}

// isGiven reports whether what was found stands in what is known, a number in any
// spelling.
func isGiven(kind Kind, found, known string) bool {
	if kind == Number && figures(found) != "" {
		return strings.Contains(figures(known), figures(found))
	}
	return strings.Contains(known, strings.ToLower(strings.TrimSpace(found)))
}

// beginsWithName reports whether a text begins as the programme's own do.
func beginsWithName(words, programme string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(words)), strings.ToLower(programme))
	return ok && programme != "" && strings.HasPrefix(strings.TrimSpace(rest), ":")
}

var quoted = regexp.MustCompile(`"[^"\n]{1,200}"|„[^“"\n]{1,200}[“"]|“[^”\n]{1,200}”|«[^»\n]{1,200}»`)

// Mend ends a text that breaks off in the middle of a sentence with the last whole
// one. It returns an empty text where there is none. A text that the model ended by
// itself, as isEnded says, needs no mark at its end.
func Mend(words string, isEnded bool) string {
	words = strings.TrimSpace(words)
	if !isCutOff(words, isEnded) {
		return words
	}
	return text.CutAtSentence(words)
}

var (
	// wordEnd is a text that ends with a letter or a mark that ends no sentence.
	wordEnd = regexp.MustCompile(`(?:[\p{L}]|[,:;])$`)
	// hanging is a word after which no sentence ends.
	hanging = regexp.MustCompile(`(?i)(?:^| )(?:[aeoy]|the|your|my|our|and|or|but|der|dein|deine[mnrs]?|und|oder|aber|el|los|las|una?|tus?|pero|le|les|une|ton|tes|votre|et|ou|mais|os|uma?|seu|sua|teu|tua)$|[,;]$`)
	// laughter ends a text as a full stop does.
	laughter = regexp.MustCompile(`(?i)(?:k{2,}|(?:ha|ja|he|je|hi|rs){2,}|lol|xd|x)$`)
	// lowerStart is a text that begins in the middle of a word or sentence, though a
	// later sentence begins with a capital.
	lowerStart = regexp.MustCompile(`^\p{Ll}[^\n]*[.!?] +[¿¡]?\p{Lu}`)
)

const (
	// cutWords is how many words the last sentence of a cut text has, cutAlone how
	// many where it is the only one: short remarks have no full stop.
	cutWords, cutAlone = 5, 8
)

// isCutOff reports whether a text breaks off: its last sentence is long and has no
// end. Where the model ended it by itself, its last word says so: people and models
// text without full stops.
func isCutOff(words string, isEnded bool) bool {
	if !wordEnd.MatchString(words) || laughter.MatchString(words) || isEnded && !hanging.MatchString(words) {
		return false
	}
	last, least := words, cutAlone
	if end := text.LastSentenceEnd(words); end > 0 {
		last, least = words[end:], cutWords
	}
	return len(strings.Fields(last)) >= least // An address is one word.
}
