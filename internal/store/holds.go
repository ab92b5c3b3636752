package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Holds keeps the times in which no prompt goes out.
type Holds struct{ db *database.Database }

// CreateHold stores a hold with its audit row and returns it with its id.
// *FieldError when it would end before it begins, or when its scope does not fit.
func (s *Holds) CreateHold(ctx context.Context, h models.Hold) (models.Hold, error) {
	h.CreatedAt, h.Until = instant(h.CreatedAt), instant(h.Until)
	if !h.Until.After(h.CreatedAt) {
		return models.Hold{}, models.BadField("until", "must be in the future")
	}
	var out models.Hold
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkScope(tx, h); err != nil {
			return err
		}
		var err error
		out, err = addHold(tx, h)
		return err
	})
	return out, wrap.Error(err, "creating hold")
}

// addHold stores a hold with its audit row.
func addHold(tx *gorm.DB, h models.Hold) (models.Hold, error) {
	if err := tx.Create(&h).Error; err != nil {
		return h, err
	}
	detail := strconv.FormatInt(h.ID, 10) + " " + string(h.Scope) + " until " + h.Until.UTC().Format(time.RFC3339)
	return h, database.AddAudit(tx, auditOf(h, models.AuditRow{Actor: h.CreatedBy, Action: "hold", Detail: detail, At: h.CreatedAt}))
}

// endHold releases a hold with its audit row.
func endHold(tx *gorm.DB, h models.Hold, by string, now time.Time) (models.Hold, error) {
	h.ReleasedAt, h.ReleasedBy = &now, by
	if err := tx.Select("released_at", "released_by").UpdateColumns(&h).Error; err != nil {
		return h, err
	}
	audit := models.AuditRow{Actor: by, Action: "hold_release", Detail: strconv.FormatInt(h.ID, 10), At: now}
	return h, database.AddAudit(tx, auditOf(h, audit))
}

// replaceOwnHold ends the pauses that a participant asked for, and sets one until an
// instant; zero or what has passed sets none.
func replaceOwnHold(tx *gorm.DB, participantID string, now, until time.Time) error {
	now, until = instant(now), instant(until)
	var own []models.Hold
	err := activeHolds(forUpdate(tx), now).Where("scope = ? AND scope_id = ? AND created_by = ?", models.HoldParticipant, participantID, byParticipant).
		Order("id").Find(&own).Error
	if err != nil {
		return err
	}
	for _, h := range own {
		if _, err := endHold(tx, h, byParticipant, now); err != nil {
			return err
		}
	}
	if !until.After(now) {
		return nil
	}
	_, err = addHold(tx, models.Hold{
		Scope: models.HoldParticipant, ScopeID: participantID, CreatedAt: now, Until: until, CreatedBy: byParticipant, Reason: "asked for it by text",
	})
	return err
}

// checkScope returns a *FieldError where scope and scope id do not fit.
func checkScope(tx *gorm.DB, h models.Hold) error {
	switch h.Scope {
	case models.HoldAll:
		if h.ScopeID != "" {
			return models.BadField("scope_id", "must be empty where everybody's prompts are held")
		}
		return nil
	case models.HoldParticipant:
		_, err := lockEnrolled(tx, h.ScopeID)
		if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, models.ErrNotFound) {
			return models.BadField("scope_id", "is not the id of an enrolled participant")
		}
		return err
	case models.HoldStudy:
		_, err := readStudy(tx, h.ScopeID)
		if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, models.ErrNotFound) {
			return models.UnknownStudy("scope_id", h.ScopeID)
		}
		return err
	}
	return models.BadField("scope", "must be all, participant or study")
}

func auditOf(h models.Hold, row models.AuditRow) models.AuditRow {
	row.Object = holdObject(h.ID)
	if h.Scope == models.HoldParticipant {
		row.ParticipantID = h.ScopeID
	}
	return row
}

func holdObject(id int64) string { return strconv.FormatInt(id, 10) }

