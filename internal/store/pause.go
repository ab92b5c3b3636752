package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// ExpirePause resumes a participant whose pause has come to its end; texts that
// wait are answered as when an operator resumes without a choice. Where the end
// has been put off it returns the new one, and zero otherwise. Safe to retry.
func (s *People) ExpirePause(ctx context.Context, in wire.PauseEnd) (until time.Time, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		until = time.Time{}
		p, err := lockParticipant(tx, in.ParticipantID)
		if err != nil {
			return err
		}
		end := p.PauseEndsAt()
		switch {
		case p.RemovedAt != nil || end == nil:
			return nil
		case end.After(in.Now):
			until = *end
			return nil
		}
		return endPause(tx, p, instant(in.Now))
	})
	return until, wrap.Error(err, "ending the pause")
}

// EndingPauses lists the people whose pause ends by itself in a span of time, the
// earliest first, at most 200. A name that cannot be opened with the payload keys is
// left empty.
func (s *People) EndingPauses(ctx context.Context, q models.AgendaQuery) ([]models.Participant, error) {
	find := s.db.Reader(database.AllowUnreadable(ctx)).
		Where("removed_at IS NULL AND status = ? AND paused_until >= ? AND paused_until < ?", wire.StatusPaused, instant(q.From), instant(q.Until))
	if q.ParticipantID != "" {
		find = find.Where("id = ?", q.ParticipantID)
	}
	if q.StudyID != "" {
		find = find.Where("study_id = ?", q.StudyID)
	}
	var rows []models.Participant
	err := find.Order("paused_until, id").Limit(maxPage).Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading the pauses that end")
}

// endPause resumes a participant whose row is locked.
func endPause(tx *gorm.DB, old models.Participant, now time.Time) error {
	p, changed := old, []string{"status", "paused_until"}
	p.Status, p.PausedUntil = wire.StatusActive, nil
	by := models.ParticipantUpdate{ID: p.ID, Actor: byExpiry, Now: now}
	waiting, err := waitingFor(tx, old, p, by)
	if err != nil {
		return err
	}
	if err := saveParticipant(tx, &p, now); err != nil {
		return err
	}
	audit := models.Audit{ParticipantID: p.ID, Actor: byExpiry, Action: "update", Detail: "status,paused_until", At: now}
	audit.Before, audit.After = changedFields(old, changed), changedFields(p, changed)
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	if err := notifyChanges(tx, old, p, waiting, now); err != nil {
		return err
	}
	return waiting.settleWaiting(tx, p, by)
}
