package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// concernSpan is the time within which the coach raises no second alert, but for one that
// is grave after one that is not.
const concernSpan = 30 * time.Minute

// ReportConcern raises the alert that the coach's model asks for, as a rule would raise
// it: on the newest message of the turn, tier A where it is urgent, else tier B, and
// returns it; an earlier one of the coach's within 30 minutes stands for it. The coach
// answers; where the alert silences the coach the safety text does. Safe to repeat.
// ErrNotFound where the turn answers no message.
func (s *Looks) ReportConcern(ctx context.Context, c models.Concern) (models.Alert, error) {
	var row models.Alert
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row = models.Alert{}
		var turn models.Turn
		if err := tx.Where("id = ?", c.TurnID).Take(&turn).Error; err != nil {
			return err
		}
		p, err := database.LockParticipant(tx, turn.ParticipantID)
		if err != nil {
			return err
		}
		since := database.Instant(c.Now.Add(-concernSpan))
		err = tx.Where("participant_id = ? AND rule = ? AND created_at > ?", p.ID, models.RuleCoach, since).Order("created_at DESC").Limit(1).Find(&row).Error
		if err != nil || row.ID != "" && (row.Pages || !c.IsUrgent) {
			return err
		}
		in, err := newestOfTurn(tx, turn)
		if err != nil {
			return err
		}
		row, err = s.raiseConcern(tx, p, in, c)
		return err
	})
	return row, wrap.Error(err, "raising the coach's alert")
}

// newestOfTurn returns the newest message that a turn answers.
func newestOfTurn(tx *gorm.DB, turn models.Turn) (models.Inbound, error) {
	var in models.Inbound
	keys := tx.Model(&models.Message{}).Select("key").Where("turn_id = ? AND role = ?", turn.ID, models.RoleUser)
	err := tx.Where("participant_id = ? AND 'in-' || id IN (?)", turn.ParticipantID, keys).Order("id DESC").Take(&in).Error
	return in, err
}

func (s *Looks) raiseConcern(tx *gorm.DB, p models.Participant, in models.Inbound, c models.Concern) (models.Alert, error) {
	in.Danger, in.DangerTier, in.DangerRule, in.DangerKind = c.Danger(), models.TierB, models.RuleCoach, c.Kind
	escalated, err := isEscalated(tx, in)
	if err != nil {
		return models.Alert{}, err
	}
	if escalated || c.IsUrgent {
		in.DangerTier = models.TierA
	}
	row := alertOf(in, alertOptions{Escalated: escalated && !c.IsUrgent})
	row.Safety, row.LookReason = c.Safety(), c.Reason
	if row.Pages && s.takeOvers.crisisTakeOver > 0 {
		if row.Answer, err = needsSafetyText(tx, p, in); err != nil {
			return row, err
		}
	}
	if err := writeConcern(tx, &row); err != nil {
		return row, err
	}
	if err := tx.Select("danger", "danger_tier", "danger_rule", "danger_kind").UpdateColumns(&in).Error; err != nil {
		return row, err
	}
	err = tx.Model(&models.Message{}).Where("participant_id = ? AND key = ?", p.ID, models.InboundKey(in.ID)).UpdateColumn("danger", in.Danger).Error
	if err != nil {
		return row, err
	}
	if row.Pages {
		if err := raiseCrisis(tx, in); err != nil {
			return row, err
		}
		if err := s.takeOvers.takeOverForAlert(tx, p.ID, c.Now); err != nil {
			return row, err
		}
	}
	return row, database.AddAudit(tx, models.AuditRow{ParticipantID: p.ID, Actor: models.RuleCoach, Action: "attention", Detail: row.ID, At: database.Instant(c.Now)})
}

// writeConcern stores an alert, or makes the one that its message has already at least as
// grave.
func writeConcern(tx *gorm.DB, row *models.Alert) error {
	added, err := database.InsertOnce(tx, row)
	if err != nil || added {
		return err
	}
	var before models.Alert
	if err := tx.Where("id = ?", row.ID).Take(&before).Error; err != nil {
		return err
	}
	if before.Pages {
		*row = before
		return nil
	}
	row.Answer = row.Answer || before.Answer
	if before.Look != models.LookDue {
		row.Look = before.Look // a look that is due needs none any more
	}
	return tx.Select("danger", "look", "tier", "rule", "kind", "escalated", "safety", "pages", "answer", "look_reason", "told_at").UpdateColumns(row).Error
}
