package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// mostFound is the most hits where a query names no limit.
	mostFound = 3
	// sameScore is the similarity from which on two facts say the same.
	sameScore = 0.95
	// Words of one stem: the shorter one begins the longer one, which ends in a
	// few characters more.
	stemChars, endingChars = 4, 3
)

// Find searches one participant's facts, best first. A fact whose vector has
// the length of the query's is judged by similarity, from MinScore on; any
// other fact by its words, after those. Where similarity finds nothing, all
// facts are judged by their words. Words are whole words or of one
// stem and count in any case; scripts without spaces have few of them. It
// decrypts every fact of the person that lies within the query's time.
//
// A query with neither words nor a usable vector finds nothing. ErrNotFound
// also after removal.
func (s *Store) Find(ctx context.Context, q models.FactQuery) ([]models.FoundFact, error) {
	var rows []factRow
	err := s.runReads(ctx, q.ParticipantID, func(tx *gorm.DB) error {
		if len(q.Vector) == 0 {
			tx = tx.Omit("vector")
		}
		if q.From != nil {
			tx = tx.Where("updated_at >= ?", q.From.UTC())
		}
		if q.To != nil {
			tx = tx.Where("updated_at <= ?", q.To.UTC())
		}
		var err error
		rows, err = currentFacts(tx, q.ParticipantID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("finding facts: %w", err)
	}
	found, err := rankFacts(rows, q)
	if err != nil {
		return nil, fmt.Errorf("finding facts: %w", err)
	}
	most := q.Limit
	if most <= 0 {
		most = mostFound
	}
	return found[:min(len(found), most)], nil
}

// rankFacts keeps the order of the rows, newest first, among equal scores.
func rankFacts(rows []factRow, q models.FactQuery) ([]models.FoundFact, error) {
	near, err := unitVector(q.Vector)
	if err != nil {
		return nil, err
	}
	words := queryWords(q.Words)
	var similar, worded, unlike []models.FoundFact
	for _, row := range rows {
		if score, ok := cosineScore(row.Vector, near); !ok {
			worded = appendWorded(worded, row.Fact, words)
		} else if score >= q.MinScore && score > 0 {
			similar = append(similar, models.FoundFact{Fact: row.Fact, Score: score})
		} else {
			unlike = appendWorded(unlike, row.Fact, words)
		}
	}
	if len(similar) == 0 {
		worded = append(worded, unlike...)
	}
	slices.SortStableFunc(similar, byScore)
	slices.SortStableFunc(worded, func(a, b models.FoundFact) int {
		return cmp.Or(byScore(a, b), b.Fact.UpdatedAt.Compare(a.Fact.UpdatedAt))
	})
	return append(similar, worded...), nil
}

func byScore(a, b models.FoundFact) int { return cmp.Compare(b.Score, a.Score) }

// appendWorded adds a fact that holds any of the words; its score is the
// share of them.
func appendWorded(found []models.FoundFact, fact models.Fact, words []string) []models.FoundFact {
	held := wordRuns(fact.Text)
	hits := 0
	for _, word := range words {
		if slices.ContainsFunc(held, func(h string) bool { return oneStem(h, word) }) {
			hits++
		}
	}
	if hits == 0 {
		return found
	}
	return append(found, models.FoundFact{Fact: fact, Score: float64(hits) / float64(len(words)), ByWords: true})
}

// queryWords returns the distinct words of the query, in the form of the facts'.
func queryWords(given []string) []string {
	var out []string
	for _, word := range wordRuns(strings.Join(given, " ")) {
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// wordRuns returns the words of a text in the form in which they are compared.
func wordRuns(body string) []string {
	return text.Words(text.Fold(body))
}

func oneStem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	ending, begins := strings.CutPrefix(b, a)
	if !begins || ending == "" {
		return begins
	}
	return utf8.RuneCountInString(a) >= stemChars && utf8.RuneCountInString(ending) <= endingChars
}

// findDuplicate finds a fact that says what the row says.
func findDuplicate(facts []factRow, row factRow) (id string, found bool) {
	near := unpackVector(row.Vector)
	said := normalText(row.Text)
	for _, fact := range facts {
		score, ok := cosineScore(fact.Vector, near)
		if ok && score >= sameScore || normalText(fact.Text) == said {
			return fact.ID, true
		}
	}
	return "", false
}

// normalText returns a text by its words, or by its signs where it has no
// words.
func normalText(body string) string {
	if words := wordRuns(body); len(words) > 0 {
		return strings.Join(words, " ")
	}
	return text.Fold(body)
}
