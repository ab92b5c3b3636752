package memory

import (
	"context"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// isForeign reports whether the vector of a fact is known to be another model's.
func (s *Store) isForeign(row factRow) bool {
	return s.embedding != "" && row.VectorModel != "" && row.VectorModel != s.embedding
}

// FactsWithoutVector lists at most limit facts of an enrolled participant that have no
// vector of the model in use, newest first; none where the process makes no vectors.
// ErrNotFound also after removal.
func (s *Store) FactsWithoutVector(ctx context.Context, participantID string, limit int) ([]models.Fact, error) {
	if s.embedding == "" {
		return nil, nil
	}
	var rows []factRow
	err := s.runReads(ctx, participantID, func(tx *gorm.DB) error {
		var err error
		rows, err = currentFacts(tx.Omit("vector").Where("vector_model <> ?", s.embedding), participantID)
		return err
	})
	return plainFacts(rows[:min(len(rows), limit)]), wrap.Error(err, "listing facts without a vector")
}

// KeepVectors stores vectors of facts, one for each, for the model in use. A fact that was
// changed or forgotten meanwhile keeps what it has, and so does one that another worker has
// given a vector, so a retry is safe. ErrNotFound also after removal.
func (s *Store) KeepVectors(ctx context.Context, participantID string, facts []models.Fact, vectors [][]float32) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockEnrolled(tx, participantID); err != nil {
			return err
		}
		for i, fact := range facts {
			packed, err := packVector(vectors[i])
			if err != nil {
				return err
			}
			row := factRow{Fact: models.Fact{ID: fact.ID, ParticipantID: participantID}, Vector: packed, VectorModel: s.embedding}
			kept := tx.Model(&row).Select("vector", "vector_model").
				Where("version = ? AND vector_model <> ? AND deleted_at IS NULL", fact.Version, s.embedding).UpdateColumns(&row)
			if kept.Error != nil {
				return kept.Error
			}
		}
		return nil
	})
	return wrap.Error(err, "keeping vectors")
}
