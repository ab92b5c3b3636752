package store

import (
	"context"
	"strconv"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// erasedSID takes the place of an inbound row's carrier id, which must be unique.
const erasedSID = "erased-"

// CarrierCopies lists messages of a person whom an erasure is about that the
// carrier may still keep, at most limit of them.
func (s *Erasures) CarrierCopies(ctx context.Context, participantID string, limit int) (copies []models.CarrierCopy, err error) {
	err = s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		copies, err = carrierCopies(tx, participantID, limit)
		return err
	})
	return copies, wrap.Error(err, "listing the carrier's copies")
}

// carrierCopies finds rows that have the carrier's id of a message; CopyErased takes it away.
func carrierCopies(tx *gorm.DB, participantID string, limit int) ([]models.CarrierCopy, error) {
	var out []models.CarrierCopy
	var sent []models.Outbox
	err := tx.Select("id", "provider_sid").Where("participant_id = ? AND provider_sid <> ''", participantID).Order("id").Limit(limit).Find(&sent).Error
	if err != nil {
		return nil, err
	}
	for _, row := range sent {
		out = append(out, models.CarrierCopy{Table: "outbox", RowID: row.ID, ProviderSID: row.ProviderSID})
	}
	var got []models.Inbound
	err = tx.Select("id", "provider_sid", "media_count").
		Where("participant_id = ? AND "+carried("channel")+" AND provider_sid NOT LIKE ?", participantID, erasedSID+"%").Order("id").Limit(limit).Find(&got).Error
	if err != nil {
		return nil, err
	}
	for _, row := range got {
		out = append(out, models.CarrierCopy{Table: "inbound", RowID: strconv.FormatInt(row.ID, 10), ProviderSID: row.ProviderSID, HasMedia: row.MediaCount > 0})
	}
	var hints []models.Hint
	own := tx.Model(&models.Inbound{}).Select("id").Where("participant_id = ?", participantID)
	if err := tx.Where("provider_sid <> '' AND inbound_id IN (?)", own).Order("id").Limit(limit).Find(&hints).Error; err != nil {
		return nil, err
	}
	for _, row := range hints {
		out = append(out, models.CarrierCopy{Table: "hints", RowID: row.ID, ProviderSID: row.ProviderSID})
	}
	return out[:min(len(out), limit)], nil
}

// CopyErased records that the carrier has no copy of a message any more. Safe to
// repeat.
func (s *Erasures) CopyErased(ctx context.Context, participantID string, c models.CarrierCopy) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row := tx.Table(c.Table).Where("provider_sid = ?", c.ProviderSID)
		none := ""
		if c.Table == "inbound" {
			none = erasedSID + c.RowID
		}
		res := row.UpdateColumn("provider_sid", none)
		if res.Error != nil || res.RowsAffected == 0 {
			return res.Error
		}
		return tx.Model(&models.Erasure{}).Where("participant_id = ?", participantID).
			UpdateColumn("carrier_messages", gorm.Expr("carrier_messages + 1")).Error
	})
	return wrap.Error(err, "recording a deleted copy")
}

// countUnknownCopies counts texts that may be at the carrier under an id that we
// never learned: they were posted and no answer came.
func countUnknownCopies(tx *gorm.DB, participantID string) (int64, error) {
	var count int64
	err := tx.Model(&models.Outbox{}).Where("participant_id = ? AND status = ?", participantID, wire.OutboxUnknown).
		Where("accepted_at IS NULL").Count(&count).Error
	return count, err
}
