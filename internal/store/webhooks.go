package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

func webhookObject(id string) string { return "webhook:" + id }

// Webhooks keeps webhooks and their deliveries.
type Webhooks struct{ db *database.Database }

// AddWebhook stores a webhook with its audit row. *FieldError for an unknown study.
func (s *Webhooks) AddWebhook(ctx context.Context, w models.Webhook) (models.Webhook, error) {
	w.CreatedAt = instant(w.CreatedAt)
	w.UpdatedAt, w.Version = w.CreatedAt, 1
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkWebhookStudy(tx, w.StudyID); err != nil {
			return err
		}
		if err := tx.Create(&w).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: w.CreatedBy, Action: "webhook_add", Object: webhookObject(w.ID), At: w.CreatedAt, After: webhookFields(w)})
	})
	return w, wrap.Error(err, "adding the webhook")
}

func checkWebhookStudy(tx *gorm.DB, id string) error {
	if id == "" {
		return nil
	}
	_, err := readStudy(tx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, models.ErrNotFound) {
		return models.UnknownStudy("study_id", id)
	}
	return err
}

func webhookFields(w models.Webhook) map[string]string {
	return map[string]string{"url": w.URL, "study": w.StudyID, "events": w.Events, "state": string(w.State)}
}

// List lists all webhooks, oldest first.
func (s *Webhooks) List(ctx context.Context) ([]models.Webhook, error) {
	var rows []models.Webhook
	err := s.db.Reader(ctx).Order("created_at, id").Find(&rows).Error
	return rows, wrap.Error(classify(err), "listing webhooks")
}

// Webhook returns one webhook. ErrNotFound for an unknown id.
func (s *Webhooks) Webhook(ctx context.Context, id string) (models.Webhook, error) {
	var row models.Webhook
	err := s.db.Reader(ctx).Where("id = ?", id).Take(&row).Error
	return row, wrap.Error(classify(err), "reading the webhook")
}

// ChangeWebhook changes fields of a webhook. ErrNotFound for an unknown id,
// ErrStale for another version, *FieldError for an unknown study.
func (s *Webhooks) ChangeWebhook(ctx context.Context, c models.WebhookChange) (models.Webhook, error) {
	var row models.Webhook
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row = models.Webhook{}
		if err := forUpdate(tx).Where("id = ?", c.ID).Take(&row).Error; err != nil {
			return err
		}
		if c.IfMatch != nil && *c.IfMatch != row.Version {
			return models.ErrStale
		}
		before := webhookFields(row)
		applyWebhookChange(&row, c)
		if err := checkWebhookStudy(tx, row.StudyID); err != nil {
			return err
		}
		if err := tx.Select("*").UpdateColumns(&row).Error; err != nil {
			return err
		}
		detail := ""
		if c.Secret != nil {
			detail = "new secret"
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: c.Actor, Action: "webhook_change", Object: webhookObject(row.ID), Detail: detail, At: row.UpdatedAt, Before: before, After: webhookFields(row),
		})
	})
	return row, wrap.Error(classify(err), "changing the webhook")
}

func applyWebhookChange(row *models.Webhook, c models.WebhookChange) {
	if c.URL != nil {
		row.URL = *c.URL
	}
	if c.StudyID != nil {
		row.StudyID = *c.StudyID
	}
	if c.Events != nil {
		row.Events = models.JoinEventTypes(c.Events)
	}
	if c.State != nil {
		row.State = *c.State
	}
	if c.Secret != nil {
		now := instant(c.Now)
		row.Secret, row.RotatedAt = *c.Secret+" "+row.Secrets(c.Now)[0], &now
	}
	row.FailingSince, row.LastError = nil, ""
	row.UpdatedAt = instant(c.Now)
	row.Version++
}

// RemoveWebhook deletes a webhook and its pending deliveries. ErrNotFound for
// an unknown id.
func (s *Webhooks) RemoveWebhook(ctx context.Context, id, actor string, now time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var row models.Webhook
		if err := forUpdate(tx).Where("id = ?", id).Take(&row).Error; err != nil {
			return err
		}
		if err := tx.Where("webhook_id = ?", id).Delete(&models.WebhookDelivery{}).Error; err != nil {
			return err
		}
		if err := tx.Delete(&row).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: actor, Action: "webhook_remove", Object: webhookObject(id), At: now, Before: webhookFields(row)})
	})
	return wrap.Error(classify(err), "removing the webhook")
}

// AddTestDelivery queues a test event for a webhook. ErrNotFound for an unknown id.
func (s *Webhooks) AddTestDelivery(ctx context.Context, webhookID, actor string, now time.Time) (models.WebhookDelivery, error) {
	now = instant(now)
	row := models.WebhookDelivery{WebhookID: webhookID, Type: models.WebhookTest, ObjectID: webhookID, At: now, NextAt: now}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", webhookID).Take(&models.Webhook{}).Error; err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: actor, Action: "webhook_test", Object: webhookObject(webhookID), At: now})
	})
	return row, wrap.Error(classify(err), "adding a test delivery")
}

