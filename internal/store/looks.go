package store

import (
	"context"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/screening"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// canLookAgain reports whether a weak sign waits for a second look in the turn of its
// message: where one is made, and a turn of the coach will read it.
func (s *Inbound) canLookAgain(tx *gorm.DB, in models.Inbound, p models.Participant) (bool, error) {
	isAsked := in.Intent == models.IntentNone || needsQuestion(in.Intent) && in.Intent != models.IntentMinor
	if !s.secondLook || in.DangerTier != models.TierB || !isAsked || p.Status != wire.StatusActive || p.IsTakenOver() {
		return false, nil
	}
	newest, err := newestConsent(tx, p)
	if err != nil || isOptedOut(p, newest) {
		return false, err
	}
	isSpent, err := s.budgets.isDaySpent(tx, p.ID, in.ReceivedAt)
	return err == nil && !isSpent, err
}

// acceptWeak stores a message with a weak sign like any other, and keeps the alert that
// its turn settles. A question about the programme waits for that too: danger comes
// first.
func (s *Inbound) acceptWeak(tx *gorm.DB, in models.Inbound, p models.Participant) (models.AcceptedInbound, error) {
	in.Intent, in.IntentMethod = models.IntentNone, ""
	out, err := s.acceptKnown(tx, in, p)
	if err != nil || out.Inbound.Limit != models.LimitNone {
		return out, err
	}
	row := alertOf(out.Inbound, alertOptions{})
	row.Pages, row.Look, row.ToldAt = false, models.LookDue, &row.CreatedAt
	_, err = database.InsertOnce(tx, &row)
	return out, err
}

// languageSpan is the time within which no person raises attention for their language
// twice.
const languageSpan = 24 * time.Hour

// acceptForeign stores a text in a language that no rule reads, and shows its sender to an
// operator once a day. Where a model may read it in the rules' place, it waits for that
// like a weak sign.
func (s *Inbound) acceptForeign(tx *gorm.DB, in models.Inbound, p models.Participant) (models.AcceptedInbound, error) {
	in.IsOtherLanguage = false
	weak := in
	weak.Danger, weak.DangerTier = models.DangerSelfHarm, models.TierB
	weak.DangerRule, weak.DangerKind = screening.RuleLanguage, screening.RuleLanguage
	isLooked := in.Danger == models.DangerNone && in.Intent == models.IntentNone
	if isLooked {
		var err error
		if isLooked, err = s.canLookAgain(tx, weak, p); err != nil {
			return models.AcceptedInbound{}, err
		}
	}
	if isLooked {
		in = weak
	}
	out, err := s.acceptScreened(tx, in, p)
	if err != nil || out.Inbound.ID == 0 || out.Inbound.Limit != models.LimitNone {
		return out, err
	}
	var recent int64
	err = tx.Model(&models.AttentionEntry{}).Where("participant_id = ? AND kind = ? AND raised_at > ?",
		p.ID, wire.AttentionLanguage, database.Instant(in.ReceivedAt.Add(-languageSpan))).Count(&recent).Error
	if err == nil && recent == 0 {
		_, err = raiseAttention(tx, models.AttentionEntry{
			ParticipantID: p.ID, Kind: wire.AttentionLanguage, Ref: strconv.FormatInt(out.Inbound.ID, 10), RaisedAt: in.ReceivedAt,
		})
	}
	return out, err
}

// Looks are the second looks at weak signs of danger.
type Looks struct {
	db        *database.Database
	takeOvers *TakeOvers
}

// DueLooks lists the weak signs of a person that wait for their second look, oldest
// first.
func (s *Looks) DueLooks(ctx context.Context, participantID string) ([]models.DueLook, error) {
	var due []models.DueLook
	err := s.db.Reader(ctx).Model(&models.Alert{}).Select("id AS alert_id", "inbound_id").
		Where("participant_id = ? AND look = ?", participantID, models.LookDue).Order("inbound_id").Scan(&due).Error
	return due, wrap.Error(database.Classify(err), "reading weak signs")
}

// SettleLook records what the second look at a weak sign found, and raises the alert
// unless that was none. Answered says that the safety text answers the message, and the
// turn has ended without a reply. Safe to repeat: the first verdict stays, and its
// answer comes back. ErrNotFound for an unknown alert.
func (s *Looks) SettleLook(ctx context.Context, r models.LookResult) (answered bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		answered = false
		var row models.Alert
		if err := tx.Where("id = ?", r.AlertID).Take(&row).Error; err != nil {
			return err
		}
		p, err := database.LockParticipant(tx, row.ParticipantID)
		if err != nil {
			return err
		}
		// The row once more, now that no other attempt settles it.
		if err := tx.Where("id = ?", r.AlertID).Take(&row).Error; err != nil {
			return err
		}
		if row.Look == models.LookDue {
			if err := s.settleLook(tx, &row, p, r); err != nil {
				return err
			}
		}
		answered = row.Answer
		if !answered || r.TurnID == "" {
			return nil
		}
		return tx.Model(&models.Turn{}).Where("id = ? AND outcome = ''", r.TurnID).
			UpdateColumns(map[string]any{"outcome": models.OutcomeSafety, "finished_at": database.Instant(r.Now)}).Error
	})
	return answered, wrap.Error(err, "settling a second look")
}

