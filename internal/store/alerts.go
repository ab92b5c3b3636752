package store

import (
	"context"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// safetySpan is the time within which no participant gets the safety text twice.
const safetySpan = 30 * time.Minute

// needsSafetyText reports whether the safety text answers a text that may be a crisis,
// before its row is written: not for people who opted out, not when the text
// itself opts out, and not twice in safetySpan.
func needsSafetyText(tx *gorm.DB, p models.Participant, in models.Inbound) (bool, error) {
	if in.Intent == models.IntentStop || in.Intent == models.IntentHelp {
		return false, nil
	}
	newest, err := newestConsent(tx, p)
	if err != nil || isOptedOut(p, newest) {
		return false, err
	}
	var count int64
	err = tx.Model(&models.Alert{}).
		Where("participant_id = ? AND answer AND created_at > ?", p.ID, in.ReceivedAt.Add(-safetySpan)).Count(&count).Error
	return count == 0, err
}

// weakSpan is the time after an alert within which a weak sign is no weak one.
const weakSpan = 24 * time.Hour

// isEscalated reports whether a weak sign counts as a grave one, because the
// participant, whose row is locked, raised an alert within weakSpan before it.
// The alerts are the state: they are written in the transaction of their texts.
func isEscalated(tx *gorm.DB, in models.Inbound) (bool, error) {
	if in.DangerTier != models.TierB {
		return false, nil
	}
	var count int64
	err := tx.Model(&models.Alert{}).Where("participant_id = ? AND inbound_id <> ? AND created_at > ? AND look NOT IN ?",
		in.ParticipantID, in.ID, database.Instant(in.ReceivedAt).Add(-weakSpan), []models.LookState{models.LookDue, models.LookNone}).Count(&count).Error
	return count > 0, err
}

// alertOptOut has an operator told of a person who ends the messages within weakSpan
// after a text that may be a crisis. It returns the alert, empty where there was none. The
// confirmation then has the emergency numbers.
func alertOptOut(tx *gorm.DB, in models.Inbound) (string, error) {
	if in.Danger != models.DangerNone {
		return "", nil // it has an alert of its own
	}
	var before models.Alert
	err := tx.Where("participant_id = ? AND created_at > ? AND look <> ?", in.ParticipantID, database.Instant(in.ReceivedAt).Add(-weakSpan), models.LookNone).
		Order("created_at DESC").Limit(1).Find(&before).Error
	if err != nil || before.ID == "" {
		return "", err
	}
	in.Danger, in.DangerTier, in.DangerRule, in.DangerKind = before.Danger, models.TierA, before.Rule, before.Kind
	return raiseAlert(tx, in, alertOptions{Escalated: true})
}

// alertOptions is what an alert does beside what its text says. Answer: the safety
// text answers it. Escalated: it was a weak sign.
type alertOptions struct {
	Answer, Escalated bool
}

// raiseAlert records that a stored text may be a crisis: the alert and, unless it is a
// weak sign, that an operator should review the participant, whose row is
// locked. A text that an inbound limit kept from the coach raises no alert of its own
// beside the attention, so that a machine does not page a hundred times.
func raiseAlert(tx *gorm.DB, in models.Inbound, how alertOptions) (string, error) {
	if in.DangerTier != models.TierB {
		if err := raiseCrisis(tx, in); err != nil {
			return "", err
		}
	}
	if in.Limit != models.LimitNone && in.Limit != models.LimitSpent {
		return "", nil
	}
	row := alertOf(in, how)
	if err := foldPage(tx, &row); err != nil {
		return "", err
	}
	added, err := database.InsertOnce(tx, &row)
	if err == nil && !added {
		added, err = makeGrave(tx, row)
	}
	if err != nil || !added {
		return "", err
	}
	return row.ID, database.AddAudit(tx, models.AuditRow{
		ParticipantID: in.ParticipantID, Actor: byScreen, Action: "attention", Detail: row.ID, At: row.CreatedAt,
	})
}

const (
	// pageSpan is how long one page of a person stands for what they write besides.
	pageSpan = 10 * time.Minute
	// strangerPages is how many texts of strangers page in an hour, each by itself; the
	// page after them stands for all others.
	strangerPages = 5
)

// foldPage has an alert counted on one that pages already: one of the same person within
// ten minutes that nobody has acknowledged or cleared, and of strangers, who are unknown,
// the one after five within an hour.
func foldPage(tx *gorm.DB, row *models.Alert) error {
	if !row.Pages {
		return nil
	}
	span, most := pageSpan, 1
	if row.ParticipantID == "" {
		span, most = time.Hour, strangerPages+1
	}
	var open []models.Alert
	find := tx.Where("participant_id = ? AND created_at > ? AND pages AND folded_into = ''", row.ParticipantID, database.Instant(row.CreatedAt.Add(-span)))
	if row.ParticipantID != "" {
		find = find.Where("acknowledged_at IS NULL AND cleared_at IS NULL AND mark = ''")
	}
	if err := find.Order("created_at DESC, inbound_id DESC").Limit(most).Find(&open).Error; err != nil || len(open) < most {
		return err
	}
	row.FoldedInto = open[0].ID
	return nil
}

// alertOf makes the alert of a stored text.
func alertOf(in models.Inbound, how alertOptions) models.Alert {
	return models.Alert{
		ID: "alarm-" + strconv.FormatInt(in.ID, 10), ParticipantID: in.ParticipantID, InboundID: in.ID,
		Danger: in.Danger, Tier: string(in.DangerTier), Rule: in.DangerRule, Kind: in.DangerKind, Score: in.DangerScore,
		Escalated: how.Escalated, Pages: in.DangerTier != models.TierB, Answer: how.Answer, CreatedAt: database.Instant(in.ReceivedAt),
		Safety: models.SafetyKindOf(in.Danger, in.DangerKind, ""),
	}
}

// raiseCrisis has an operator look after the person of a text.
func raiseCrisis(tx *gorm.DB, in models.Inbound) error {
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionCrisis, Ref: strconv.FormatInt(in.ID, 10), Code: string(in.Danger),
		RaisedAt: database.Instant(in.ReceivedAt),
	})
	return err
}

