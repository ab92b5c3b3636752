package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// MemoryQueue keeps the conversations that are to be closed, each by a turn.
type MemoryQueue struct{ db *database.Database }

// mostRests is how many times the rest a conversation without any is closed
// after, counted from its first turn.
const mostRests = 12

// QueueMemory notes that a conversation is to be closed once it has rested since
// the end of a turn. It takes the place of the person's earlier turns in the
// queue, so that a text moves the instant; who never rests is closed after
// twelve times that span. Safe to retry: a turn is queued once while it waits.
func (s *MemoryQueue) QueueMemory(ctx context.Context, job models.MemoryJob, rest time.Duration) error {
	ended := instant(job.QueuedAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var earlier []models.MemoryJob
		if err := forUpdate(tx).Where("participant_id = ?", job.ParticipantID).Find(&earlier).Error; err != nil {
			return err
		}
		row := models.MemoryJob{TurnID: job.TurnID, ParticipantID: job.ParticipantID, QueuedAt: ended}
		for _, other := range earlier {
			if other.TurnID == job.TurnID {
				return nil
			}
			if other.QueuedAt.Before(row.QueuedAt) {
				row.QueuedAt = other.QueuedAt
			}
		}
		row.ClaimedUntil = instant(ended.Add(rest))
		if last := row.QueuedAt.Add(mostRests * rest); last.Before(row.ClaimedUntil) {
			row.ClaimedUntil = instant(last)
		}
		if err := tx.Where("participant_id = ?", job.ParticipantID).Delete(&models.MemoryJob{}).Error; err != nil {
			return err
		}
		_, err := insertOnce(tx, &row)
		return err
	})
	return wrap.Errorf(err, "queueing %s to be remembered", job.TurnID)
}

// ClaimMemory returns turns whose conversation has rested and that no batch has,
// the oldest first, and gives them to the caller until the instant of the claim.
// Turns that are still there afterwards are claimed again.
func (s *MemoryQueue) ClaimMemory(ctx context.Context, c models.MemoryClaim) ([]string, error) {
	var waiting int64
	if err := s.db.Reader(ctx).Model(&models.MemoryJob{}).Where("claimed_until <= ?", instant(c.Now)).Limit(1).Count(&waiting).Error; err != nil {
		return nil, fmt.Errorf("counting turns to remember: %w", classify(err))
	}
	if waiting == 0 {
		return nil, nil // the usual case takes no write lock
	}
	var ids []string
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		ids = nil
		free := forUpdate(tx.Model(&models.MemoryJob{})).Where("claimed_until <= ?", instant(c.Now))
		if err := free.Order("queued_at, turn_id").Limit(c.Limit).Pluck("turn_id", &ids).Error; err != nil || len(ids) == 0 {
			return err
		}
		return tx.Model(&models.MemoryJob{}).Where("turn_id IN ?", ids).UpdateColumn("claimed_until", instant(c.Until)).Error
	})
	return ids, wrap.Error(err, "claiming turns to remember")
}

// QueuedMemory returns those of some turns that are still to be remembered, the
// oldest first.
func (s *MemoryQueue) QueuedMemory(ctx context.Context, turnIDs []string) ([]models.MemoryJob, error) {
	var jobs []models.MemoryJob
	err := s.db.Reader(ctx).Where("turn_id IN ?", turnIDs).Order("queued_at, turn_id").Find(&jobs).Error
	return jobs, wrap.Error(classify(err), "reading turns to remember")
}

// EndMemory takes a turn off the queue: it is remembered, or given up. Safe to
// repeat.
func (s *MemoryQueue) EndMemory(ctx context.Context, turnID string) error {
	err := s.db.WriteOne(ctx, func(rows *gorm.DB) error {
		return rows.Where("turn_id = ?", turnID).Delete(&models.MemoryJob{}).Error
	})
	return wrap.Errorf(err, "ending %s in the memory queue", turnID)
}
