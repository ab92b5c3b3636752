package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/models"
)

// PendingNotices returns undelivered notices written before createdBefore, in
// the order of their ids, at most limit of them.
func (s *Store) PendingNotices(ctx context.Context, createdBefore time.Time, limit int) ([]models.Notice, error) {
	var rows []models.Notice
	err := s.reader(ctx).Where("delivered_at IS NULL AND created_at < ?", createdBefore).
		Order("id").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading notices: %w", classify(err))
	}
	return rows, nil
}

// ParticipantNotices returns one participant's undelivered notices in the
// order of their ids, also after removal.
func (s *Store) ParticipantNotices(ctx context.Context, participantID string) ([]models.Notice, error) {
	var rows []models.Notice
	err := s.reader(ctx).Where("delivered_at IS NULL AND participant_id = ?", participantID).
		Order("id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading notices: %w", classify(err))
	}
	return rows, nil
}

// NoticesDelivered marks notices as delivered. Safe to repeat: the first
// instant stays.
func (s *Store) NoticesDelivered(ctx context.Context, ids []int64, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.writeOne(ctx, func(rows *gorm.DB) error {
		return rows.Model(&models.Notice{}).Where("id IN ? AND delivered_at IS NULL", ids).
			UpdateColumn("delivered_at", at).Error
	})
	if err != nil {
		return fmt.Errorf("marking notices: %w", err)
	}
	return nil
}

// RecordAudit writes one audit row. Detail must hold no personal data.
func (s *Store) RecordAudit(ctx context.Context, row models.Audit) error {
	err := s.write(ctx, func(tx *gorm.DB) error { return tx.Create(&row).Error })
	if err != nil {
		return fmt.Errorf("writing audit: %w", err)
	}
	return nil
}

// notify writes a notice in the transaction that makes it true and returns
// its id.
func notify(tx *gorm.DB, n models.Notice) (int64, error) {
	err := tx.Create(&n).Error
	return n.ID, err
}
