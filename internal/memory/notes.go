package memory

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// checkNote returns a *models.FieldError for a date that is not YYYY-MM-DD.
func checkNote(note models.Note) error {
	if _, err := time.Parse(time.DateOnly, note.LocalDate); err != nil {
		return models.BadField("local_date", "must be YYYY-MM-DD")
	}
	return nil
}

// writeNote writes the note of a local day (a caller that adds to a note gives the whole
// text), whose participant is locked. Version is the one it was made from, 0 for the
// first of the day; models.ErrStale when the stored note is another or covers more of
// the conversation. A repeat of the write that made the stored note changes nothing, so
// a retry is safe.
func writeNote(tx *gorm.DB, note models.Note) error {
	var old models.Note
	err := tx.Where("participant_id = ? AND local_date = ?", note.ParticipantID, note.LocalDate).Take(&old).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return err
	}
	write, err := mustWrite(edition{old.Version, old.UptoMessage, old.Text}, edition{note.Version, note.UptoMessage, note.Text})
	if err != nil || !write {
		return err
	}
	note.Version, note.UpdatedAt = note.Version+1, database.Instant(note.UpdatedAt)
	if err := putRow(tx, &note, note.Version); err != nil {
		return err
	}
	return noteChange(tx, note.ParticipantID)
}

// writeSummary replaces the summary of what the conversation held before the window,
// whose participant is locked. Version, errors and repeats are those of writeNote.
func writeSummary(tx *gorm.DB, summary models.Summary) error {
	old, err := summaryOf(tx, summary.ParticipantID)
	if err != nil {
		return err
	}
	write, err := mustWrite(edition{old.Version, old.UptoMessage, old.Text}, edition{summary.Version, summary.UptoMessage, summary.Text})
	if err != nil || !write {
		return err
	}
	summary.Version, summary.UpdatedAt = summary.Version+1, database.Instant(summary.UpdatedAt)
	if err := putRow(tx, &summary, summary.Version); err != nil {
		return err
	}
	return noteChange(tx, summary.ParticipantID)
}

// edition is what a note and a summary have in common.
type edition struct {
	version int
	upto    int64
	text    string
}

// mustWrite reports whether a text is to be written over another one; it is not
// when it stands there already.
func mustWrite(old, next edition) (bool, error) {
	if next == (edition{old.version - 1, old.upto, old.text}) {
		return false, nil
	}
	if next.version != old.version || next.upto < old.upto {
		return false, models.ErrStale
	}
	return true, nil
}

// putRow writes a row whose participant is locked.
func putRow(tx *gorm.DB, row any, version int) error {
	if version == 1 {
		return tx.Create(row).Error
	}
	return tx.Select("*").UpdateColumns(row).Error
}

// Notes returns an enrolled participant's notes of the last n days that have
// one, newest first. ErrNotFound also after removal.
func (s *Store) Notes(ctx context.Context, participantID string, n int) ([]models.Note, error) {
	var rows []models.Note
	err := s.runReads(ctx, participantID, func(tx *gorm.DB) error {
		var err error
		rows, err = lastNotes(tx, participantID, n)
		return err
	})
	return rows, wrap.Error(err, "reading notes")
}

func lastNotes(tx *gorm.DB, participantID string, n int) ([]models.Note, error) {
	var rows []models.Note
	err := tx.Where("participant_id = ?", participantID).Order("local_date DESC").Limit(max(n, 0)).Find(&rows).Error
	return rows, err
}

// summaryOf is blank, of version 0, where there is none.
func summaryOf(tx *gorm.DB, participantID string) (models.Summary, error) {
	var row models.Summary
	err := tx.Where("participant_id = ?", participantID).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Summary{ParticipantID: participantID}, nil
	}
	return row, err
}
