package memory

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// CloseConversation stores what a conversation came to in one transaction: facts,
// the note of its day, a summary. models.ErrStale when the person's memory has
// changed since it was read, by a forgetting too; then nothing is stored, and the
// conversation is to be read again. What a write made is such a change, so
// nothing is stored twice. A fact that says what another one says, that is gone or
// has no space is left out. *models.FieldError as in SaveFact, and for the date of a note,
// ErrNotFound also after removal.
func (s *Store) CloseConversation(ctx context.Context, c models.Closing) error {
	if err := checkNote(c.Note); err != nil {
		return fmt.Errorf("closing conversation: %w", err)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		person, err := database.LockEnrolled(tx, c.ParticipantID)
		if err != nil {
			return err
		}
		if person.MemoryVersion != c.MemoryVersion {
			return models.ErrStale
		}
		for _, change := range c.Facts {
			if err := s.changeFact(tx, change); err != nil {
				return err
			}
		}
		if c.Summary != nil {
			if err := writeSummary(tx, *c.Summary); err != nil {
				return err
			}
		}
		return writeNote(tx, c.Note)
	})
	return wrap.Error(err, "closing conversation")
}

// changeFact saves a fact or changes one; the caller holds the participant's lock.
func (s *Store) changeFact(tx *gorm.DB, change models.FactChange) error {
	var err error
	if change.Fact.ID == "" {
		err = s.addFact(tx, change)
	} else {
		err = s.rewriteFact(tx, change)
	}
	var duplicate *models.DuplicateFactError
	if errors.As(err, &duplicate) || errors.Is(err, models.ErrMemoryFull) || errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	return err
}

func (s *Store) addFact(tx *gorm.DB, change models.FactChange) error {
	row, err := s.checkFact(change.Fact, change.Vector)
	if err != nil {
		return err
	}
	row.Version, row.CreatedAt, row.UpdatedAt = 1, database.Instant(row.CreatedAt), database.Instant(row.CreatedAt)
	_, err = insertFact(tx, row)
	return err
}

func (s *Store) rewriteFact(tx *gorm.DB, change models.FactChange) error {
	old, err := factOf(tx, change.Fact.ParticipantID, change.Fact.ID)
	if err != nil {
		return err
	}
	row, err := s.checkFact(change.Fact, change.Vector)
	if err != nil {
		return err
	}
	row.Version, row.CreatedAt, row.UpdatedAt = old.Version+1, old.CreatedAt, database.Instant(row.UpdatedAt)
	if err := replaceFact(tx, old, row); err != nil {
		return err
	}
	return noteChange(tx, row.ParticipantID)
}
