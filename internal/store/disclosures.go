package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// noteDisclosure keeps the proof that a text tells the person that a program writes; of
// other texts nothing. Whether it went out, its row says.
func noteDisclosure(tx *gorm.DB, row models.Outbox) error {
	words := text.FindDisclosure(row.Body)
	if words == "" || row.ParticipantID == "" || row.Kind == models.KindOperator {
		return nil
	}
	told := models.Disclosure{OutboxID: row.ID, ParticipantID: row.ParticipantID, Kind: row.Kind, Words: words, At: row.CreatedAt}
	if err := tx.Model(&models.Participant{}).Select("locale").Where("id = ?", row.ParticipantID).Scan(&told.Locale).Error; err != nil {
		return err
	}
	_, err := insertOnce(tx, &told)
	return err
}

// LastDisclosure returns when a person was last told that a program writes; zero for never.
func (s *Turns) LastDisclosure(ctx context.Context, participantID string) (time.Time, error) {
	var rows []models.Disclosure
	err := s.db.Reader(ctx).Select("disclosures.at").Joins("JOIN outbox ON outbox.id = disclosures.outbox_id").
		Where("disclosures.participant_id = ? AND outbox.status NOT IN ?", participantID, []wire.OutboxStatus{wire.OutboxCanceled, wire.OutboxFailed}).
		Order("disclosures.at DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return time.Time{}, wrap.Error(classify(err), "reading the last disclosure")
	}
	return rows[0].At, nil
}
