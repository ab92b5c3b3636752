package store

import (
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// raiseAttention opens attention of the entry's kind, and reports whether it did: while
// attention of the kind is open nothing is written.
func raiseAttention(tx *gorm.DB, entry models.AttentionEntry) (bool, error) {
	entry.ID, entry.EndedAt, entry.RaisedAt = 0, nil, database.Instant(entry.RaisedAt)
	var open int64
	err := tx.Model(&models.AttentionEntry{}).
		Where("participant_id = ? AND kind = ? AND ended_at IS NULL", entry.ParticipantID, entry.Kind).Count(&open).Error
	if err != nil || open > 0 {
		return false, err
	}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&entry) // strangers lock no row before
	if res.Error != nil || res.RowsAffected == 0 || entry.ParticipantID == "" {
		return res.RowsAffected > 0, res.Error
	}
	return true, showAttention(tx, &models.Participant{ID: entry.ParticipantID}, entry.RaisedAt)
}

// endAttention ends open attention of the kinds given and returns those that were open,
// the most urgent first. p becomes the row as it is then; without open attention
// nothing is written.
func endAttention(tx *gorm.DB, p *models.Participant, kinds []wire.Attention, at time.Time) ([]wire.Attention, error) {
	open, err := openAttention(tx, p.ID)
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(entry models.AttentionEntry) bool { return !slices.Contains(kinds, entry.Kind) })
	if len(open) == 0 {
		return nil, nil
	}
	var ended []wire.Attention
	var ids []int64
	for _, entry := range open {
		ended, ids = append(ended, entry.Kind), append(ids, entry.ID)
	}
	at = database.Instant(at)
	err = tx.Model(&models.AttentionEntry{}).Where("id IN ?", ids).UpdateColumn("ended_at", at).Error
	if err != nil {
		return nil, err
	}
	return ended, showAttention(tx, p, at)
}

// openAttention lists the open entries of a participant, the most urgent first.
func openAttention(tx *gorm.DB, participantID string) ([]models.AttentionEntry, error) {
	var open []models.AttentionEntry
	err := tx.Where("participant_id = ? AND ended_at IS NULL", participantID).Find(&open).Error
	urgency := wire.Attentions()
	slices.SortFunc(open, func(a, b models.AttentionEntry) int {
		return slices.Index(urgency, a.Kind) - slices.Index(urgency, b.Kind)
	})
	return open, err
}

// flagsOf reads what the search attributes are to show of a participant.
func flagsOf(tx *gorm.DB, p models.Participant) (wire.ParticipantFlags, error) {
	open, err := openAttention(tx, p.ID)
	flags := wire.ParticipantFlags{Unreachable: p.UnreachableAt != nil}
	for _, entry := range open {
		flags.Attention = append(flags.Attention, entry.Kind)
	}
	return flags, err
}

// tellAttention leaves the notice that the participant's flags have changed.
func tellAttention(tx *gorm.DB, participantID string, at time.Time) error {
	return tx.Create(&models.Notice{ParticipantID: participantID, Kind: models.NoticeFlags, CreatedAt: database.Instant(at)}).Error
}

// showAttention puts the most urgent open kind on the participant's row, under a new
// version, and leaves the notice.
func showAttention(tx *gorm.DB, p *models.Participant, at time.Time) error {
	open, err := openAttention(tx, p.ID)
	if err != nil {
		return err
	}
	p.Attention, p.AttentionAt, p.UpdatedAt = "", nil, at
	if len(open) > 0 {
		since := open[0].RaisedAt.UTC()
		p.Attention, p.AttentionAt = open[0].Kind, &since
	}
	p.Version++
	err = tx.Model(&models.Participant{}).Where("id = ?", p.ID).UpdateColumns(map[string]any{
		"attention": p.Attention, "attention_at": p.AttentionAt, "version": gorm.Expr("version + 1"), "updated_at": at,
	}).Error
	if err != nil {
		return err
	}
	return tellAttention(tx, p.ID, at)
}