// claimDeliveries takes deliveries of one webhook that are due: of each participant
// only the oldest that is not delivered, so that each is told in order; what concerns
// no participant waits for the same object alone. Another process that claims at the
// same time gets other rows.
var claimDeliveries = "UPDATE webhook_deliveries SET attempts = attempts + 1, next_at = ? WHERE delivered_at IS NULL AND next_at <= ? AND id IN (" +
	"SELECT d.id FROM webhook_deliveries d WHERE d.webhook_id = ? AND d.delivered_at IS NULL AND d.next_at <= ? AND NOT EXISTS (" +
	"SELECT 1 FROM webhook_deliveries e WHERE e.webhook_id = d.webhook_id AND e.participant_id = d.participant_id AND " +
	"(d.participant_id <> '' OR e.object_id = d.object_id) AND e.delivered_at IS NULL AND e.id < d.id) " +
	"ORDER BY d.id LIMIT ?) RETURNING *"

// ClaimDeliveries takes up to limit deliveries of a webhook that are due, at most
// one of each participant, and keeps them from others until an instant. Without a
// participant it is at most one of each object.
func (s *Webhooks) ClaimDeliveries(ctx context.Context, webhookID string, now, until time.Time, limit int) ([]models.WebhookDelivery, error) {
	var rows []models.WebhookDelivery
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Raw(claimDeliveries, instant(until), instant(now), webhookID, instant(now), limit).Scan(&rows).Error
	})
	return rows, wrap.Error(err, "claiming webhook deliveries")
}

// RecordDelivery records what came of a claimed delivery. A claim that is over, because
// its lease ended or a replay came meanwhile, leaves the delivery as it is. A retry
// changes nothing.
func (s *Webhooks) RecordDelivery(ctx context.Context, a models.WebhookAttempt) error {
	now := instant(a.Now)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		fields := map[string]any{"answer": a.Answer, "error": a.Error, "next_at": instant(a.Next)}
		if a.Error == "" {
			fields = map[string]any{"answer": a.Answer, "error": "", "delivered_at": now}
		}
		claimed := tx.Model(&models.WebhookDelivery{}).Where("id = ? AND attempts = ? AND next_at = ? AND delivered_at IS NULL",
			a.Delivery.ID, a.Delivery.Attempts, instant(a.Delivery.NextAt))
		if err := claimed.UpdateColumns(fields).Error; err != nil {
			return err
		}
		hook := tx.Model(&models.Webhook{}).Where("id = ?", a.Delivery.WebhookID)
		switch {
		case a.Error == "":
			return hook.Where("failing_since IS NOT NULL").UpdateColumns(map[string]any{"failing_since": nil, "last_error": ""}).Error
		case a.Gone:
			return hook.UpdateColumns(map[string]any{"state": models.WebhookDisabled, "last_error": a.Error, "updated_at": now, "version": gorm.Expr("version + 1")}).Error
		}
		return hook.UpdateColumns(map[string]any{"failing_since": gorm.Expr("COALESCE(failing_since, ?)", now), "last_error": a.Error}).Error
	})
	return wrap.Error(err, "recording a webhook delivery")
}

// Deliveries returns a page of a webhook's deliveries, newest first. A limit
// outside 1..200 counts as 200.
func (s *Webhooks) Deliveries(ctx context.Context, q models.DeliveryQuery) ([]models.WebhookDelivery, error) {
	find := s.db.Reader(ctx).Where("webhook_id = ?", q.WebhookID).Order("id DESC").Limit(pageLimit(q.Limit))
	if q.OnlyOpen {
		find = find.Where("delivered_at IS NULL")
	}
	if q.BeforeID > 0 {
		find = find.Where("id < ?", q.BeforeID)
	}
	var rows []models.WebhookDelivery
	err := find.Find(&rows).Error
	return rows, wrap.Error(classify(err), "listing webhook deliveries")
}

// ReplayDeliveries queues the events since an instant for a webhook again, in order,
// and returns their number. Each keeps its id.
func (s *Webhooks) ReplayDeliveries(ctx context.Context, webhookID, actor string, since, now time.Time) (int64, error) {
	var count int64
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", webhookID).Take(&models.Webhook{}).Error; err != nil {
			return err
		}
		done := tx.Model(&models.WebhookDelivery{}).Where("webhook_id = ? AND at >= ?", webhookID, instant(since)).
			UpdateColumns(map[string]any{"delivered_at": nil, "attempts": 0, "next_at": instant(now), "error": "", "answer": 0})
		count = done.RowsAffected
		if done.Error != nil {
			return done.Error
		}
		detail := fmt.Sprintf("%d since %s", count, since.UTC().Format(time.RFC3339))
		return database.AddAudit(tx, models.AuditRow{Actor: actor, Action: "webhook_replay", Object: webhookObject(webhookID), Detail: detail, At: now})
	})
	return count, wrap.Error(classify(err), "replaying webhook deliveries")
}

// PruneDeliveries deletes deliveries of what happened before an instant, up to limit,
// and returns how many.
func (s *Webhooks) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int64, error) {
	var count int64
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE at < ? ORDER BY at LIMIT ?)", instant(before), limit)
		count = done.RowsAffected
		return done.Error
	})
	return count, wrap.Error(err, "deleting old webhook deliveries")
}
