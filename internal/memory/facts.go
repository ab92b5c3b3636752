package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// factRow is a fact with the vector of its text, which only searches need.
type factRow struct {
	models.Fact
	Vector []byte `gorm:"serializer:sealed"`
	// VectorModel made the vector; empty for one of before this was kept, and for none.
	VectorModel string
}

// TableName returns the table that gorm keeps these rows in.
func (factRow) TableName() string { return "facts" }

// SaveFact adds a fact under the next id of its participant (f1, f2, ...; no id
// is given out twice) and returns the row as stored. TurnID and CreatedAt are
// required; a nil vector leaves the fact to searches by words.
//
// A turn stores one fact: a second call for the same TurnID writes nothing and
// returns the fact of the first, in its newest version and with DeletedAt when
// it was forgotten since, so a retry is safe. *models.DuplicateFactError when a
// fact of the person has the same words or a similarity of at least 0.95,
// models.ErrMemoryFull at 500 facts, *models.FieldError for a blank text or an
// unknown kind, ErrNotFound also after removal.
func (s *Store) SaveFact(ctx context.Context, fact models.Fact, vector []float32) (models.Fact, error) {
	if fact.CreatedAt.IsZero() {
		return models.Fact{}, models.BadField("created_at", "is required")
	}
	row, err := s.checkFact(fact, vector)
	if err != nil {
		return models.Fact{}, err
	}
	row.Version, row.CreatedAt, row.DeletedAt = 1, database.Instant(fact.CreatedAt), nil
	row.UpdatedAt = row.CreatedAt
	var out models.Fact
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockEnrolled(tx, fact.ParticipantID); err != nil {
			return err
		}
		kept, err := savedBy(tx, fact.ParticipantID, fact.TurnID)
		if !errors.Is(err, gorm.ErrRecordNotFound) {
			out = kept
			return err
		}
		out, err = insertFact(tx, row)
		return err
	})
	return out, wrap.Error(err, "saving fact")
}

func (s *Store) checkFact(fact models.Fact, vector []float32) (factRow, error) {
	switch {
	case strings.TrimSpace(fact.Text) == "":
		return factRow{}, models.BadField("text", "is required")
	case !slices.Contains(models.FactKinds(), fact.Kind):
		return factRow{}, models.BadField("kind", "must be one of %v", models.FactKinds())
	case fact.TurnID == "":
		return factRow{}, models.BadField("turn_id", "is required")
	}
	packed, err := packVector(vector)
	row := factRow{Fact: fact, Vector: packed}
	if len(packed) > 0 {
		row.VectorModel = s.embedding
	}
	return row, err
}

// savedBy finds the fact whose first version a turn stored.
func savedBy(tx *gorm.DB, participantID, turnID string) (models.Fact, error) {
	first := tx.Model(&models.FactVersion{}).Select("fact_id").
		Where("participant_id = ? AND turn_id = ? AND version = 1", participantID, turnID)
	var row factRow
	err := tx.Omit("vector").Where("participant_id = ?", participantID).
		Where("version = 1 AND turn_id = ? OR id IN (?)", turnID, first).Take(&row).Error
	return row.Fact, err
}

// insertFact gives a row its id and writes it; the caller holds the
// participant's lock.
func insertFact(tx *gorm.DB, row factRow) (models.Fact, error) {
	facts, err := currentFacts(tx, row.ParticipantID)
	if err != nil {
		return models.Fact{}, err
	}
	if id, found := findDuplicate(facts, row); found {
		return models.Fact{}, &models.DuplicateFactError{FactID: id}
	}
	if len(facts) >= maxFacts {
		return models.Fact{}, models.ErrMemoryFull
	}
	var before int64
	err = tx.Model(&models.Fact{}).Where("participant_id = ?", row.ParticipantID).Count(&before).Error
	if err != nil {
		return models.Fact{}, err
	}
	row.ID = fmt.Sprintf("f%d", before+1)
	if err := tx.Create(&row).Error; err != nil {
		return models.Fact{}, err
	}
	return row.Fact, noteChange(tx, row.ParticipantID)
}

// noteChange tells readers that keep a copy that something has changed.
func noteChange(tx *gorm.DB, participantID string) error {
	return tx.Model(&models.Participant{}).Where("id = ?", participantID).
		UpdateColumn("memory_version", gorm.Expr("memory_version + 1")).Error
}

// currentFacts reads a participant's facts that were not forgotten, newest
// first. Facts of one instant have the later one first, by the number in the
// id.
func currentFacts(tx *gorm.DB, participantID string) ([]factRow, error) {
	var rows []factRow
	err := tx.Where("participant_id = ? AND deleted_at IS NULL", participantID).
		Order("updated_at DESC, length(id) DESC, id DESC").Limit(maxFacts).Find(&rows).Error
	return rows, err
}

