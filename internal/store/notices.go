package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// Notices keeps what is to be told to the workflows.
type Notices struct{ db *database.Database }

// startAhead is how long before a greeting the participant's workflow is started.
const startAhead = time.Minute

// PendingNotices returns undelivered notices written before createdBefore, at most limit
// of them: those of texts first, those that may ask for answers to texts that waited last,
// each in the order of their ids. The
// start of a participant whose greeting is more than startAhead away is left out, so
// that an import starts its workflows one by one; what comes for the participant before
// then brings the start with it.
func (s *Notices) PendingNotices(ctx context.Context, createdBefore time.Time, limit int) ([]models.Notice, error) {
	var rows []models.Notice
	err := s.db.Reader(ctx).Where("delivered_at IS NULL AND created_at < ?", createdBefore).
		Where("kind <> ? OR NOT EXISTS (SELECT 1 FROM participants WHERE participants.id = notices.participant_id AND greeting_at > ?)",
			models.NoticeStart, instant(createdBefore.Add(startAhead))).
		Order(clause.OrderBy{Expression: clause.Expr{SQL: "CASE WHEN kind IN ? THEN 0 WHEN kind IN ? THEN 2 ELSE 1 END, +id", Vars: []any{models.MessageNotices(), []models.NoticeKind{models.NoticeResume, models.NoticeHandBack}}}}).
		Limit(limit).Find(&rows).Error // sorts what waits; the order of ids would read every notice
	return rows, wrap.Error(classify(err), "reading notices")
}

// Untold returns one participant's undelivered notices in the order of their ids,
// and the participant as of after them, removed or not; nothing where there are none.
func (s *Notices) Untold(ctx context.Context, participantID string) (p models.Participant, notices []models.Notice, err error) {
	rows := s.db.Reader(ctx)
	err = rows.Where("delivered_at IS NULL AND participant_id = ?", participantID).Order("id").Find(&notices).Error
	if err == nil && len(notices) > 0 {
		err = rows.Where("id = ?", participantID).Take(&p).Error
	}
	return p, notices, wrap.Error(classify(err), "reading notices")
}

// NoticesDelivered marks notices as delivered. Safe to repeat: the first
// instant stays.
func (s *Notices) NoticesDelivered(ctx context.Context, ids []int64, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.db.WriteOne(ctx, func(rows *gorm.DB) error {
		return rows.Model(&models.Notice{}).Where("id IN ? AND delivered_at IS NULL", ids).
			UpdateColumn("delivered_at", at).Error
	})
	return wrap.Error(err, "marking notices")
}

// RecordAudit writes one audit row. Detail must hold no personal data.
func (s *Audit) RecordAudit(ctx context.Context, row models.AuditRow) error {
	// What the row says is done elsewhere, so that it claims no Idempotency-Key.
	origin := models.OriginOf(ctx)
	origin.Claim = nil
	err := s.db.Write(models.WithOrigin(ctx, origin), func(tx *gorm.DB) error { return database.AddAudit(tx, row) })
	return wrap.Error(err, "writing audit")
}

// insertNotice writes a notice in the transaction that makes it true and
// returns its id.
func insertNotice(tx *gorm.DB, n models.Notice) (int64, error) {
	err := tx.Create(&n).Error
	return n.ID, err
}
