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

// LeftOutPrompts lists, the newest first and at most 200, the prompts of a span that were
// missed or have follow-ups that were left out, each with its participant. A name that
// cannot be opened with the payload keys is left empty.
func (s *People) LeftOutPrompts(ctx context.Context, q models.AgendaQuery) (out []models.LeftOutPrompt, err error) {
	err = s.db.Snapshot(database.AllowUnreadable(ctx), func(tx *gorm.DB) error {
		out = nil
		find := tx.Model(&models.Prompt{}).Joins("JOIN participants ON participants.id = prompts.participant_id AND participants.removed_at IS NULL").
			Where("target_at >= ? AND target_at < ? AND (prompts.state = ? OR prompts.left_out <> '')", instant(q.From), instant(q.Until), models.PromptMissed)
		if q.ParticipantID != "" {
			find = find.Where("participant_id = ?", q.ParticipantID)
		}
		if q.StudyID != "" {
			find = find.Where("participants.study_id = ?", q.StudyID)
		}
		var rows []models.Prompt
		if err := find.Order("target_at DESC, prompts.id DESC").Limit(maxPage).Find(&rows).Error; err != nil {
			return err
		}
		people, ids := map[string]models.Participant{}, []string{}
		for _, row := range rows {
			ids = append(ids, row.ParticipantID)
		}
		var found []models.Participant
		if err := tx.Select("id", "name", "timezone").Where("id IN ?", ids).Find(&found).Error; err != nil {
			return err
		}
		for _, p := range found {
			people[p.ID] = p
		}
		for _, row := range rows {
			out = append(out, models.LeftOutPrompt{Prompt: row, Participant: people[row.ParticipantID]})
		}
		return nil
	})
	return out, wrap.Error(classify(err), "reading what was left out")
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
	audit := models.AuditRow{ParticipantID: p.ID, Actor: byExpiry, Action: "update", Detail: "status,paused_until", At: now}
	audit.Before, audit.After = changedFields(old, changed), changedFields(p, changed)
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	if err := notifyChanges(tx, old, p, waiting, now); err != nil {
		return err
	}
	return waiting.settleWaiting(tx, p, by)
}
