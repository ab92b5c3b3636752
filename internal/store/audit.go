package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coachline/internal/database"
	"coachline/models"
)

// Audit keeps who did what, in a chain of which no row can be taken out.
type Audit struct{ db *database.Database }

// AuditRows returns a page of the audit, newest first, with what each row
// changed. A limit outside 1..200 counts as 200. Texts that cannot be opened are
// left out.
func (s *Audit) AuditRows(ctx context.Context, q models.AuditQuery) ([]models.AuditRow, error) {
	find := s.db.Reader(database.AllowUnreadable(ctx)).Order("id DESC").Limit(pageLimit(q.Limit))
	if q.ParticipantID != "" {
		find = find.Where("participant_id = ?", q.ParticipantID)
	}
	if q.Actor != "" {
		find = find.Where("actor = ?", q.Actor)
	}
	if q.Action != "" {
		find = find.Where("action = ?", q.Action)
	}
	if !q.Since.IsZero() {
		find = find.Where("at >= ?", instant(q.Since))
	}
	if !q.Until.IsZero() {
		find = find.Where("at < ?", instant(q.Until))
	}
	if q.BeforeID > 0 {
		find = find.Where("id < ?", q.BeforeID)
	}
	var rows []models.AuditRow
	if err := find.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("reading the audit: %w", classify(err))
	}
	for i := range rows {
		if rows[i].Change == "" {
			continue
		}
		var change models.AuditChange
		if err := json.Unmarshal([]byte(rows[i].Change), &change); err != nil {
			return nil, fmt.Errorf("decoding audit row %d: %w", rows[i].ID, err)
		}
		rows[i].Before, rows[i].After = change.Before, change.After
	}
	return rows, nil
}

// CheckNewAudit checks what is new in the audit since the last check of any
// process, and once a day, in one process, the whole chain.
func (s *Audit) CheckNewAudit(ctx context.Context, now time.Time) (models.AuditChain, error) {
	return s.db.CheckNewAudit(ctx, now)
}

// CheckAudit reads the whole chain of the audit and says whether it is unbroken.
func (s *Audit) CheckAudit(ctx context.Context) (models.AuditChain, error) {
	return s.db.CheckAudit(ctx)
}
