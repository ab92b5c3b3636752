package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

// CreateHold stores a hold with its audit row and returns it with its id.
// *FieldError when it would end before it begins.
func (s *Store) CreateHold(ctx context.Context, h models.Hold) (models.Hold, error) {
	h.CreatedAt, h.UntilAt = instant(h.CreatedAt), instant(h.UntilAt)
	if !h.UntilAt.After(h.CreatedAt) {
		return models.Hold{}, models.BadField("until", "must be in the future")
	}
	var out models.Hold
	err := s.write(ctx, func(tx *gorm.DB) error {
		out = h
		if err := tx.Create(&out).Error; err != nil {
			return err
		}
		detail := strconv.FormatInt(out.ID, 10) + " " + string(out.Scope) + " until " + out.UntilAt.Format(time.RFC3339)
		return database.AddAudit(tx, models.Audit{Actor: out.CreatedBy, Action: "hold", Detail: detail, At: out.CreatedAt})
	})
	if err != nil {
		return models.Hold{}, fmt.Errorf("creating hold: %w", err)
	}
	return out, nil
}

// ReleaseHold ends a hold now and returns it. ErrNotFound when the id is unknown
// or the hold is over.
func (s *Store) ReleaseHold(ctx context.Context, r models.HoldRelease) (models.Hold, error) {
	now := instant(r.Now)
	var out models.Hold
	err := s.write(ctx, func(tx *gorm.DB) error {
		out = models.Hold{}
		if err := forUpdate(tx).Where("id = ?", r.ID).Take(&out).Error; err != nil {
			return err
		}
		if !out.IsActive(now) {
			return models.ErrNotFound
		}
		out.ReleasedAt, out.ReleasedBy = &now, r.Actor
		if err := tx.Select("released_at", "released_by").UpdateColumns(&out).Error; err != nil {
			return err
		}
		audit := models.Audit{Actor: r.Actor, Action: "hold_release", Detail: strconv.FormatInt(out.ID, 10), At: now}
		return database.AddAudit(tx, audit)
	})
	if err != nil {
		return models.Hold{}, fmt.Errorf("releasing hold: %w", err)
	}
	return out, nil
}

// Holds returns a page of holds, newest first. A limit outside 1..200 counts
// as 200.
func (s *Store) Holds(ctx context.Context, q models.HoldQuery) ([]models.Hold, error) {
	find := s.reader(ctx).Order("id DESC").Limit(pageLimit(q.Limit))
	if !q.ActiveAt.IsZero() {
		find = activeHolds(find, q.ActiveAt)
	}
	if q.BeforeID > 0 {
		find = find.Where("id < ?", q.BeforeID)
	}
	var rows []models.Hold
	if err := find.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("reading holds: %w", classify(err))
	}
	return rows, nil
}

func pageLimit(limit int) int {
	if limit < 1 || limit > maxPage {
		return maxPage
	}
	return limit
}

// activeHolds selects the holds that stop prompts at an instant.
func activeHolds(tx *gorm.DB, at time.Time) *gorm.DB {
	at = instant(at)
	return tx.Where("created_at <= ? AND until_at > ? AND (released_at IS NULL OR released_at > ?)", at, at, at)
}

// isHeld reports whether a hold stops what the programme starts itself at one of
// the instants; zero instants do not count.
func isHeld(tx *gorm.DB, instants ...time.Time) (bool, error) {
	for _, at := range instants {
		if at.IsZero() {
			continue
		}
		var count int64
		err := activeHolds(tx.Model(&models.Hold{}).Where("scope = ?", models.HoldAll), at).Count(&count).Error
		if err != nil || count > 0 {
			return count > 0, err
		}
	}
	return false, nil
}

// holdGate refuses a row that a hold stops. A row whose earlier attempt may have
// reached the carrier, and a later part of a text, are not stopped any more.
func holdGate(tx *gorm.DB, row models.Outbox, now time.Time) (string, error) {
	if !row.Kind.Spec().CanBeHeld || isPosted(row) || row.Part > 1 {
		return "", nil
	}
	held, err := isHeld(tx, now)
	if err != nil || !held {
		return "", err
	}
	return models.MissedHold, nil
}

// missPrompt records a prompt that is not written as missed; for turns of other
// kinds it does nothing. A prompt that has a row keeps it. Safe to retry.
func missPrompt(tx *gorm.DB, participantID string, plan models.TurnPlan, reason string) error {
	if plan.Kind != models.KindPrompt {
		return nil
	}
	_, err := database.InsertOnce(tx, &models.Prompt{
		ID: plan.PromptID, ParticipantID: participantID, ScheduleID: plan.ScheduleID,
		LocalDate: plan.Slot.Date, TargetAt: plan.Slot.TargetAt, State: models.PromptMissed, Reason: reason,
	})
	return err
}
