package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// RequestKeys keeps what requests with an Idempotency-Key were answered.
type RequestKeys struct{ db *database.Database }

// OpenRequestKey returns the row of an earlier request with the same caller and
// key, or, where isNew, the row that this request is to claim. ErrKeyUsed when the
// earlier request was another one.
func (s *RequestKeys) OpenRequestKey(ctx context.Context, r models.KeyedRequest) (row models.RequestKey, isNew bool, err error) {
	row = models.RequestKey{
		ID: s.db.Index("request key " + r.Actor + " " + r.Key), RequestIndex: s.db.Index("request " + r.Request),
		RequestID: r.RequestID, ParticipantID: r.ParticipantID, CreatedAt: instant(r.At),
	}
	var rows []models.RequestKey
	err = s.db.Reader(ctx).Where("id = ? AND created_at > ?", row.ID, instant(r.At.Add(-models.RequestKeyLife))).Find(&rows).Error
	switch {
	case err != nil:
		return row, false, fmt.Errorf("looking for an earlier request: %w", classify(err))
	case len(rows) == 0:
		return row, true, nil
	case rows[0].RequestIndex != row.RequestIndex:
		return row, false, models.ErrKeyUsed
	}
	return rows[0], false, nil
}

// KeepAnswer keeps what a request was answered, unless another request has its key.
func (s *RequestKeys) KeepAnswer(ctx context.Context, row models.RequestKey) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		added, err := database.InsertRequestKey(tx, &row)
		if err != nil || added {
			return err
		}
		return tx.Where("request_id = ?", row.RequestID).Select("answer").UpdateColumns(&row).Error
	})
	return wrap.Error(err, "keeping an answer")
}
