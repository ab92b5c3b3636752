package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// probeEvery is the time in which one text goes out although a sender hold lasts,
	// once the hold's own time is over.
	probeEvery = 10 * time.Minute
	// lookMost bounds how long a text waits before it asks again, so that a
	// hold which an operator releases is noticed.
	lookMost  = 5 * time.Minute
	lookLeast = time.Second
)

const carrierActor = "carrier"

// senderWait returns how long a text to a person of a study, that may go, has to wait
// before it asks again, between a second and five minutes; 0 lets it go. When a hold's
// time is over, one text passes as a probe, and the others wait for what becomes of it.
func (s *Outbox) senderWait(tx *gorm.DB, studyID string, now time.Time) (time.Duration, error) {
	var held []models.SenderHold
	err := tx.Find(&held).Error // there is rarely one
	if err != nil || len(held) == 0 {
		return 0, err
	}
	name, err := s.senderOf(tx, studyID)
	if err != nil {
		return 0, err
	}
	held = slices.DeleteFunc(held, func(one models.SenderHold) bool { return one.Sender != s.senderKey(name) && one.Sender != s.account })
	now = database.Instant(now)
	var wait time.Duration
	for _, one := range held {
		if one.UntilAt.After(now) {
			wait = max(wait, min(max(one.UntilAt.Sub(now), lookLeast), lookMost))
		}
	}
	for _, one := range held {
		if wait > 0 || err != nil {
			return wait, err
		}
		res := tx.Model(&models.SenderHold{}).Where("sender = ? AND until_at = ?", one.Sender, database.Instant(one.UntilAt)).
			UpdateColumn("until_at", now.Add(probeEvery))
		if err = res.Error; res.RowsAffected == 0 {
			wait = lookMost // another text is the probe
		}
	}
	return wait, err
}

func (s *Outbox) senderKey(name string) string { return s.db.Index("sender\x00" + name) }

// senderOf is the name of the number or service that texts of a study go from.
func (s *Outbox) senderOf(tx *gorm.DB, studyID string) (string, error) {
	var rows []models.Study
	err := tx.Select("id", "settings").Where("id = ?", cmp.Or(studyID, models.DefaultStudy)).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return s.senderName, err
	}
	settings, err := rows[0].ReadSettings()
	return s.nameOf(models.Sender{From: settings.From, MessagingService: settings.MessagingService}), err
}

// heldBy is the key of the hold that a refusal asks for, and the name of the sender
// that it holds, empty for the whole account.
func (s *Outbox) heldBy(sentFrom string, r models.Refusal) (key, name string) {
	isOfSender := r.Class != models.CarrierAccount && r.Code != rollingWindow
	if isOfSender || slices.Contains(sendersFaults, r.Code) {
		name = cmp.Or(sentFrom, s.senderName)
		return s.senderKey(name), name
	}
	return s.account, ""
}

// HoldSender sets the hold, where the refusal asks for one, in a transaction
// of its own. Safe to repeat: a hold that holds is only prolonged. ErrNotFound
// for an unknown text.
func (s *Outbox) HoldSender(ctx context.Context, r models.Refusal) error {
	var set *models.SenderHold
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var row models.Outbox
		err := tx.Select("id", "participant_id", "sent_from").Where("id = ?", r.OutboxID).Take(&row).Error
		if err != nil {
			return err
		}
		set, err = s.setSenderHold(tx, row, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("holding the sender: %w", err)
	}
	s.logSenderHold(set)
	return nil
}

// setSenderHold is HoldSender within a transaction. It returns a hold that was not set
// before, for Alert to tell of once the transaction is through.
func (s *Outbox) setSenderHold(tx *gorm.DB, of models.Outbox, r models.Refusal) (*models.SenderHold, error) {
	until, stops := s.holdUntil(r)
	if !stops {
		return nil, nil
	}
	key, name := s.heldBy(of.SentFrom, r)
	row := models.SenderHold{
		Sender: key, Name: name, Class: r.Class, Code: r.Code, OutboxID: r.OutboxID, Reported: r.Reported,
		SetAt: database.Instant(r.Now), RefusedAt: database.Instant(r.Now), UntilAt: database.Instant(until),
	}
	added, err := database.InsertOnce(tx, &row)
	if err != nil {
		return nil, err
	}
	if added {
		return &row, addCarrierAudit(tx, models.AuditRow{ParticipantID: of.ParticipantID, Action: "brake", Detail: string(r.Class) + " " + r.Code, At: r.Now})
	}
	return nil, tx.Select("class", "code", "outbox_id", "reported", "refused_at", "until_at").UpdateColumns(&row).Error
}

// logSenderHold tells operators of a new hold; nil is none.
func (s *Outbox) logSenderHold(set *models.SenderHold) {
	if set == nil {
		return
	}
	s.log.Error("the carrier stops the sender: texts wait",
		"class", string(set.Class), "code", set.Code, "outbox", set.OutboxID, "until", set.UntilAt)
}

// liftSenderHold ends the hold when a text that was posted after the last refusal went
// well. Where the refusal came as a report, and not at once, the carrier's
// taking a text proves nothing; its delivery does.
func (s *Outbox) liftSenderHold(tx *gorm.DB, row models.Outbox) error {
	if row.AttemptedAt == nil {
		return nil
	}
	find := tx.Where("sender IN (?, ?) AND refused_at < ?", s.senderKey(cmp.Or(row.SentFrom, s.senderName)), s.account, database.Instant(*row.AttemptedAt))
	switch row.Status {
	case wire.OutboxReady, wire.OutboxSending, wire.OutboxUnknown, wire.OutboxUndelivered, wire.OutboxFailed, wire.OutboxCanceled:
		return nil
	case wire.OutboxAccepted, wire.OutboxQueued, wire.OutboxSent:
		find = find.Where("reported = ? OR class = ?", false, models.CarrierWindow)
	case wire.OutboxDelivered, wire.OutboxRead:
	}
	res := find.Delete(&models.SenderHold{})
	if res.Error != nil || res.RowsAffected == 0 {
		return res.Error
	}
	now := row.UpdatedAt
	return addCarrierAudit(tx, models.AuditRow{ParticipantID: row.ParticipantID, Action: "brake_lifted", At: now})
}

// SenderHolds returns the holds that last, oldest first.
func (s *Outbox) SenderHolds(ctx context.Context) ([]models.SenderHold, error) {
	var rows []models.SenderHold
	err := s.db.Reader(ctx).Order("set_at").Find(&rows).Error
	return rows, wrap.Error(err, "reading the sender holds")
}

func addCarrierAudit(tx *gorm.DB, entry models.AuditRow) error {
	entry.Actor = carrierActor
	return database.AddAudit(tx, entry)
}