// alertStranger records that a stored text of a number that is not enrolled may be a
// crisis, and returns the alert: one a day and number, so that a machine does not page a
// hundred times, and none for the first weak sign of a day.
func alertStranger(tx *gorm.DB, in models.Inbound) (string, error) {
	now := database.Instant(in.ReceivedAt)
	since := now.Add(-weakSpan)
	ofNumber := "gate = ? AND from_index = ? AND received_at > ?"
	of := []any{models.LimitStranger, in.FromIndex, since}
	var signs, alerts int64
	err := tx.Model(&models.Inbound{}).Where(ofNumber, of...).Where("danger <> '' AND id <> ?", in.ID).Count(&signs).Error
	if err != nil {
		return "", err
	}
	err = tx.Model(&models.Alert{}).Where("participant_id = '' AND created_at > ?", since).
		Where("inbound_id IN (?)", tx.Model(&models.Inbound{}).Select("id").Where(ofNumber, of...)).Count(&alerts).Error
	isWeak := in.DangerTier == models.TierB
	if err != nil || alerts > 0 || isWeak && signs == 0 {
		return "", err
	}
	row := alertOf(in, alertOptions{Escalated: isWeak})
	row.Tier, row.Pages = string(models.TierA), true
	if err := foldPage(tx, &row); err != nil {
		return "", err
	}
	if err := tx.Create(&row).Error; err != nil {
		return "", err
	}
	return row.ID, database.AddAudit(tx, models.AuditRow{Actor: byScreen, Action: "attention", Detail: row.ID, At: now})
}

// Alerts keeps texts that may be a crisis, and who was told of them.
type Alerts struct{ db *database.Database }

