// Package brake keeps what a carrier's refusal asks for beyond the one text
// (messaging facts 1.3): the whole sender stops, or a number counts as one that
// cannot be reached. It works inside the store's transactions, and its row is
// the last that they lock.
package brake

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

const (
	// probeEvery: while a brake holds, one text in this time goes out all the
	// same, once the brake's own time is over.
	probeEvery = 10 * time.Minute
	// lookMost bounds how long a text waits before it asks again, so that a
	// brake which an operator releases is noticed.
	lookMost  = 5 * time.Minute
	lookLeast = time.Second
)

const byCarrier = "carrier"

// Config is what a Keeper is made of.
type Config struct {
	// Sender is the key of the row; equal for all processes of a programme.
	Sender string
	Log    *slog.Logger
	Read   func(ctx context.Context) *gorm.DB
	Write  func(ctx context.Context, fn func(tx *gorm.DB) error) error
}

// Keeper keeps the brake of one sender. It is safe for concurrent use.
type Keeper struct {
	cfg     Config
	pacific *time.Location
}

// New builds a keeper; it fails where no zone data is to be had.
func New(cfg Config) (*Keeper, error) {
	zone, err := time.LoadLocation(carrierZone)
	if err != nil {
		return nil, fmt.Errorf("loading the carrier's zone: %w", err)
	}
	return &Keeper{cfg: cfg, pacific: zone}, nil
}

// Wait is how long a text that may go has to wait before it asks again, between
// a second and five minutes; 0 lets it go. When a brake's time is over, one text
// passes as a probe, and the others wait for what becomes of it.
func (k *Keeper) Wait(tx *gorm.DB, now time.Time) (time.Duration, error) {
	held, err := ofSender.Find(tx, k.cfg.Sender)
	if err != nil || len(held) == 0 {
		return 0, err
	}
	now = database.Instant(now)
	if held[0].UntilAt.After(now) {
		return min(max(held[0].UntilAt.Sub(now), lookLeast), lookMost), nil
	}
	res := tx.Model(&models.SenderHold{}).Where("sender = ? AND until_at = ?", k.cfg.Sender, database.Instant(held[0].UntilAt)).
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
func (k *Keeper) HoldSender(ctx context.Context, r models.Refusal) error {
	var set *models.SenderHold
	err := k.cfg.Write(ctx, func(tx *gorm.DB) error {
		var row models.Outbox
		err := tx.Select("id", "participant_id").Where("id = ?", r.OutboxID).Take(&row).Error
		if err != nil {
			return err
		}
		set, err = k.Hold(tx, row.ParticipantID, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("holding the sender: %w", err)
	}
	k.Alert(set)
	return nil
}

// Hold is HoldSender within a transaction. It returns a brake that was not set
// before, for Alert to tell of once the transaction is through.
func (k *Keeper) Hold(tx *gorm.DB, participantID string, r models.Refusal) (*models.SenderHold, error) {
	until, stops := k.until(r)
	if !stops {
		return nil, nil
	}
	row := models.SenderHold{
		Sender: k.cfg.Sender, Class: r.Class, Code: r.Code, OutboxID: r.OutboxID, Reported: r.Reported,
		SetAt: database.Instant(r.Now), RefusedAt: database.Instant(r.Now), UntilAt: database.Instant(until),
	}
	added, err := database.InsertOnce(tx, &row)
	if err != nil {
		return nil, err
	}
	if added {
		return &row, audit(tx, models.Audit{ParticipantID: participantID, Action: "brake", Detail: string(r.Class) + " " + r.Code, At: r.Now})
	}
	return nil, tx.Select("class", "code", "outbox_id", "reported", "refused_at", "until_at").UpdateColumns(&row).Error
}

// Alert tells operators of a new brake; nil is none.
func (k *Keeper) Alert(set *models.SenderHold) {
	if set == nil {
		return
	}
	k.cfg.Log.Error("the carrier stops the sender: texts wait",
		"class", string(set.Class), "code", set.Code, "outbox", set.OutboxID, "until", set.UntilAt)
}

// Sender is the key of the brake's row: while there is one, something holds the
// sender or is about to be tried.
func (k *Keeper) Sender() string { return k.cfg.Sender }

// Lift ends the brake when a text that was posted after the last refusal went
// well. Where the refusal came as a report, and not at once, the carrier's
// taking a text proves nothing; its delivery does.
func (k *Keeper) Lift(tx *gorm.DB, row models.Outbox) error {
	if row.AttemptedAt == nil {
		return nil
	}
	find := tx.Where("sender = ? AND refused_at < ?", k.cfg.Sender, database.Instant(*row.AttemptedAt))
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
	return audit(tx, models.Audit{ParticipantID: row.ParticipantID, Action: "brake_lifted", At: now})
}

// SenderBrake is the brake that holds; ok is false when there is none.
func (k *Keeper) SenderBrake(ctx context.Context) (held models.SenderHold, ok bool, err error) {
	var rows []models.SenderHold
	if err := k.cfg.Read(ctx).Where("sender = ?", k.cfg.Sender).Limit(1).Find(&rows).Error; err != nil {
		return held, false, fmt.Errorf("reading the brake: %w", err)
	}
	if len(rows) == 0 {
		return held, false, nil
	}
	return rows[0], true, nil
}

func audit(tx *gorm.DB, entry models.Audit) error {
	entry.Actor = byCarrier
	return tx.Create(&entry).Error
}
