package store

import (
	"database/sql"
	"time"

	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

// readRestore collects it; nothing for a participant without an earlier run.
func readRestore(tx *gorm.DB, p models.Participant) (wire.Past, error) {
	var out wire.Past
	var err error
	if out.Turns, err = countTurns(tx, p.ID); err != nil {
		return out, err
	}
	if out.LastSeq, err = lastNotice(tx, p); err != nil {
		return out, err
	}
	if out.Waiting, err = waitingTexts(tx, p.ID, out.LastSeq); err != nil {
		return out, err
	}
	if out.GreetingAt, err = greetingAt(tx, p); err != nil {
		return out, err
	}
	if out.Schedules, err = restoreSchedules(tx, p.ID); err != nil {
		return out, err
	}
	out.Flags, err = flagsOf(tx, p)
	return out, err
}

// greetingAt returns when the greeting was to go out; zero when a turn has begun the
// conversation.
func greetingAt(tx *gorm.DB, p models.Participant) (time.Time, error) {
	if p.GreetingAt == nil {
		return time.Time{}, nil
	}
	var begun int64
	err := tx.Model(&models.Turn{}).Where("participant_id = ? AND kind IN ?", p.ID, []wire.TurnKind{wire.TurnGreeting, wire.TurnReply}).
		Limit(1).Count(&begun).Error
	if err != nil || begun > 0 {
		return time.Time{}, err
	}
	return p.GreetingAt.UTC(), nil
}

func countTurns(tx *gorm.DB, participantID string) (int, error) {
	var last sql.NullInt64
	err := tx.Model(&models.Turn{}).Where("participant_id = ?", participantID).Select("max(number)").Scan(&last).Error
	return int(last.Int64), err
}

// lastNotice returns the last number before the first text that no workflow has heard
// of.
func lastNotice(tx *gorm.DB, p models.Participant) (int64, error) {
	var first sql.NullInt64
	err := tx.Model(&models.Notice{}).
		Where("participant_id = ? AND kind IN ? AND delivered_at IS NULL", p.ID, models.MessageNotices()).
		Select("min(seq)").Scan(&first).Error
	if first.Valid {
		return first.Int64 - 1, err
	}
	return p.NextSeq - 1, err
}

// waitingTexts returns the texts that no turn has brought to an end. A turn that only
// keeps texts has none: no answer was due. A reply that was refused because a newer one
// had gone out has not ended its turn.
func waitingTexts(tx *gorm.DB, participantID string, upTo int64) ([]wire.InboxItem, error) {
	settled := tx.Model(&models.Message{}).Select("1").
		Joins("LEFT JOIN turns ON turns.id = messages.turn_id").
		Where("messages.participant_id = inbound.participant_id AND messages.key = 'in-' || inbound.id").
		Where("messages.turn_id = '' OR turns.outcome <> '' OR turns.kind = ?", wire.TurnMessage).
		Where("NOT (inbound.resume_notice_id = ? AND "+replyRefused+")", returned)
	var rows []models.Inbound
	err := tx.Select("id", "seq", "received_at", "channel").
		Where("participant_id = ? AND seq > 0 AND seq <= ? AND NOT EXISTS (?)", participantID, upTo, settled).
		Order("seq").Find(&rows).Error
	return itemsOf(rows), err
}

func restoreSchedules(tx *gorm.DB, participantID string) ([]wire.Schedule, error) {
	var rows []models.ScheduleRow
	if err := tx.Where("participant_id = ?", participantID).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	var last []struct{ ScheduleID, LocalDate string }
	err := tx.Model(&models.Prompt{}).Where("participant_id = ?", participantID).
		Select("schedule_id, max(local_date) AS local_date").Group("schedule_id").Scan(&last).Error
	if err != nil {
		return nil, err
	}
	had := map[string]string{}
	for _, row := range last {
		had[row.ScheduleID] = row.LocalDate
	}
	var out []wire.Schedule
	for _, row := range rows {
		sent, err := lastPromptAt(tx, participantID, row.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, wire.Schedule{
			ID: row.ID, Type: row.Type, At: row.At, From: row.FromTime, To: row.ToTime, Zone: row.Zone, LastDate: had[row.ID], LastAt: sent,
		})
	}
	return out, nil
}

// lastPromptAt returns when the newest prompt of a schedule was sent; zero when none was.
func lastPromptAt(tx *gorm.DB, participantID, scheduleID string) (time.Time, error) {
	var newest []models.Prompt
	err := tx.Where("participant_id = ? AND schedule_id = ? AND sent_at IS NOT NULL", participantID, scheduleID).
		Order("sent_at DESC").Limit(1).Find(&newest).Error
	if err != nil || len(newest) == 0 {
		return time.Time{}, err
	}
	return newest[0].SentAt.UTC(), nil
}
