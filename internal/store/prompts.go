package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/models"
)

// answerPrompts records a participant's text as the answer to every prompt
// that waits for one.
func answerPrompts(tx *gorm.DB, participantID string, at time.Time) error {
	return tx.Model(&models.Prompt{}).
		Where("participant_id = ? AND state IN ?", participantID,
			[]models.PromptState{models.PromptPending, models.PromptReminded}).
		UpdateColumns(map[string]any{"state": models.PromptResponded, "responded_at": at}).Error
}

// planPrompt records that a turn writes a prompt. again says that there is
// nothing to write any more: it was sent, or recorded as missed.
func planPrompt(tx *gorm.DB, participantID string, plan models.TurnPlan) (again bool, err error) {
	row := models.Prompt{
		ID:            plan.PromptID,
		ParticipantID: participantID,
		ScheduleID:    plan.ScheduleID,
		LocalDate:     plan.Slot.Date,
		TargetAt:      plan.Slot.TargetAt,
		State:         models.PromptPlanned,
	}
	added, err := insertOnce(tx, &row)
	if err != nil || added {
		return false, err
	}
	var old models.Prompt
	if err := tx.Where("id = ?", plan.PromptID).Take(&old).Error; err != nil {
		return false, err
	}
	return old.SentAt != nil || old.State == models.PromptMissed, nil
}

// promptSent records that the carrier took a prompt. An answer that overtook
// this record counts; older prompts stop waiting for theirs.
func promptSent(tx *gorm.DB, row models.Outbox, now time.Time) error {
	attempted := now
	if row.AttemptedAt != nil {
		attempted = *row.AttemptedAt
	}
	fields := map[string]any{"state": models.PromptPending, "reason": "", "sent_at": now}
	var answers []models.Inbound
	// A STOP or a HELP answers no prompt; such texts have no number.
	err := tx.Where("participant_id = ? AND received_at > ? AND seq > 0", row.ParticipantID, attempted).
		Order("received_at").Limit(1).Find(&answers).Error
	if err != nil {
		return err
	}
	if len(answers) > 0 {
		fields["state"], fields["responded_at"] = models.PromptResponded, answers[0].ReceivedAt
	}
	err = tx.Model(&models.Prompt{}).
		Where("id = ? AND state IN ?", row.PromptID, []models.PromptState{models.PromptPlanned, models.PromptFailed}).
		UpdateColumns(fields).Error
	if err != nil {
		return err
	}
	err = tx.Model(&models.Prompt{}).
		Where("participant_id = ? AND id <> ? AND state = ? AND sent_at <= ?",
			row.ParticipantID, row.PromptID, models.PromptPending, attempted).
		UpdateColumn("state", models.PromptVoided).Error
	if err != nil {
		return err
	}
	return tx.Model(&models.Profile{}).Where("participant_id = ?", row.ParticipantID).
		UpdateColumns(map[string]any{"total_prompts": gorm.Expr("total_prompts + 1"), "last_prompt_sent_at": now}).Error
}

// reminderSent records that the carrier took a reminder. A prompt answered in
// the meantime stays answered.
func reminderSent(tx *gorm.DB, promptID string, now time.Time) error {
	prompt := tx.Model(&models.Prompt{}).Where("id = ?", promptID)
	if err := prompt.Session(&gorm.Session{}).UpdateColumn("reminder_sent_at", now).Error; err != nil {
		return err
	}
	return prompt.Session(&gorm.Session{}).Where("state = ?", models.PromptPending).
		UpdateColumn("state", models.PromptReminded).Error
}

// promptFailed records why a planned prompt did not go out.
func promptFailed(tx *gorm.DB, promptID, reason string) error {
	return tx.Model(&models.Prompt{}).Where("id = ? AND state = ?", promptID, models.PromptPlanned).
		UpdateColumns(map[string]any{"state": models.PromptFailed, "reason": reason}).Error
}

// SaveState mirrors a workflow's state into the tables that operators read:
// mode, status (unless the participant was removed or has opted out: consent
// is recorded here first, and the workflow only follows), schedules, and prompts that were missed. The participant's version rises
// when mode or status changed. ErrNotFound for an unknown id. Safe to retry.
func (s *Store) SaveState(ctx context.Context, in models.SaveStateInput) error {
	err := s.write(ctx, func(tx *gorm.DB) error {
		p, err := lockParticipant(tx, in.ParticipantID)
		if err != nil {
			return err
		}
		if mirror(&p, in) {
			if err := saveParticipant(tx, &p, in.Now); err != nil {
				return err
			}
		}
		if err := replaceSchedules(tx, in); err != nil {
			return err
		}
		return recordMissed(tx, in)
	})
	if err != nil {
		return fmt.Errorf("saving state: %w", err)
	}
	return nil
}

func mirror(p *models.Participant, in models.SaveStateInput) (changed bool) {
	if in.Mode != "" && in.Mode != p.Mode {
		p.Mode, changed = in.Mode, true
	}
	left := p.RemovedAt != nil || p.Status == models.StatusOptedOut || in.Status == models.StatusOptedOut
	if in.Status != "" && in.Status != p.Status && !left {
		p.Status, changed = in.Status, true
	}
	return changed
}

func replaceSchedules(tx *gorm.DB, in models.SaveStateInput) error {
	err := tx.Where("participant_id = ?", in.ParticipantID).Delete(&models.ScheduleRow{}).Error
	if err != nil || len(in.Schedules) == 0 {
		return err
	}
	rows := make([]models.ScheduleRow, 0, len(in.Schedules))
	for _, sc := range in.Schedules {
		row := models.ScheduleRow{
			ParticipantID: in.ParticipantID,
			ID:            sc.ID,
			Type:          sc.Type,
			At:            sc.At,
			FromTime:      sc.From,
			ToTime:        sc.To,
			Zone:          sc.Zone,
			UpdatedAt:     in.Now,
		}
		if !sc.Next.SendAt.IsZero() {
			row.NextAt = &sc.Next.SendAt
		}
		rows = append(rows, row)
	}
	return tx.Create(&rows).Error
}

func recordMissed(tx *gorm.DB, in models.SaveStateInput) error {
	for _, m := range in.Missed {
		row := models.Prompt{
			ID:            models.PromptID(in.ParticipantID, m.ScheduleID, m.Slot.Date),
			ParticipantID: in.ParticipantID,
			ScheduleID:    m.ScheduleID,
			LocalDate:     m.Slot.Date,
			TargetAt:      m.Slot.TargetAt,
			State:         models.PromptMissed,
			Reason:        m.Reason,
		}
		if _, err := insertOnce(tx, &row); err != nil {
			return err
		}
	}
	return nil
}
