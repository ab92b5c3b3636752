package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

const (
	// probeEvery is the time in which one text goes out although a brake holds,
	// once the brake's own time is over.
	probeEvery = 10 * time.Minute
	// lookMost bounds how long a text waits before it asks again, so that a
	// brake which an operator releases is noticed.
	lookMost  = 5 * time.Minute
	lookLeast = time.Second
)

const carrierActor = "carrier"

// senderWait returns how long a text that may go has to wait before it asks again, between
// a second and five minutes; 0 lets it go. When a brake's time is over, one text
// passes as a probe, and the others wait for what becomes of it.
func (s *Store) senderWait(tx *gorm.DB, now time.Time) (time.Duration, error) {
	held, err := ofSender.Find(tx, s.sender)
	if err != nil || len(held) == 0 {
		return 0, err
	}
	now = database.Instant(now)
	if held[0].UntilAt.After(now) {
		return min(max(held[0].UntilAt.Sub(now), lookLeast), lookMost), nil
	}
	res := tx.Model(&models.SenderHold{}).Where("sender = ? AND until_at = ?", s.sender, database.Instant(held[0].UntilAt)).
		UpdateColumn("until_at", now.Add(probeEvery))
	if res.Error != nil || res.RowsAffected > 0 {
		return 0, res.Error
	}
	return lookMost, nil // another text is the probe
}

var ofSender = database.Select[models.SenderHold]("sender = ?")

// HoldSender sets the brake, where the refusal asks for one, in a transaction
// of its own. Safe to repeat: a brake that holds is only prolonged. ErrNotFound
// for an unknown text.
func (s *Store) HoldSender(ctx context.Context, r models.Refusal) error {
	var set *models.SenderHold
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row models.Outbox
		err := tx.Select("id", "participant_id").Where("id = ?", r.OutboxID).Take(&row).Error
		if err != nil {
			return err
		}
		set, err = s.setSenderHold(tx, row.ParticipantID, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("holding the sender: %w", err)
	}
	s.logSenderHold(set)
	return nil
}

// setSenderHold is HoldSender within a transaction. It returns a brake that was not set
// before, for Alert to tell of once the transaction is through.
func (s *Store) setSenderHold(tx *gorm.DB, participantID string, r models.Refusal) (*models.SenderHold, error) {
	until, stops := s.holdUntil(r)
	if !stops {
		return nil, nil
	}
	row := models.SenderHold{
		Sender: s.sender, Class: r.Class, Code: r.Code, OutboxID: r.OutboxID, Reported: r.Reported,
		SetAt: database.Instant(r.Now), RefusedAt: database.Instant(r.Now), UntilAt: database.Instant(until),
	}
	added, err := database.InsertOnce(tx, &row)
	if err != nil {
		return nil, err
	}
	if added {
		return &row, addCarrierAudit(tx, models.Audit{ParticipantID: participantID, Action: "brake", Detail: string(r.Class) + " " + r.Code, At: r.Now})
	}
	return nil, tx.Select("class", "code", "outbox_id", "reported", "refused_at", "until_at").UpdateColumns(&row).Error
}

// logSenderHold tells operators of a new brake; nil is none.
func (s *Store) logSenderHold(set *models.SenderHold) {
	if set == nil {
		return
	}
	s.log.Error("the carrier stops the sender: texts wait",
		"class", string(set.Class), "code", set.Code, "outbox", set.OutboxID, "until", set.UntilAt)
}

// liftSenderHold ends the brake when a text that was posted after the last refusal went
// well. Where the refusal came as a report, and not at once, the carrier's
// taking a text proves nothing; its delivery does.
func (s *Store) liftSenderHold(tx *gorm.DB, row models.Outbox) error {
	if row.AttemptedAt == nil {
		return nil
	}
	find := tx.Where("sender = ? AND refused_at < ?", s.sender, database.Instant(*row.AttemptedAt))
	switch row.Status {
	case models.OutboxReady, models.OutboxSending, models.OutboxUnknown, models.OutboxUndelivered, models.OutboxFailed, models.OutboxCanceled:
		return nil
	case models.OutboxAccepted, models.OutboxQueued, models.OutboxSent:
		find = find.Where("reported = ? OR class = ?", false, models.CarrierWindow)
	case models.OutboxDelivered, models.OutboxRead:
	}
	res := find.Delete(&models.SenderHold{})
	if res.Error != nil || res.RowsAffected == 0 {
		return res.Error
	}
	now := row.UpdatedAt
	return addCarrierAudit(tx, models.Audit{ParticipantID: row.ParticipantID, Action: "brake_lifted", At: now})
}

// SenderBrake returns the brake that holds; ok is false when there is none.
func (s *Store) SenderBrake(ctx context.Context) (held models.SenderHold, ok bool, err error) {
	var rows []models.SenderHold
	if err := s.reader(ctx).Where("sender = ?", s.sender).Limit(1).Find(&rows).Error; err != nil {
		return held, false, fmt.Errorf("reading the brake: %w", err)
	}
	if len(rows) == 0 {
		return held, false, nil
	}
	return rows[0], true, nil
}

func addCarrierAudit(tx *gorm.DB, entry models.Audit) error {
	entry.Actor = carrierActor
	return database.AddAudit(tx, entry)
}
