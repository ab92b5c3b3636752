package recall

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"coachline/internal/text"
	"coachline/models"
)

// coveredShare is the share of the query's words in the window from which on a
// search is not worth its cost.
const coveredShare = 0.5

// Ruling is what a plan decides about memory.
type Ruling string

const (
	// RulingOpen: there is no plan; the check decides.
	RulingOpen Ruling = "open"
	// RulingWanted: the plan asks for memory; the check is not made.
	RulingWanted Ruling = "wanted"
	// RulingUnwanted: there is a plan and it does not ask for memory.
	RulingUnwanted Ruling = "unwanted"
)

// Question is what the check reads. Window holds the entries of the hot window,
// oldest first.
type Question struct {
	Query  string
	Window []models.Message
	Ruling Ruling
	// Found: the person's own text brought up facts already.
	Found bool
	// Forbidden: mode or channel reads no memory.
	Forbidden bool
}

// Verdict says whether the deep search runs. Reason is a short code without
// personal data.
type Verdict struct {
	Recall bool
	Reason string
}

// Code returns what the record of stages keeps: "gate skip 0.75".
func (v Verdict) Code() string {
	if v.Recall {
		return "gate recall " + v.Reason
	}
	return "gate skip " + v.Reason
}

// Decide says without a model whether the deep search runs: not when mode or
// channel forbid it, and not when a plan does without it. Without a plan it runs
// for a text that asks something of the person or the past and brought up no fact by its
// own words and meaning, unless results of tools in the window hold at least half of its
// content words. A result that it cannot read makes it recall.
func Decide(q Question) Verdict {
	if q.Forbidden {
		return Verdict{Reason: "forbidden"}
	}
	switch q.Ruling {
	case RulingWanted:
		return Verdict{Recall: true, Reason: "plan"}
	case RulingUnwanted:
		return Verdict{Reason: "plan"}
	case RulingOpen:
	}
	if !asks(q.Query) {
		return Verdict{Reason: "no question"}
	}
	if !isTheirs(q.Query) {
		return Verdict{Reason: "not theirs"}
	}
	if q.Found {
		return Verdict{Reason: "found"}
	}
	results, err := toolResults(q.Window)
	words := Words(q.Query)
	switch {
	case err != nil:
		return Verdict{Recall: true, Reason: "error"}
	case results == "":
		return Verdict{Recall: true, Reason: "no tool row"}
	case len(words) == 0:
		return Verdict{Recall: true, Reason: "no words"}
	}
	coverage := float64(countShared(words, Words(results))) / float64(len(words))
	return Verdict{Recall: coverage < coveredShare, Reason: fmt.Sprintf("%.2f", coverage)}
}

var (
	// askWords begin a question or a request for something that was said before,
	// in the languages of the texts.
	askWords = text.WordSet(`what when where which who whom whose why how tell remind remember
		was wann wo welche welcher welches wer wem wen warum wieso erinner weißt
		qué cuándo dónde cuál cuáles quién cómo dime recuérdame recuerdas
		quoi quand quel quelle quels quelles combien pourquoi dis rappelle
		onde qual quais quem porquê lembra lembras`)
	// adviceWords begin a question of what to do, which no search of the past
	// answers.
	adviceWords = text.WordSet(`should shall can could may soll sollte sollen kann könnte darf muss puedo puede debo debería podría
		peux puis dois devrais posso pode devo deveria poderia`)
)

// theirWords name the person or what was before; a question without any is about the
// programme or people in general, and nothing that the person said answers it.
var theirWords = text.WordSet(`i im ive id ill my me mine myself we our us was were did had said told last earlier before yesterday ago remember remind again
	ich mein meine meinen meinem meiner meines mir mich wir uns unser unsere war waren warst hatte hattest hast habe gesagt letzte letzten letztes letztens gestern damals nochmal
	yo mi mis mí me conmigo nos nuestro nuestra tengo dije conté hice fui fue era dijiste último última ayer recuerdas
	je j mon ma mes moi me m nous notre ai était étais avait avais dit dernier dernière hier rappelles
	eu meu minha meus minhas mim comigo nosso nossa tenho contei fiz fui foi era disse disseste última ontem lembras`)

// isTheirs reports whether a question may be about the person or the past; one of another
// script may. Of a text that says more it reads the clauses that ask.
func isTheirs(query string) bool {
	if strings.ContainsFunc(query, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) {
		return true
	}
	return slices.ContainsFunc(clauses.FindAllString(query, -1), func(clause string) bool {
		words := wordRuns(clause)
		isAsking := strings.ContainsAny(clause, "?？؟") || slices.ContainsFunc(words[:min(len(words), askedWithin)], func(word string) bool { return askWords[word] })
		return isAsking && !whatToDo.MatchString(strings.Join(words, " ")) && slices.ContainsFunc(words, func(word string) bool { return theirWords[word] })
	})
}

// whatToDo begins a question of what to do, or of what would be.
var whatToDo = regexp.MustCompile(`^(?:(?:so|and|but|und|et|y|e|i) )?(?:what if|if|what (?:do|shall|should|can|could|am) i|do i (?:have|need)|am i (?:doing|ok|on)|` +
	`was wenn|wenn|falls|was (?:mache|soll|kann|tue) ich|(?:si|que faire)\b|qué (?:hago|puedo|debo)|se eu|o que (?:faço|devo|posso))`)

// clauses keeps the marks of each clause.
var clauses = regexp.MustCompile(`[^.!?？؟,;:\n]+[.!?？؟,;:\s]*`)

// askedWithin is how many words at the beginning of a sentence may come before
// the one that asks.
const askedWithin = 2

// asks reports whether a text asks something that the past may answer: by how a
// sentence of it begins, or by a question mark of any script where no sentence
// asks for advice.
func asks(query string) bool {
	sentences := strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(".!?,;:\n", r) })
	begins := func(set map[string]bool) bool {
		return slices.ContainsFunc(sentences, func(sentence string) bool {
			words := wordRuns(sentence)
			return slices.ContainsFunc(words[:min(len(words), askedWithin)], func(word string) bool { return set[word] })
		})
	}
	return begins(askWords) || strings.ContainsAny(query, "?？؟¿") && !begins(adviceWords)
}

var errUnreadable = errors.New("tool result is not readable")

// toolResults joins what tools returned in a window. What a tool was called with
// is no result, and neither is what was said beside it.
func toolResults(entries []models.Message) (string, error) {
	var text strings.Builder
	for _, entry := range entries {
		if entry.Kind != models.KindToolResult && entry.Role != models.RoleTool {
			continue
		}
		var result models.ToolResult
		if json.Unmarshal([]byte(entry.Text), &result) != nil {
			return "", errUnreadable
		}
		text.WriteString(result.Content + "\n")
	}
	return text.String(), nil
}
