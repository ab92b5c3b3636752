// Package recall prepares what a model is told of the past: when facts are
// looked up and how they are shown, digests of long results and notes, summaries
// of older messages, and what the last step of a turn may add to the facts.
// It is pure; texts that reach it are redacted.
package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// maxFound is the most facts of one search.
	maxFound = 3
	// maxAnswers and minAsked bound the search for open questions.
	maxAnswers = 5
	minAsked   = 2
	// searchWords is the most words of a text in one search, the longest first,
	// mostKeywords those that a model names.
	searchWords, mostKeywords = 8, 5
)

// Search is what a search needs beside the extract. A nil Vector leaves the
// search by words.
type Search struct {
	ParticipantID string
	Query         string
	Vector        []float32
}

// longestOf returns the longest of the words, which say most, in their order.
func longestOf(words []string) []string {
	kept := slices.Clone(words)
	slices.SortStableFunc(kept, func(a, b string) int { return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a)) })
	kept = kept[:min(len(kept), searchWords)]
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(kept, word) })
}

// Top asks for the facts nearest to the person's own text; it runs on every
// turn and needs no model.
func Top(s Search) models.FactQuery {
	words := Words(s.Query)
	return models.FactQuery{
		ParticipantID: s.ParticipantID, Vector: s.Vector, Words: longestOf(words),
		Limit: maxFound, Diary: true,
	}
}

// Deep asks for what an extract names, within its time. Without keywords
// the words of the query stand in.
func Deep(s Search, found Extract) models.FactQuery {
	query := Top(s)
	var words []string
	for _, keyword := range found.Keywords {
		for _, word := range Words(keyword) {
			words = appendNew(words, word)
		}
	}
	if len(words) > 0 {
		query.Words = words[:min(len(words), mostKeywords)]
	}
	query.From, query.To = found.From, found.To
	return query
}

// Answers asks for lasting facts that answer an extract's questions. ok
// is false when there is nothing to ask: no questions, or less than two
// content words in them. Show its hits through Lasting.
func Answers(s Search, found Extract) (query models.FactQuery, ok bool) {
	var words []string
	for _, question := range found.Questions {
		for _, word := range Words(question) {
			words = appendNew(words, word)
		}
	}
	if len(words) < minAsked {
		return models.FactQuery{}, false
	}
	return models.FactQuery{
		ParticipantID: s.ParticipantID, Words: longestOf(words), Limit: maxAnswers,
	}, true
}

// Lasting leaves the hits that are no single event.
func Lasting(found []models.FoundFact) []models.FoundFact {
	return slices.DeleteFunc(slices.Clone(found), func(hit models.FoundFact) bool { return hit.Fact.Kind == models.FactEvent })
}

// Bounds say which hits count.
type Bounds struct {
	// ParticipantID: other people's facts are dropped, from any search.
	ParticipantID string
	// Shown are ids that the request holds already.
	Shown []string
	// Most bounds the result by score; 0 is no bound.
	Most int
}

// Merge joins the hits of several searches: each fact once and in its newest
// version, none that was forgotten, newest first.
func Merge(found []models.FoundFact, b Bounds) []models.Fact {
	best := map[string]models.FoundFact{}
	for _, hit := range found {
		if !b.canShow(hit) {
			continue
		}
		known, seen := best[hit.Fact.ID]
		if seen && known.Fact.Version > hit.Fact.Version {
			hit.Fact = known.Fact
		}
		hit.Score = max(hit.Score, known.Score)
		best[hit.Fact.ID] = hit
	}
	hits := make([]models.FoundFact, 0, len(best))
	for _, hit := range best {
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b models.FoundFact) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), newestFirst(a.Fact, b.Fact))
	})
	if b.Most > 0 {
		hits = hits[:min(len(hits), b.Most)]
	}
	facts := make([]models.Fact, 0, len(hits))
	for _, hit := range hits {
		facts = append(facts, hit.Fact)
	}
	slices.SortFunc(facts, newestFirst)
	return facts
}

// canShow reports whether a hit may be shown.
func (b Bounds) canShow(hit models.FoundFact) bool {
	if hit.Fact.ParticipantID != b.ParticipantID || hit.Fact.DeletedAt != nil || plainLine(hit.Fact.Text) == "" {
		return false
	}
	return !slices.Contains(b.Shown, hit.Fact.ID) && !math.IsNaN(hit.Score)
}

// newestFirst orders by the last change; ids make it total.
func newestFirst(a, b models.Fact) int {
	return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID))
}

// minWord is the least length of a content word, in characters.
const minWord = 3

// Words lists the distinct content words of a text in their order: lower-cased
// runs of letters, marks and digits of at least three characters, without a
// stop list and without pure digits. The gate and the search by
// keywords share it. A script without spaces gives one long word a phrase, so
// that the check recalls.
func Words(body string) []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range wordRuns(body) {
		if utf8.RuneCountInString(word) < minWord || text.IsStopWord(word) || seen[word] || hasOnlyDigits(word) {
			continue
		}
		seen[word] = true
		out = append(out, word)
	}
	return out
}

// wordRuns returns the lower-cased runs of letters, marks and digits.
func wordRuns(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// hasOnlyDigits reports whether a word is made of digits alone.
func hasOnlyDigits(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) })
}

// normalText returns the lower-cased words of a text, so that case, signs and
// spaces do not tell two texts apart.
func normalText(text string) string { return strings.Join(wordRuns(text), " ") }

// plainLine keeps a text from being more than a line: it can neither open a
// section of the system message nor pass for another entry.
func plainLine(line string) string { return strings.TrimLeft(text.OneLine(line), "# ") }

// hasPhrase reports whether the words of part follow each other in whole.
func hasPhrase(whole, part string) bool {
	return part != "" && strings.Contains(" "+whole+" ", " "+part+" ")
}

// countShared returns how many words of one list are in the other.
func countShared(words, in []string) int {
	n := 0
	for _, word := range words {
		if slices.Contains(in, word) {
			n++
		}
	}
	return n
}
