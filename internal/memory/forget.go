package memory

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// Forget erases one fact in all its versions, for people who were removed too.
// What is left is a row without kind, text and vector, and an audit row with
// the fact's id. Answers of models that were kept for retries go with it,
// because they may quote it, and so do the lines of notes and the sentences of the
// summary that speak of it; the conversation is not touched. Forgetting twice changes nothing, so a retry is safe. ErrNotFound
// for a fact that is unknown or of another participant.
func (s *Store) Forget(ctx context.Context, f models.Forgetting) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockParticipant(tx, f.ParticipantID); err != nil {
			return err
		}
		var row factRow
		err := tx.Omit("vector").Where("participant_id = ? AND id = ?", f.ParticipantID, f.FactID).Take(&row).Error
		if err != nil || row.DeletedAt != nil {
			return err
		}
		if _, err := eraseFacts(tx, f); err != nil {
			return err
		}
		if err := cutTexts(tx, f, row.Text); err != nil {
			return err
		}
		return closeForgetting(tx, f, models.AuditRow{Action: "forget", Detail: f.FactID})
	})
	return wrap.Error(err, "forgetting fact")
}

// ForgetAll is Forget for all facts of a person, the daily notes and the
// summary; FactID is ignored. Notes and summary stay as blank rows that
// remember up to where the conversation was read, so that it is not read again
// from its beginning. It returns how many facts there were. Safe to repeat.
// ErrNotFound for an unknown participant.
func (s *Store) ForgetAll(ctx context.Context, f models.Forgetting) (int, error) {
	f.FactID = ""
	var facts int64
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockParticipant(tx, f.ParticipantID); err != nil {
			return err
		}
		var err error
		if facts, err = eraseFacts(tx, f); err != nil {
			return err
		}
		other, err := blankTexts(tx, f)
		if err != nil || facts+other == 0 {
			return err
		}
		return closeForgetting(tx, f, models.AuditRow{Action: "forget_all", Detail: strconv.FormatInt(facts, 10)})
	})
	if err != nil {
		return 0, fmt.Errorf("forgetting all facts: %w", err)
	}
	return int(facts), nil
}

// eraseFacts empties one fact, or all of them where none is named, and says how
// many there were.
func eraseFacts(tx *gorm.DB, f models.Forgetting) (int64, error) {
	facts := tx.Model(&factRow{}).Where("participant_id = ? AND deleted_at IS NULL", f.ParticipantID)
	versions := tx.Model(&models.FactVersion{}).Where("participant_id = ?", f.ParticipantID)
	if f.FactID != "" {
		facts, versions = facts.Where("id = ?", f.FactID), versions.Where("fact_id = ?", f.FactID)
	}
	at := database.Instant(f.At)
	res := facts.UpdateColumns(map[string]any{
		"kind": "", "text": "", "vector": []byte{}, "source_id": 0, "deleted_at": at, "updated_at": at,
	})
	if res.Error != nil {
		return 0, res.Error
	}
	return res.RowsAffected, versions.UpdateColumns(map[string]any{"kind": "", "text": "", "source_id": 0}).Error
}

// blankTexts empties notes and summary. The version rises, so that a text made from
// the old one is refused.
func blankTexts(tx *gorm.DB, f models.Forgetting) (int64, error) {
	var rows int64
	for _, model := range []any{&models.Note{}, &models.Summary{}} {
		res := tx.Model(model).Where("participant_id = ? AND text <> ''", f.ParticipantID).UpdateColumns(map[string]any{
			"text": "", "version": gorm.Expr("version + 1"), "updated_at": database.Instant(f.At),
		})
		if res.Error != nil {
			return 0, res.Error
		}
		rows += res.RowsAffected
	}
	return rows, nil
}

// topicChars is the least length of a word that tells what a fact is about.
const topicChars = 4

// cutTexts takes from notes and summary what speaks of a fact. Their versions rise,
// so that a text made from the old one is refused.
func cutTexts(tx *gorm.DB, f models.Forgetting, fact string) error {
	topic := slices.DeleteFunc(wordRuns(fact), func(word string) bool { return utf8.RuneCountInString(word) < topicChars })
	var notes []models.Note
	if err := tx.Where("participant_id = ?", f.ParticipantID).Find(&notes).Error; err != nil {
		return err
	}
	for _, note := range notes {
		text := keepOthers(note.Text, lineBreak, topic)
		if text == note.Text {
			continue
		}
		note.Text, note.Version, note.UpdatedAt = text, note.Version+1, database.Instant(f.At)
		if err := putRow(tx, &note, note.Version); err != nil {
			return err
		}
	}
	summary, err := summaryOf(tx, f.ParticipantID)
	if err != nil {
		return err
	}
	text := keepOthers(summary.Text, sentenceEnd, topic)
	if text == summary.Text {
		return nil
	}
	summary.Text, summary.Version, summary.UpdatedAt = text, summary.Version+1, database.Instant(f.At)
	return putRow(tx, &summary, summary.Version)
}

var (
	lineBreak   = regexp.MustCompile(`\n+`)
	sentenceEnd = regexp.MustCompile(`[.!?;\n]+\s*`)
)

// keepOthers leaves out the parts of a text, up to where each ends, that hold half
// of the words of a topic.
func keepOthers(body string, end *regexp.Regexp, topic []string) string {
	var kept strings.Builder
	for body != "" {
		size := len(body)
		if at := end.FindStringIndex(body); at != nil {
			size = at[1]
		}
		if !speaksOf(body[:size], topic) {
			kept.WriteString(body[:size])
		}
		body = body[size:]
	}
	return strings.TrimSpace(kept.String())
}

// speaksOf reports whether a text holds at least half of the words of a topic.
func speaksOf(body string, topic []string) bool {
	held := newTerms(wordRuns(body))
	hits := 0
	for _, word := range newTerms(topic) {
		if slices.ContainsFunc(held, func(other *term) bool { return word.shareWith(other) == 1 }) {
			hits++
		}
	}
	return hits > 0 && 2*hits >= len(topic)
}

// closeForgetting erases what stages kept for retries, and records who had what
// forgotten.
func closeForgetting(tx *gorm.DB, f models.Forgetting, audit models.AuditRow) error {
	turns := tx.Model(&models.Turn{}).Select("id").Where("participant_id = ?", f.ParticipantID)
	err := tx.Model(&models.Stage{}).Where("turn_id IN (?) AND input_hash <> ''", turns).
		UpdateColumns(map[string]any{"output": "", "input_hash": ""}).Error
	if err == nil {
		// Steps keep what was recalled for them.
		err = tx.Model(&models.Step{}).Where("turn_id IN (?)", turns).UpdateColumn("trace", "").Error
	}
	if err == nil {
		err = noteChange(tx, f.ParticipantID)
	}
	if err != nil {
		return err
	}
	audit.ParticipantID, audit.Actor, audit.At = f.ParticipantID, f.Actor, database.Instant(f.At)
	return database.AddAudit(tx, audit)
}
