package store

import (
	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// saveState mirrors mode, status (unless the participant was removed or has opted
// out, or a notice of a newer status was committed: it is recorded here first, and the
// workflow only follows),
// schedules, and prompts that were missed. The participant's version rises when
// mode or status changed. Safe to repeat: it writes absolute values.
func saveState(tx *gorm.DB, p models.Participant, in wire.SaveStateInput) error {
	changed, err := setStanding(tx, &p, in)
	if err != nil {
		return err
	}
	if changed {
		if err := database.SaveParticipant(tx, &p, in.Now); err != nil {
			return err
		}
	}
	if err := saveSchedules(tx, p, in); err != nil {
		return err
	}
	if err := decideMissed(tx, p, in); err != nil {
		return err
	}
	if err := saveMissed(tx, in); err != nil {
		return err
	}
	return saveLeftOut(tx, in)
}

func setStanding(tx *gorm.DB, p *models.Participant, in wire.SaveStateInput) (changed bool, err error) {
	if in.Mode != "" && in.Mode != p.Mode {
		p.Mode, changed = in.Mode, true
	}
	left := p.RemovedAt != nil || p.Status == wire.StatusOptedOut || in.Status == wire.StatusOptedOut
	if in.Status == "" || in.Status == p.Status || left {
		return changed, nil
	}
	newer, err := isOutdated(tx, in)
	if err == nil && !newer {
		p.Status, changed = in.Status, true
	}
	return changed, err
}

// isOutdated reports whether a status was committed that the workflow has not applied.
func isOutdated(tx *gorm.DB, in wire.SaveStateInput) (bool, error) {
	if in.Applied == 0 {
		return false, nil
	}
	var newer int64
	err := tx.Model(&models.Notice{}).
		Where("participant_id = ? AND id > ? AND kind IN ?", in.ParticipantID, in.Applied, models.StatusNotices()).
		Limit(1).Count(&newer).Error
	return newer > 0, err
}

func saveSchedules(tx *gorm.DB, p models.Participant, in wire.SaveStateInput) error {
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
		if !sc.Next.SendAt.IsZero() && p.Status == wire.StatusActive {
			row.NextAt = &sc.Next.SendAt
		}
		rows = append(rows, row)
	}
	return tx.Create(&rows).Error
}

func saveMissed(tx *gorm.DB, in wire.SaveStateInput) error {
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
		if _, err := database.InsertOnce(tx, &row); err != nil {
			return err
		}
	}
	return nil
}

// saveLeftOut notes at prompts why they have no more follow-ups.
func saveLeftOut(tx *gorm.DB, in wire.SaveStateInput) error {
	for _, left := range in.LeftOut {
		err := tx.Model(&models.Prompt{}).Where("id = ? AND participant_id = ?", left.PromptID, in.ParticipantID).
			UpdateColumn("left_out", left.Reason).Error
		if err != nil {
			return err
		}
	}
	return nil
}
