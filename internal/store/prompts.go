package store

import (
	"time"

	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

// answerPrompts records a participant's text as the answer to every prompt
// that waits for one.
func answerPrompts(tx *gorm.DB, participantID string, at time.Time) error {
	return tx.Model(&models.Prompt{}).Where(awaitsAnswer, participantID, models.PromptPending, models.PromptReminded).
		UpdateColumns(map[string]any{"state": models.PromptResponded, "responded_at": at}).Error
}

const awaitsAnswer = "prompts.participant_id = ? AND prompts.state IN (?, ?)"

// planPrompt records that a turn writes a prompt. again says that there is
// nothing to write any more: it was sent, or recorded as missed.
func planPrompt(tx *gorm.DB, participantID string, plan wire.TurnPlan) (again bool, err error) {
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

// promptMissed records why a planned prompt was not sent and never will be.
func promptMissed(tx *gorm.DB, promptID, reason string) error {
	return tx.Model(&models.Prompt{}).Where("id = ? AND state = ?", promptID, models.PromptPlanned).
		UpdateColumns(map[string]any{"state": models.PromptMissed, "reason": reason}).Error
}
