package memory

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

// PutNote writes a note by itself. ErrNotFound also after removal.
func (s *Store) PutNote(ctx context.Context, note models.Note) error {
	if err := checkNote(note); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockEnrolled(tx, note.ParticipantID); err != nil {
			return err
		}
		return writeNote(tx, note)
	})
	if err != nil {
		return fmt.Errorf("writing note: %w", err)
	}
	return nil
}

// PutSummary writes a summary by itself. ErrNotFound also after removal.
func (s *Store) PutSummary(ctx context.Context, summary models.Summary) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockEnrolled(tx, summary.ParticipantID); err != nil {
			return err
		}
		return writeSummary(tx, summary)
	})
	if err != nil {
		return fmt.Errorf("writing summary: %w", err)
	}
	return nil
}
