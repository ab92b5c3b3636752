package brake

import (
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/carrier"
	"coachline/models/operator"
)

// Mark records that the carrier cannot reach a person's number, when that is
// what the refusal says: once, with an audit row, which is the operators' task.
// Whoever has texted since the text was posted can be reached.
func Mark(tx *gorm.DB, p models.Participant, row models.Outbox, r carrier.Refusal) error {
	if r.Class != models.CarrierBadNumber || p.UnreachableAt != nil || p.RemovedAt != nil {
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
	p.UnreachableAt, p.UnreachableCode = &now, r.Code
	if err := write(tx, p, now); err != nil {
		return err
	}
	return audit(tx, operator.Audit{ParticipantID: p.ID, Action: "unreachable", Detail: r.Code, At: now})
}

// Heard takes the mark away, in the row and in p, because the person texted.
func Heard(tx *gorm.DB, p *models.Participant, at time.Time) error {
	if p.UnreachableAt == nil {
		return nil
	}
	p.UnreachableAt, p.UnreachableCode = nil, ""
	if err := write(tx, *p, at); err != nil {
		return err
	}
	p.Version++
	return nil
}

// write saves the mark of a locked participant under a new version.
func write(tx *gorm.DB, p models.Participant, now time.Time) error {
	return tx.Model(&models.Participant{}).Where("id = ?", p.ID).UpdateColumns(map[string]any{
		"unreachable_at": p.UnreachableAt, "unreachable_code": p.UnreachableCode,
		"version": p.Version + 1, "updated_at": database.Instant(now),
	}).Error
}
