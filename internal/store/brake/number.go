package brake

import (
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/store/attention"
	"coachline/models"
)

// Mark records that the carrier cannot reach a person's number, when that is
// what the refusal says: with an audit row once, and with attention, which is the
// operators' task. A person who has texted since the text was posted can be
// reached.
func Mark(tx *gorm.DB, p models.Participant, row models.Outbox, r models.Refusal) error {
	if r.Class != models.CarrierBadNumber || p.RemovedAt != nil {
		return nil
	}
	if row.AttemptedAt != nil {
		var later int64
		err := tx.Model(&models.Inbound{}).
			Where("participant_id = ? AND received_at > ? AND channel = ''", p.ID, database.Instant(*row.AttemptedAt)).Limit(1).Count(&later).Error
		if err != nil || later > 0 {
			return err
		}
	}
	now := database.Instant(r.Now)
	if p.UnreachableAt == nil {
		p.UnreachableAt, p.UnreachableCode = &now, r.Code
		if err := write(tx, p, now); err != nil {
			return err
		}
		if err := audit(tx, models.Audit{ParticipantID: p.ID, Action: "unreachable", Detail: r.Code, At: now}); err != nil {
			return err
		}
	}
	_, err := attention.Raise(tx, models.AttentionEntry{
		ParticipantID: p.ID, Kind: models.AttentionUnreachable, Ref: row.ID, Code: r.Code, RaisedAt: now,
	})
	return err
}

// Heard takes the mark and its attention away, in the row and in p, because the
// person texted.
func Heard(tx *gorm.DB, p *models.Participant, at time.Time) error {
	if p.UnreachableAt == nil {
		return nil
	}
	p.UnreachableAt, p.UnreachableCode = nil, ""
	if err := write(tx, *p, at); err != nil {
		return err
	}
	p.Version++
	return Reachable(tx, p, at)
}

// Reachable ends the attention that the mark called for, after the mark was taken
// away. p becomes the row as it is then.
func Reachable(tx *gorm.DB, p *models.Participant, at time.Time) error {
	ended, err := attention.End(tx, p, []models.Attention{models.AttentionUnreachable}, at)
	if err != nil || len(ended) > 0 {
		return err // the notice of the end tells of the mark as well
	}
	return attention.Tell(tx, p.ID, at)
}

// write saves the mark of a locked participant under a new version.
func write(tx *gorm.DB, p models.Participant, now time.Time) error {
	return tx.Model(&models.Participant{}).Where("id = ?", p.ID).UpdateColumns(map[string]any{
		"unreachable_at": p.UnreachableAt, "unreachable_code": p.UnreachableCode,
		"version": p.Version + 1, "updated_at": database.Instant(now),
	}).Error
}
