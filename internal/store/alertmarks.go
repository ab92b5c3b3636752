package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

const maxAlertPage = 200

// List returns a page of alerts, newest first. A limit outside 1..200 counts as
// 200.
func (s *Alerts) List(ctx context.Context, q models.AlertQuery) ([]models.Alert, error) {
	if q.Limit < 1 || q.Limit > maxAlertPage {
		q.Limit = maxAlertPage
	}
	find := s.db.Reader(database.AllowUnreadable(ctx)).Order("inbound_id DESC").Limit(q.Limit)
	if q.BeforeInbound > 0 {
		find = find.Where("inbound_id < ?", q.BeforeInbound)
	}
	if q.Unmarked {
		find = find.Where("mark = ''")
	}
	var rows []models.Alert
	if err := find.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("listing alerts: %w", err)
	}
	return rows, nil
}

// MarkAlert keeps what an operator says of an alert and returns the alert; the
// newest mark counts. Safe to repeat. models.ErrNotFound for an unknown alert.
func (s *Alerts) MarkAlert(ctx context.Context, m models.AlertMarking) (models.Alert, error) {
	var row models.Alert
	now := database.Instant(m.Now)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row = models.Alert{}
		if err := forUpdate(tx).Where("id = ?", m.AlertID).Take(&row).Error; err != nil {
			return err
		}
		if row.Mark == m.Mark {
			return nil
		}
		row.Mark, row.MarkedBy, row.MarkedAt = m.Mark, m.Actor, &now
		if err := tx.Select("mark", "marked_by", "marked_at").UpdateColumns(&row).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.Audit{
			ParticipantID: row.ParticipantID, Actor: m.Actor, Action: "mark", Detail: row.ID + " " + string(m.Mark), At: now,
		})
	})
	if err != nil {
		return models.Alert{}, fmt.Errorf("marking the alert: %w", database.Classify(err))
	}
	return row, nil
}

// MarkedTexts returns the texts of all alerts that operators have judged, oldest
// first. Texts that are erased or cannot be read are left out.
func (s *Alerts) MarkedTexts(ctx context.Context) ([]models.MarkedText, error) {
	tx := s.db.Reader(database.AllowUnreadable(ctx))
	var rows []models.Alert
	if err := tx.Where("mark <> ''").Order("inbound_id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("reading marked alerts: %w", err)
	}
	var out []models.MarkedText
	for _, row := range rows {
		var in models.Inbound
		res := tx.Where("id = ?", row.InboundID).Limit(1).Find(&in)
		if res.Error != nil {
			return nil, fmt.Errorf("reading the text of %s: %w", row.ID, res.Error)
		}
		text := entryOf("", in).Text
		if res.RowsAffected == 0 || in.Unreadable != "" || text == "" {
			continue
		}
		var p models.Participant
		if err := tx.Select("locale").Where("id = ?", row.ParticipantID).Limit(1).Find(&p).Error; err != nil {
			return nil, fmt.Errorf("reading the locale of %s: %w", row.ID, err)
		}
		out = append(out, models.MarkedText{AlertID: row.ID, Locale: p.Locale, Kind: row.Kind, Mark: row.Mark, Text: text})
	}
	return out, nil
}