// StrangerAlerts lists alerts of numbers that are not enrolled which no operator has
// acknowledged, oldest first, at most limit of them.
func (s *Alerts) StrangerAlerts(ctx context.Context, limit int) ([]models.Alert, error) {
	var rows []models.Alert
	err := s.db.Reader(database.AllowUnreadable(ctx)).Where("participant_id = '' AND acknowledged_at IS NULL").
		Order("created_at").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading the alerts of unknown numbers")
}

// AlertText returns an alert and the text that raised it. models.ErrNotFound for an
// unknown alert.
func (s *Alerts) AlertText(ctx context.Context, id string) (models.AlertMessage, error) {
	var out models.AlertMessage
	err := s.db.Snapshot(database.AllowUnreadable(ctx), func(tx *gorm.DB) error {
		out = models.AlertMessage{}
		if err := tx.Where("id = ?", id).Take(&out.Alert).Error; err != nil {
			return err
		}
		if err := tx.Model(&models.Alert{}).Where("folded_into = ?", id).Count(&out.More).Error; err != nil {
			return err
		}
		var in models.Inbound
		err := tx.Where("id = ?", out.Alert.InboundID).Limit(1).Find(&in).Error
		out.Phone, out.Text = in.From, textOf(in)
		return err
	})
	return out, wrap.Error(classify(err), "reading the text of an alert")
}

// makeGrave has an alert page a person that another part of the same message,
// such as a voice note, raised as a weak sign, and reports whether it did.
// Temporal is told of the alert anew.
func makeGrave(tx *gorm.DB, row models.Alert) (bool, error) {
	if !row.Pages {
		return false, nil
	}
	res := tx.Model(&models.Alert{}).Where("id = ? AND NOT pages", row.ID).UpdateColumns(map[string]any{
		"danger": row.Danger, "tier": row.Tier, "rule": row.Rule, "kind": row.Kind, "score": row.Score, "escalated": row.Escalated, "safety": row.Safety, "pages": true,
		"told_at": nil,
	})
	return res.RowsAffected > 0, res.Error
}

// heldForAttention is why something of ours was not sent: an operator should
// attend to the person first.
const heldForAttention = "attention"

// keepInbound writes the row of a text that no turn takes up, or what a transcript adds
// to it, and its entry of the conversation, and returns the row as stored. One with a
// limit has no entry.
func keepInbound(tx *gorm.DB, in models.Inbound) (models.Inbound, error) {
	var err error
	if !isSpoken(in) {
		err = tx.Create(&in).Error
		if in.Limit != models.LimitNone {
			return in, err
		}
	} else {
		err = saveTranscription(tx, in)
	}
	if err != nil {
		return in, err
	}
	entry := entryOf("", in)
	added, err := database.InsertOnce(tx, &entry)
	if err != nil || added {
		return in, err
	}
	// A second voice note of one message.
	var stored models.Message
	if err := tx.Where("participant_id = ? AND key = ?", entry.ParticipantID, entry.Key).Take(&stored).Error; err != nil {
		return in, err
	}
	stored.Text, stored.Danger = entry.Text, entry.Danger
	return in, tx.Select("text", "danger").UpdateColumns(&stored).Error
}

// PendingAlerts lists alerts that Temporal was not told of and that were
// written before createdBefore, oldest first, at most limit of them.
func (s *Alerts) PendingAlerts(ctx context.Context, createdBefore time.Time, limit int) ([]models.Alert, error) {
	var rows []models.Alert
	err := s.db.Reader(ctx).Where("told_at IS NULL AND created_at < ?", createdBefore).
		Order("created_at").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(err, "reading alerts")
}

// AlertTold records that Temporal was told of an alert. Safe to repeat: the first
// instant stays. An alert that has become grave since it was read stays to be
// told.
func (s *Alerts) AlertTold(ctx context.Context, told models.Alert, at time.Time) error {
	return s.markAlert(ctx, "told_at", at, "id = ? AND pages = ? AND told_at IS NULL", told.ID, told.Pages)
}

