package store

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// CheckNumbers returns those of some messages that are new although the workflow has
// seen their numbers, oldest first: a replica without the last commits has taken over,
// and gives numbers out again. From then on numbers go on behind those of the workflow,
// and attention is raised. Messages that were delivered again are left out. Safe to
// retry.
func (s *Turns) CheckNumbers(ctx context.Context, in wire.NumberCheck) ([]wire.InboxItem, error) {
	var fresh []wire.InboxItem
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		fresh = nil
		p, err := lockParticipant(tx, in.ParticipantID)
		if err != nil {
			return err
		}
		unanswered, err := waitingTexts(tx, p.ID, in.LastSeq)
		if err != nil {
			return err
		}
		for _, item := range unanswered {
			came := slices.ContainsFunc(in.Repeated, func(r wire.InboxItem) bool { return r.MessageID == item.MessageID && r.Seq == item.Seq })
			if came && !slices.Contains(in.Held, item.MessageID) {
				fresh = append(fresh, item)
			}
		}
		if len(fresh) == 0 && p.NextSeq > in.LastSeq {
			return nil
		}
		return goOnBehind(tx, p, in)
	})
	return fresh, wrap.Error(err, "checking numbers")
}

// goOnBehind has messages and notices numbered behind those that the workflow has seen.
func goOnBehind(tx *gorm.DB, p models.Participant, in wire.NumberCheck) error {
	if p.NextSeq <= in.LastSeq {
		if err := tx.Model(&models.Participant{}).Where("id = ?", p.ID).UpdateColumn("next_seq", in.LastSeq+1).Error; err != nil {
			return err
		}
	}
	if err := skipNotices(tx, in.LastNotice); err != nil {
		return err
	}
	return raiseLostRows(tx, p.ID, in.Now)
}

// raiseLostRows has an operator look at a person of whom the database has lost something.
func raiseLostRows(tx *gorm.DB, participantID string, now time.Time) error {
	_, err := raiseAttention(tx, models.AttentionEntry{ParticipantID: participantID, Kind: wire.AttentionLostRows, RaisedAt: now})
	return err
}

// mostSkipped bounds how many numbers of notices are skipped: no replica lags so far.
const mostSkipped = 10_000

// skipNotices takes the numbers of notices that were given out before. SQLite has no
// replicas.
func skipNotices(tx *gorm.DB, last int64) error {
	if !database.IsPostgres(tx) {
		return nil
	}
	return tx.Exec("SELECT nextval(pg_get_serial_sequence('notices', 'id')) FROM generate_series(1, LEAST(?, ? - (SELECT COALESCE(max(id), 0) FROM notices)))",
		mostSkipped, last).Error
}
