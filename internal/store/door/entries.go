package door

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/glyphs"
	"coachline/models"
)

// Entry is a stored text as an entry of the conversation: what can be seen of
// it, with notes for what cannot be shown. The row keeps the text as it came.
func Entry(turnID string, in models.Inbound) models.Message {
	return models.Message{
		ParticipantID: in.ParticipantID,
		TurnID:        turnID,
		Key:           "in-" + strconv.FormatInt(in.ID, 10),
		Role:          models.RoleUser,
		Kind:          models.KindMessage,
		Text:          glyphs.Reading(in.Body, in.MediaCount),
		Channel:       in.Channel,
		At:            in.ReceivedAt,
	}
}

// Page selects a participant's history: at most Limit entries before Before, or
// the newest ones when that is zero, and only those after After.
type Page struct {
	ParticipantID string
	Limit         int
	Before, After time.Time
}

// HistoryAfter returns at most limit entries of a participant's conversation
// after an instant, the newest ones, oldest first. Nobody's is empty.
func (d *Desk) HistoryAfter(ctx context.Context, participantID string, limit int, after time.Time) ([]models.HistoryEntry, error) {
	entries, err := History(d.cfg.Read(ctx), Page{ParticipantID: participantID, Limit: limit, After: after})
	if err != nil {
		return nil, fmt.Errorf("reading history: %w", database.Classify(err))
	}
	return entries, nil
}

// History reads a page, oldest first: the conversation, and the texts that were
// kept from the coach. Those are no part of the conversation, so that a flood
// does not fill what the model reads.
func History(tx *gorm.DB, page Page) ([]models.HistoryEntry, error) {
	find := tx.Where("participant_id = ? AND kind NOT IN ?", page.ParticipantID,
		[]models.Kind{models.KindToolCall, models.KindToolResult, models.KindDebug})
	if !page.Before.IsZero() {
		find = find.Where("at < ?", page.Before)
	}
	if !page.After.IsZero() {
		find = find.Where("at > ?", database.Instant(page.After))
	}
	var rows []models.Message
	if err := find.Order("at DESC, id DESC").Limit(page.Limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	slices.Reverse(rows)
	delivery, err := deliveries(tx, rows)
	if err != nil {
		return nil, err
	}
	entries := make([]models.HistoryEntry, 0, len(rows))
	for _, m := range rows {
		entries = append(entries, models.HistoryEntry{
			Role: m.Role, Kind: m.Kind, Text: m.Text, At: m.At, Channel: cmp.Or(m.Channel, models.ChannelSMS), Delivery: delivery[m.OutboxID],
		})
	}
	return kept(tx, page, entries)
}

// deliveries reads the statuses of the outbox rows behind some entries.
func deliveries(tx *gorm.DB, entries []models.Message) (map[string]models.OutboxStatus, error) {
	var ids []string
	for _, m := range entries {
		if m.OutboxID != "" {
			ids = append(ids, m.OutboxID)
		}
	}
	if len(ids) == 0 {
		return map[string]models.OutboxStatus{}, nil
	}
	var rows []models.Outbox
	if err := tx.Select("id", "status").Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string]models.OutboxStatus, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Status
	}
	return out, nil
}

// kept adds the texts with a gate to the entries of a page.
func kept(tx *gorm.DB, page Page, all []models.HistoryEntry) ([]models.HistoryEntry, error) {
	find := tx.Where("participant_id = ? AND gate <> ''", page.ParticipantID)
	if !page.Before.IsZero() {
		find = find.Where("received_at < ?", page.Before)
	}
	if !page.After.IsZero() {
		find = find.Where("received_at > ?", database.Instant(page.After))
	}
	var rows []models.Inbound
	if err := find.Order("received_at DESC, id DESC").Limit(page.Limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, row := range slices.Backward(rows) {
		entry := Entry("", row)
		all = append(all, models.HistoryEntry{Role: entry.Role, Kind: entry.Kind, Text: entry.Text, At: entry.At, Channel: cmp.Or(row.Channel, models.ChannelSMS), Gate: row.Gate})
	}
	slices.SortStableFunc(all, func(a, b models.HistoryEntry) int { return a.At.Compare(b.At) })
	return all[max(0, len(all)-page.Limit):], nil
}
