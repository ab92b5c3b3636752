package memory

import (
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

// Find searches one participant's facts, best first: by the likeness of their
// vectors where those have the length of the query's, and by words; the ranks of
// both are joined. A fact counts as like the query where it is nearer to it than
// the person's facts usually are. Words count by their rarity among these facts,
// in any case and ending, and with a part of it for a word of the same field. It
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
	for i := range rows {
		if s.isForeign(rows[i]) {
			rows[i].Vector = nil
		}
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
	unit, err := unitVector(q.Vector)
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(rows))
	for _, row := range rows {
		texts = append(texts, row.Text)
	}
	near, likeness := rankVectors(rows, unit)
	return joinRanks(rows, near, rankWords(texts, q.Words), likeness), nil
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
		ok = ok && (fact.VectorModel == row.VectorModel || fact.VectorModel == "")
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
