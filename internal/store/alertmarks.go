package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
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
	if q.ParticipantID != "" {
		find = find.Where("participant_id = ?", q.ParticipantID)
	}
	if q.Unmarked {
		find = find.Where("mark = ''")
	}
	var rows []models.Alert
	err := find.Find(&rows).Error
	return rows, wrap.Error(err, "listing alerts")
}

// MarkAlert keeps what an operator says of an alert and returns the alert; the
// newest mark counts. A wrong one is cleared, and what it held goes on. Safe to repeat.
// models.ErrNotFound for an unknown alert.
func (s *Alerts) MarkAlert(ctx context.Context, m models.AlertMarking) (models.Alert, error) {
	var row models.Alert
	now := database.Instant(m.Now)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row = models.Alert{}
		if err := tx.Where("id = ?", m.AlertID).Take(&row).Error; err != nil {
			return err
		}
		p, err := database.LockParticipant(tx, row.ParticipantID)
		if err := ignoreMissing(err); err != nil {
			return err
		}
		// The row once more, now that no other mark of the person is made.
		if err := forUpdate(tx).Where("id = ?", m.AlertID).Take(&row).Error; err != nil {
			return err
		}
		if row.Mark == m.Mark {
			return nil
		}
		row.Mark, row.MarkedBy, row.MarkedAt = m.Mark, m.Actor, &now
		if row.Mark == models.MarkWrong && row.ClearedAt == nil {
			row.ClearedAt = &now
		}
		if err := tx.Select("mark", "marked_by", "marked_at", "cleared_at").UpdateColumns(&row).Error; err != nil {
			return err
		}
		err = database.AddAudit(tx, models.AuditRow{
			ParticipantID: row.ParticipantID, Actor: m.Actor, Action: "mark", Detail: row.ID + " " + string(m.Mark), At: now,
		})
		if err != nil || row.Mark != models.MarkWrong || p.Attention != wire.AttentionCrisis {
			return err
		}
		return endFalseCrisis(tx, &p, m.Actor, now)
	})
	return row, wrap.Error(database.Classify(err), "marking the alert")
}

// endFalseCrisis ends the crisis of a participant, whose row is locked, and the coach's
// silence that an alert began, unless another grave text since then has no cleared alert.
func endFalseCrisis(tx *gorm.DB, p *models.Participant, actor string, now time.Time) error {
	var open int64
	err := tx.Model(&models.Inbound{}).Where("participant_id = ? AND danger_tier = ? AND received_at >= ?", p.ID, models.TierA, database.Instant(*p.AttentionAt)).
		Where("NOT EXISTS (SELECT 1 FROM alarms a WHERE a.inbound_id = inbound.id AND a.cleared_at IS NOT NULL)").Count(&open).Error
	if err != nil || open > 0 {
		return err
	}
	if _, err := endAttention(tx, p, []wire.Attention{wire.AttentionCrisis}, now); err != nil || p.TakenOverBy != models.TakenOverByAlert {
		return err
	}
	return handBack(tx, p, models.HandBack{ParticipantID: p.ID, Actor: actor, Now: now})
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
