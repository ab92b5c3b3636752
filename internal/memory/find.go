package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/text"
	"coachline/models"
)

const (
	// searchedNotes is how many days of the diary a search reads.
	searchedNotes = 90
	// searchedMessages is how many of a person's own messages it reads, the newest.
	searchedMessages = 300
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
// decrypts every fact of the person that lies within the query's time, and with Diary
// the notes of ninety days, with Messages the newest three hundred of what they wrote.
//
// A query with neither words nor a usable vector finds nothing. ErrNotFound
// also after removal.
func (s *Store) Find(ctx context.Context, q models.FactQuery) ([]models.FoundFact, error) {
	var rows []factRow
	err := s.runReads(ctx, q.ParticipantID, func(tx *gorm.DB) error {
		read := tx
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
		if err == nil && q.Diary {
			var diary []factRow
			diary, err = diaryRows(read, q)
			rows = append(rows, diary...)
		}
		if err == nil && q.Messages {
			var written []factRow
			written, err = messageRows(read, q)
			rows = append(rows, written...)
		}
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

// diaryRows returns the notes of days before those that every reply has, newest first,
// as events of their day, within the query's time.
func diaryRows(tx *gorm.DB, q models.FactQuery) ([]factRow, error) {
	notes, err := lastNotes(tx, q.ParticipantID, searchedNotes)
	if err != nil {
		return nil, err
	}
	var rows []factRow
	for _, note := range notes[min(len(notes), recentNotes):] {
		day, err := time.Parse(time.DateOnly, note.LocalDate)
		if err != nil {
			return nil, fmt.Errorf("reading the day of a note: %w", err)
		}
		noon := day.Add(12 * time.Hour)
		if q.From != nil && noon.Before(*q.From) || q.To != nil && day.After(*q.To) {
			continue
		}
		rows = append(rows, factRow{Fact: models.Fact{
			ID: "note-" + note.LocalDate, ParticipantID: note.ParticipantID, Kind: models.FactEvent, Text: text.OneLine(note.Text), UpdatedAt: noon,
		}})
	}
	return rows, nil
}

// messageRows returns what the person wrote before our newest text, newest first, as events:
// within the query's time, and nothing from before they last had something forgotten.
func messageRows(tx *gorm.DB, q models.FactQuery) ([]factRow, error) {
	find := tx.Where("participant_id = ? AND kind = ?", q.ParticipantID, models.KindMessage).
		Where("id < (SELECT MAX(m.id) FROM messages m WHERE m.participant_id = ? AND m.role = ?)", q.ParticipantID, models.RoleAssistant).
		Where("NOT EXISTS (SELECT 1 FROM audit a WHERE a.participant_id = ? AND a.action IN ('forget', 'forget_all') AND a.at >= messages.at)", q.ParticipantID)
	if q.From != nil {
		find = find.Where("at >= ?", database.Instant(*q.From))
	}
	if q.To != nil {
		find = find.Where("at <= ?", database.Instant(*q.To))
	}
	var written []models.Message
	if err := find.Order("id DESC").Limit(searchedMessages).Find(&written).Error; err != nil {
		return nil, fmt.Errorf("reading messages: %w", err)
	}
	rows := make([]factRow, 0, len(written))
	for _, m := range written {
		rows = append(rows, factRow{Fact: models.Fact{
			ID: fmt.Sprint("message-", m.ID), ParticipantID: m.ParticipantID, Kind: models.FactEvent, Text: text.OneLine(m.Text), UpdatedAt: m.At,
		}})
	}
	return rows, nil
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
	worded, named := rankWords(texts, q.Words)
	return joinRanks(rows, near, worded, named, likeness), nil
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

// findDuplicate finds a fact that says what the row says: the same words, or near vectors
// and at least half of the words with the same numbers. Vectors alone do not tell 10 mg
// from 20 mg, and some servers give all texts nearly the same one.
func findDuplicate(facts []factRow, row factRow) (id string, found bool) {
	near := unpackVector(row.Vector)
	said := normalText(row.Text)
	for _, fact := range facts {
		score, ok := cosineScore(fact.Vector, near)
		ok = ok && (fact.VectorModel == row.VectorModel || fact.VectorModel == "")
		if ok && score >= sameScore && sharesWords(fact.Text, row.Text) || normalText(fact.Text) == said {
			return fact.ID, true
		}
	}
	return "", false
}

// sharesWords reports whether two texts have at least half of their words, and all of
// their numbers, in common.
func sharesWords(a, b string) bool {
	one, other := queryWords([]string{a}), queryWords([]string{b})
	shared := 0
	for _, word := range one {
		switch {
		case slices.Contains(other, word):
			shared++
		case hasDigit(word):
			return false
		}
	}
	return 2*shared >= max(len(one), len(other)) && !slices.ContainsFunc(other, func(word string) bool {
		return hasDigit(word) && !slices.Contains(one, word)
	})
}

func hasDigit(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

// normalText returns a text by its words, or by its signs where it has no
// words.
func normalText(body string) string {
	if words := wordRuns(body); len(words) > 0 {
		return strings.Join(words, " ")
	}
	return text.Fold(body)
}
