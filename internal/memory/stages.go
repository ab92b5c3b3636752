package memory

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// SaveStage records a stage of a turn. The first record of a number stays, so a
// retry is safe. ErrNotFound for an unknown turn.
func (s *Store) SaveStage(ctx context.Context, row models.Stage) error {
	row.CreatedAt = database.Instant(row.CreatedAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		_, err := database.InsertOnce(tx, &row)
		return err
	})
	return wrap.Error(err, "saving stage")
}

// StageBy returns the first stage of a turn with this name and input, so that a
// retry does not pay a model again. ErrNotFound when there is none, when its
// output was erased since, and for an empty hash.
func (s *Store) StageBy(ctx context.Context, turnID string, name models.StageName, inputHash string) (models.Stage, error) {
	var row models.Stage
	err := s.db.Reader(ctx).Where("turn_id = ? AND name = ? AND input_hash = ? AND input_hash <> ''", turnID, name, inputHash).
		Order("number").Take(&row).Error
	return row, wrap.Error(database.Classify(err), "reading stage")
}

// LastStep returns how the newest step of a person's turns before a turn's
// number came about, without its text, where it was answered at or after
// since. Daily prompts do not count: they are written outside a conversation.
// ErrNotFound when there is none.
func (s *Store) LastStep(ctx context.Context, participantID string, before int, since time.Time) (models.Step, error) {
	var row models.Step
	err := s.db.Reader(ctx).Select("steps.turn_id", "steps.number", "steps.trace", "steps.created_at").
		Joins("JOIN turns ON turns.id = steps.turn_id").
		Where("turns.participant_id = ? AND turns.number < ? AND turns.kind <> ? AND steps.created_at >= ?",
			participantID, before, wire.TurnPrompt, database.Instant(since)).
		Order("turns.number DESC, steps.number DESC").Take(&row).Error
	return row, wrap.Error(database.Classify(err), "reading step")
}

// Stages lists what ran in a turn, in order; none for an unknown turn.
func (s *Store) Stages(ctx context.Context, turnID string) ([]models.Stage, error) {
	var rows []models.Stage
	err := s.db.Reader(ctx).Where("turn_id = ?", turnID).Order("number").Find(&rows).Error
	return rows, wrap.Error(database.Classify(err), "listing stages")
}

// Capability returns what is known of a model at an endpoint; ErrNotFound when
// nothing is.
func (s *Store) Capability(ctx context.Context, model, endpoint string) (models.Capability, error) {
	var row models.Capability
	err := s.db.Reader(ctx).Where("model = ? AND endpoint = ?", model, endpoint).Take(&row).Error
	return row, wrap.Error(database.Classify(err), "reading capability")
}

// SaveCapability records what was learnt of a model at an endpoint, in place of
// what was learnt before; an older LearntAt than the stored one changes
// nothing. The endpoint must not hold a key. Safe to repeat.
func (s *Store) SaveCapability(ctx context.Context, row models.Capability) error {
	row.LearntAt = database.Instant(row.LearntAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "model"}, {Name: "endpoint"}},
			DoUpdates: clause.AssignmentColumns([]string{"protocol", "size", "context_tokens", "context_source", "characters_per_token", "tokens_per_second", "reason", "learnt_at"}),
			Where: clause.Where{Exprs: []clause.Expression{
				clause.Expr{SQL: "capabilities.learnt_at <= excluded.learnt_at"},
			}},
		}).Create(&row).Error
	})
	return wrap.Error(err, "saving capability")
}