// ReleaseHold ends a hold now and returns it. ErrNotFound when the id is unknown
// or the hold is over.
func (s *Holds) ReleaseHold(ctx context.Context, r models.HoldRelease) (models.Hold, error) {
	now := instant(r.Now)
	var out models.Hold
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		out = models.Hold{}
		if err := forUpdate(tx).Where("id = ?", r.ID).Take(&out).Error; err != nil {
			return err
		}
		if !out.IsActive(now) {
			return models.ErrNotFound
		}
		var err error
		out, err = endHold(tx, out, r.Actor, now)
		return err
	})
	return out, wrap.Error(err, "releasing hold")
}

// List returns a page of holds, newest first. A limit outside 1..200 counts
// as 200.
func (s *Holds) List(ctx context.Context, q models.HoldQuery) ([]models.Hold, error) {
	find := s.db.Reader(ctx).Order("id DESC").Limit(pageLimit(q.Limit))
	if !q.ActiveAt.IsZero() {
		find = activeHolds(find, q.ActiveAt)
	}
	if q.ParticipantID != "" {
		find = holdsOf(find, q.ParticipantID)
	}
	if q.BeforeID > 0 {
		find = find.Where("id < ?", q.BeforeID)
	}
	var rows []models.Hold
	err := find.Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading holds")
}

func pageLimit(limit int) int {
	if limit < 1 || limit > maxPage {
		return maxPage
	}
	return limit
}

const (
	holdsAt       = "created_at <= ? AND until_at > ? AND (released_at IS NULL OR released_at > ?)"
	holdsOfPerson = "(scope = ? OR (scope = ? AND scope_id = ?) OR (scope = ? AND scope_id = (SELECT study_id FROM participants WHERE participants.id = ?)))"
)

// activeHolds selects the holds that stop prompts at an instant.
func activeHolds(tx *gorm.DB, at time.Time) *gorm.DB {
	at = instant(at)
	return tx.Where(holdsAt, at, at, at)
}

// holdsOf selects the holds that stop a participant's prompts.
func holdsOf(tx *gorm.DB, participantID string) *gorm.DB {
	return tx.Where(holdsOfPerson,
		models.HoldAll, models.HoldParticipant, participantID, models.HoldStudy, participantID)
}

// isHeld reports whether a hold stops what the programme starts itself for a
// participant at one of the instants; zero instants do not count.
func isHeld(tx *gorm.DB, participantID string, instants ...time.Time) (bool, error) {
	for _, at := range instants {
		if at.IsZero() {
			continue
		}
		at = instant(at)
		var held int64
		err := holdsOf(activeHolds(tx.Model(&models.Hold{}), at), participantID).Count(&held).Error
		if err != nil || held > 0 {
			return held > 0, err
		}
	}
	return false, nil
}

// holdGate refuses a row that a hold stops. A row whose earlier attempt may have
// reached the carrier, and a later part of a text, are not stopped any more.
func checkHold(tx *gorm.DB, row models.Outbox, now time.Time) (string, error) {
	if !row.Kind.Spec().CanBeHeld || isPosted(row) || row.Part > 1 {
		return "", nil
	}
	held, err := isHeld(tx, row.ParticipantID, now)
	if err != nil || !held {
		return "", err
	}
	return models.MissedHold, nil
}

// missPrompt records a prompt that is not written as missed; for turns of other
// kinds it does nothing. A prompt that has a row keeps it. Safe to retry.
func missPrompt(tx *gorm.DB, participantID string, plan wire.TurnPlan, reason string) error {
	if plan.Kind != wire.TurnPrompt {
		return nil
	}
	_, err := database.InsertOnce(tx, &models.Prompt{
		ID: plan.PromptID, ParticipantID: participantID, ScheduleID: plan.ScheduleID,
		LocalDate: plan.Slot.Date, TargetAt: plan.Slot.TargetAt, State: models.PromptMissed, Reason: reason,
	})
	return err
}
