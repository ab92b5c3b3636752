package database

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
)

// SealReasons moves the reasons of forced modes that earlier builds wrote in the
// clear, "FEEDBACK: reason", to the sealed column. Safe to repeat: where none is
// left it reads only.
func (d *Database) SealReasons(ctx context.Context) error {
	find := func(tx *gorm.DB) *gorm.DB {
		return tx.Where("action IN ? AND detail LIKE '%: %'", []string{"set_mode", "set_mode_failed"})
	}
	var count int64
	if err := find(d.Reader(ctx).Model(&models.AuditRow{})).Count(&count).Error; err != nil || count == 0 {
		return wrapReasons(err)
	}
	return wrapReasons(d.Write(ctx, func(tx *gorm.DB) error {
		var rows []models.AuditRow
		if err := find(tx).Find(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			row.Detail, row.Reason, _ = strings.Cut(row.Detail, ": ")
			if err := tx.Select("detail", "reason").UpdateColumns(&row).Error; err != nil {
				return err
			}
		}
		return nil
	}))
}

func wrapReasons(err error) error {
	return wrap.Error(err, "sealing reasons of the audit")
}
