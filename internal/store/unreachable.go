package store

import (
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// markUnreachable records that the carrier cannot reach a person's number, when that is
// what the refusal says: with an audit row once, and with attention, which is the
// operators' task. A person who has texted since the text was posted can be
// reached.
func markUnreachable(tx *gorm.DB, p models.Participant, row models.Outbox, r models.Refusal) error {
	if !r.Class.Spec().Unreachable || p.RemovedAt != nil {
		return nil
	}
	if row.AttemptedAt != nil {
		var later int64
		err := tx.Model(&models.Inbound{}).
			Where("participant_id = ? AND received_at > ? AND channel = ?", p.ID, database.Instant(*row.AttemptedAt), row.Channel).Limit(1).Count(&later).Error
		if err != nil || later > 0 {
			return err
		}
	}
	now := database.Instant(r.Now)
	if p.UnreachableAt == nil {
		p.UnreachableAt, p.UnreachableCode = &now, r.Code
		if err := writeReachability(tx, p, now); err != nil {
			return err
		}
		if err := addCarrierAudit(tx, models.Audit{ParticipantID: p.ID, Action: "unreachable", Detail: r.Code, At: now}); err != nil {
			return err
		}
	}
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: p.ID, Kind: wire.AttentionUnreachable, Ref: row.ID, Code: r.Code, RaisedAt: now,
	})
	return err
}

// clearUnreachableOnText takes the mark and its attention away, in the row and in p, because the
// person texted.
func clearUnreachableOnText(tx *gorm.DB, p *models.Participant, at time.Time) error {
	if p.UnreachableAt == nil {
		return nil
	}
	p.UnreachableAt, p.UnreachableCode = nil, ""
	if err := writeReachability(tx, *p, at); err != nil {
		return err
	}
	p.Version++
	return endUnreachable(tx, p, at)
}

// endUnreachable ends the attention that the mark called for, after the mark was taken
// away. p becomes the row as it is then.
func endUnreachable(tx *gorm.DB, p *models.Participant, at time.Time) error {
	ended, err := endAttention(tx, p, []wire.Attention{wire.AttentionUnreachable}, at)
	if err != nil || len(ended) > 0 {
		return err // the notice of the end tells of the mark as well
	}
	return tellAttention(tx, p.ID, at)
}

// writeReachability saves the mark of a locked participant under a new version.
func writeReachability(tx *gorm.DB, p models.Participant, now time.Time) error {
	return tx.Model(&models.Participant{}).Where("id = ?", p.ID).UpdateColumns(map[string]any{
		"unreachable_at": p.UnreachableAt, "unreachable_code": p.UnreachableCode,
		"version": p.Version + 1, "updated_at": database.Instant(now),
	}).Error
}