// AlertPaged records that the page was taken. Safe to repeat.
func (s *Alerts) AlertPaged(ctx context.Context, id string, at time.Time) error {
	return s.markAlert(ctx, "paged_at", at, "id = ? AND paged_at IS NULL", id)
}

func (s *Alerts) markAlert(ctx context.Context, column string, at time.Time, where string, args ...any) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.Alert{}).Where(where, args...).UpdateColumn(column, database.Instant(at)).Error
	})
	return wrap.Error(err, "marking the alert")
}

// Alert reads an alert. models.ErrNotFound for an unknown id.
func (s *Alerts) Alert(ctx context.Context, id string) (models.Alert, error) {
	var row models.Alert
	err := s.db.Reader(ctx).Where("id = ?", id).Take(&row).Error
	return row, wrap.Error(database.Classify(err), "reading the alert")
}

// QueueSafetyText writes the outbox row of the safety text, with its entry of
// the conversation, on the channel that the text came by, and returns the row's
// id; "" when the text is answered
// otherwise, or it comes too late to be of use. Safe to retry: the first row
// stays. Whether it may be sent is for the send checks.
func (s *Alerts) QueueSafetyText(ctx context.Context, text models.SafetyText) (string, error) {
	var id string
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		id = ""
		var raised models.Alert
		if err := tx.Where("id = ?", text.AlertID).Take(&raised).Error; err != nil || !raised.Answer {
			return err
		}
		if _, err := database.LockParticipant(tx, raised.ParticipantID); err != nil {
			return err
		}
		var in models.Inbound
		if err := tx.Select("channel").Where("id = ?", raised.InboundID).Take(&in).Error; err != nil {
			return err
		}
		row := models.Outbox{
			ID:            raised.ParticipantID + "-safety-" + strconv.FormatInt(raised.InboundID, 10),
			ParticipantID: raised.ParticipantID, Part: 1, Kind: models.KindSafety, Body: text.Body, Channel: in.Channel,
			Status: wire.OutboxReady, CreatedAt: text.Now, UpdatedAt: text.Now,
		}
		var err error
		id, err = queueOnce(tx, row, raised.CreatedAt.Add(models.SafetyTextValidity))
		return err
	})
	return id, wrap.Error(err, "queueing the safety text")
}

// ClearAttention ends a participant's attention of every kind and the alerts
// behind it, and returns the row afterwards; what we start ourselves goes on with
// its next slot. Safe to repeat: without attention nothing is written.
// ErrNotFound also after removal.
func (s *Attention) ClearAttention(ctx context.Context, c models.AttentionClearing) (models.Participant, error) {
	var p models.Participant
	now := database.Instant(c.Now)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var err error
		if p, err = database.LockEnrolled(tx, c.ParticipantID); err != nil {
			return err
		}
		ended, err := endAttention(tx, &p, wire.Attentions(), now)
		if err != nil || len(ended) == 0 {
			return err
		}
		if err = clearAlerts(tx, p.ID, c.Note, now); err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{ParticipantID: p.ID, Actor: c.Actor, Action: "attend", Detail: joinKinds(ended), At: now})
	})
	return p, wrap.Error(err, "clearing the attention")
}

// clearAlerts ends the open alerts of a participant. The note is sealed for each
// row of its own.
func clearAlerts(tx *gorm.DB, participantID, note string, now time.Time) error {
	var open []models.Alert
	err := tx.Where("participant_id = ? AND cleared_at IS NULL", participantID).Find(&open).Error
	if err != nil {
		return err
	}
	for _, raised := range open {
		raised.ClearedAt, raised.Note = &now, note
		if err := tx.Select("cleared_at", "note").UpdateColumns(&raised).Error; err != nil {
			return err
		}
	}
	return nil
}