func plainFacts(rows []factRow) []models.Fact {
	out := make([]models.Fact, 0, len(rows))
	for _, row := range rows {
		out = append(out, row.Fact)
	}
	return out
}

// UpdateFact gives a fact a new text and returns the row as stored; what it
// said before stays in its history. ID, ParticipantID, Text, TurnID and
// UpdatedAt are required; an empty Kind keeps the old one. The vector belongs
// to the new text, so a nil one leaves the fact to searches by words.
//
// A turn changes a fact once: a second call for the same TurnID returns the
// fact and writes nothing, so a retry is safe; nor does a change that changes
// nothing. *models.FieldError as in SaveFact. ErrNotFound for a fact that is
// unknown, of another participant or forgotten, and after removal.
func (s *Store) UpdateFact(ctx context.Context, change models.Fact, vector []float32) (models.Fact, error) {
	if change.UpdatedAt.IsZero() {
		return models.Fact{}, models.BadField("updated_at", "is required")
	}
	var out models.Fact
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := database.LockEnrolled(tx, change.ParticipantID); err != nil {
			return err
		}
		old, err := factOf(tx, change.ParticipantID, change.ID)
		if err != nil {
			return err
		}
		if change.Kind == "" {
			change.Kind = old.Kind
		}
		row, err := s.checkFact(change, vector)
		if err != nil {
			return err
		}
		out = old
		done, err := changedBy(tx, old, change.TurnID)
		if err != nil || done || old.Text == row.Text && old.Kind == row.Kind {
			return err
		}
		row.Version, row.CreatedAt, row.DeletedAt = old.Version+1, old.CreatedAt, nil
		row.UpdatedAt = database.Instant(change.UpdatedAt)
		out = row.Fact
		if err := replaceFact(tx, old, row); err != nil {
			return err
		}
		return noteChange(tx, row.ParticipantID)
	})
	return out, wrap.Error(err, "updating fact")
}

func factOf(tx *gorm.DB, participantID, id string) (models.Fact, error) {
	var row factRow
	err := tx.Omit("vector").
		Where("participant_id = ? AND id = ? AND deleted_at IS NULL", participantID, id).Take(&row).Error
	return row.Fact, err
}

// changedBy reports whether a version after the first is this turn's.
func changedBy(tx *gorm.DB, fact models.Fact, turnID string) (bool, error) {
	if fact.Version > 1 && fact.TurnID == turnID {
		return true, nil
	}
	var count int64
	err := tx.Model(&models.FactVersion{}).
		Where("participant_id = ? AND fact_id = ? AND turn_id = ? AND version > 1", fact.ParticipantID, fact.ID, turnID).
		Count(&count).Error
	return count > 0, err
}

func replaceFact(tx *gorm.DB, old models.Fact, row factRow) error {
	before := versionOf(old)
	if err := tx.Create(&before).Error; err != nil {
		return err
	}
	return tx.Select("*").UpdateColumns(&row).Error
}

func versionOf(fact models.Fact) models.FactVersion {
	return models.FactVersion{
		FactID: fact.ID, ParticipantID: fact.ParticipantID, Version: fact.Version, Kind: fact.Kind, Text: fact.Text,
		SourceID: fact.SourceID, TurnID: fact.TurnID, At: fact.UpdatedAt,
	}
}

// Facts lists an enrolled participant's facts, newest first, without forgotten
// ones; at most 500. ErrNotFound also after removal.
func (s *Store) Facts(ctx context.Context, participantID string) ([]models.Fact, error) {
	var rows []factRow
	err := s.runReads(ctx, participantID, func(tx *gorm.DB) error {
		var err error
		rows, err = currentFacts(tx.Omit("vector"), participantID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing facts: %w", err)
	}
	return plainFacts(rows), nil
}

// History returns all versions of a fact, the current one first; At is when a
// version was stored. ErrNotFound for a fact that is unknown, of another
// participant or forgotten, and after removal.
func (s *Store) History(ctx context.Context, participantID, factID string) ([]models.FactVersion, error) {
	var out []models.FactVersion
	err := s.runReads(ctx, participantID, func(tx *gorm.DB) error {
		fact, err := factOf(tx, participantID, factID)
		if err != nil {
			return err
		}
		var before []models.FactVersion
		err = tx.Where("participant_id = ? AND fact_id = ?", participantID, factID).Order("version DESC").Find(&before).Error
		out = append([]models.FactVersion{versionOf(fact)}, before...)
		return err
	})
	return out, wrap.Error(err, "reading history of fact")
}
