package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

// strangerRows selects the texts of strangers by their ids.
const strangerRows = "id IN ? AND participant_id = ''"

// ForgetStrangers empties texts and numbers of people who were never enrolled, and of
// joins that came to nothing, and returns how many texts there were. Of a STOP or START
// the keyed hash of the number stays, so that an opt-out is honoured. Attention ends with
// the texts of its number, and a day after the last above the limits. Safe to repeat.
func (s *Erasures) ForgetStrangers(ctx context.Context, f models.StrangersForgotten) (int, error) {
	var ids []int64
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		ids = nil
		texts := tx.Model(&models.Inbound{}).Where(`participant_id = '' AND "from" <> '' AND received_at < ?`, instant(f.Before))
		joins := tx.Model(&models.Join{}).Where("participant_id = '' AND phone <> '' AND state <> ? AND created_at < ?", models.JoinPending, instant(f.Before))
		if f.Phone != "" {
			texts, joins = texts.Where("from_index = ?", s.db.Index(f.Phone)), joins.Where("phone_index = ?", s.db.Index(f.Phone))
		}
		if err := texts.Order("id").Limit(f.Limit).Pluck("id", &ids).Error; err != nil {
			return err
		}
		if err := joins.UpdateColumns(map[string]any{"phone": "", "phone_index": "", "locale": "", "timezone": ""}).Error; err != nil {
			return err
		}
		if err := endStrangersFlood(tx, ids, f.Now); err != nil || len(ids) == 0 {
			return err
		}
		if err := emptyStrangers(tx, ids); err != nil || f.Actor == "" {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: f.Actor, Action: "forget_stranger", Detail: fmt.Sprintf("%d texts", len(ids)), At: instant(f.Now)})
	})
	if err != nil {
		return 0, fmt.Errorf("emptying texts of strangers: %w", err)
	}
	return len(ids), nil
}

// endStrangersFlood ends attention for one of the texts given, or for one of more than a
// day ago.
func endStrangersFlood(tx *gorm.DB, ids []int64, now time.Time) error {
	refs := []string{}
	for _, id := range ids {
		refs = append(refs, strconv.FormatInt(id, 10))
	}
	return tx.Model(&models.AttentionEntry{}).Where("participant_id = '' AND ended_at IS NULL").
		Where("ref IN ? OR raised_at < ?", refs, instant(now.Add(-24*time.Hour))).UpdateColumn("ended_at", instant(now)).Error
}

// emptyStrangers empties texts by their ids, and what was said of them.
func emptyStrangers(tx *gorm.DB, ids []int64) error {
	kept := []models.Intent{models.IntentStop, models.IntentStart}
	err := tx.Model(&models.Inbound{}).Where(strangerRows, ids).UpdateColumns(map[string]any{
		"from": "", "body": "", "voice": "", "repeat_index": "", "provider_sid": gorm.Expr("'" + erasedSID + "' || id"),
		"from_index": gorm.Expr("CASE WHEN intent IN ? THEN from_index ELSE '' END", kept),
	}).Error
	if err != nil {
		return err
	}
	if err := tx.Model(&models.Hint{}).Where("inbound_id IN ?", ids).UpdateColumn("id", gorm.Expr("'hint-erased-' || inbound_id")).Error; err != nil {
		return err
	}
	return tx.Model(&models.Alert{}).Where("participant_id = '' AND inbound_id IN ?", ids).UpdateColumns(map[string]any{"note": "", "look_reason": ""}).Error
}