func (s *Looks) settleLook(tx *gorm.DB, row *models.Alert, p models.Participant, r models.LookResult) error {
	now := database.Instant(r.Now)
	row.Look, row.LookedAt, row.LookReason = r.Verdict.State, &now, r.Verdict.Reason
	if r.Verdict.Kind != "" {
		row.Safety = models.SafetyKindOf(row.Danger, r.Verdict.Kind, r.Verdict.About)
	}
	if row.Look == models.LookNone {
		err := tx.Model(&models.Message{}).Where("participant_id = ? AND key = ?", p.ID, models.InboundKey(row.InboundID)).
			UpdateColumn("danger", models.DangerNone).Error
		if err != nil {
			return err
		}
		return tx.Select("look", "looked_at", "look_reason").UpdateColumns(row).Error
	}
	var in models.Inbound
	if err := tx.Where("id = ?", row.InboundID).Take(&in).Error; err != nil {
		return err
	}
	if row.Look == models.LookClear {
		in.DangerTier = models.TierA
	}
	return s.raiseLooked(tx, row, p, in)
}

// raiseLooked raises the alert of a weak sign that the second look did not dismiss.
func (s *Looks) raiseLooked(tx *gorm.DB, row *models.Alert, p models.Participant, in models.Inbound) (err error) {
	if row.Escalated, err = isEscalated(tx, in); err != nil {
		return err
	}
	if row.Escalated {
		in.DangerTier = models.TierA
	}
	if row.Answer, err = needsSafetyText(tx, p, in); err != nil {
		return err
	}
	row.Tier, row.Pages, row.ToldAt = string(in.DangerTier), in.DangerTier == models.TierA, nil
	err = tx.Select("look", "looked_at", "look_reason", "tier", "escalated", "safety", "pages", "answer", "told_at").UpdateColumns(row).Error
	if err != nil {
		return err
	}
	if err := tx.Select("danger_tier").UpdateColumns(&in).Error; err != nil {
		return err
	}
	if row.Pages {
		if err := raiseCrisis(tx, in); err != nil {
			return err
		}
		if err := s.takeOvers.takeOverForAlert(tx, p.ID, *row.LookedAt); err != nil {
			return err
		}
	}
	return database.AddAudit(tx, models.AuditRow{ParticipantID: p.ID, Actor: byScreen, Action: "attention", Detail: row.ID, At: *row.LookedAt})
}

// OverdueLooks lists alerts whose second look no turn has made in time, oldest first, at
// most limit of them.
func (s *Looks) OverdueLooks(ctx context.Context, createdBefore time.Time, limit int) ([]models.DueLook, error) {
	var due []models.DueLook
	err := s.db.Reader(ctx).Model(&models.Alert{}).Select("id AS alert_id", "inbound_id").
		Where("look = ? AND created_at < ?", models.LookDue, database.Instant(createdBefore)).Order("created_at").Limit(limit).Scan(&due).Error
	return due, wrap.Error(database.Classify(err), "reading weak signs")
}
