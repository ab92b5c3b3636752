package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/agent/marks"
	"coachline/internal/database"
	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// entryOf returns a stored text as an entry of the conversation: what can be seen of
// it, with notes for what cannot be shown. The row keeps the text as it came.
func entryOf(turnID string, in models.Inbound) models.Message {
	return models.Message{
		ParticipantID: in.ParticipantID,
		TurnID:        turnID,
		Key:           models.InboundKey(in.ID),
		Role:          models.RoleUser,
		Kind:          models.KindMessage,
		Text:          textOf(in),
		Danger:        in.Danger,
		Channel:       in.Channel,
		At:            in.ReceivedAt,
	}
}

// textOf returns what can be seen of a text, and what was heard of its voice notes.
// Spoken text is marked, so that it is not taken for typed text.
func textOf(in models.Inbound) string {
	lines := spokenLines(in)
	if text := text.Reading(marks.NeutraliseReceived(in.Body), in.MediaCount-len(lines)); text != "" {
		lines = append([]string{text}, lines...)
	}
	return strings.Join(lines, "\n")
}

// historyPage selects a participant's history: at most Limit entries before Before, or
// the newest ones when that is zero, and only those after After.
type historyPage struct {
	ParticipantID string
	Limit         int
	Before, After time.Time
}

// HistoryAfter returns at most limit entries of a participant's conversation
// after an instant, the newest ones, oldest first. That of an unknown
// participant is empty.
func (s *People) HistoryAfter(ctx context.Context, participantID string, limit int, after time.Time) ([]models.HistoryEntry, error) {
	entries, err := readHistory(s.db.Reader(ctx), historyPage{ParticipantID: participantID, Limit: limit, After: after})
	return entries, wrap.Error(database.Classify(err), "reading history")
}

// readHistory reads a page, oldest first: the conversation, and the texts that were
// kept from the coach or that no turn has taken. Those are no part of the conversation,
// so that a flood does not fill what the model reads. A text that cannot be opened is listed as
// unreadable.
func readHistory(tx *gorm.DB, page historyPage) ([]models.HistoryEntry, error) {
	tx = tx.WithContext(database.AllowUnreadable(tx.Statement.Context))
	find := tx.Where("participant_id = ? AND kind NOT IN ?", page.ParticipantID,
		models.EntriesWith(func(k models.KindSpec) bool { return k.Hidden }))
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
	delivery, err := readDeliveries(tx, rows)
	if err != nil {
		return nil, err
	}
	entries := make([]models.HistoryEntry, 0, len(rows))
	for _, m := range rows {
		entries = append(entries, models.HistoryEntry{
			Role: m.Role, Kind: m.Kind, Text: m.Text, At: m.At, Channel: m.Channel.Name(), Delivery: delivery[m.OutboxID].status, ErrorCode: delivery[m.OutboxID].code, By: cmp.Or(m.WrittenBy, delivery[m.OutboxID].by), Danger: m.Danger,
			TurnID: m.TurnID, Unreadable: m.Unreadable != "",
		})
	}
	return addOutside(tx, page, entries)
}

// deliveryOf is where the outbox row of an entry stands, its error code, and the
// operator who wrote it.
type deliveryOf struct {
	status   wire.OutboxStatus
	code, by string
}

// readDeliveries reads the statuses and codes of the outbox rows behind some entries: of the
// later try, where the carrier took it.
func readDeliveries(tx *gorm.DB, entries []models.Message) (map[string]deliveryOf, error) {
	var ids []string
	for _, m := range entries {
		if m.OutboxID != "" {
			ids = append(ids, m.OutboxID, models.LateID(m.OutboxID))
		}
	}
	if len(ids) == 0 {
		return map[string]deliveryOf{}, nil
	}
	var rows []models.Outbox
	err := tx.Select("id", "status", "error_code", "late_of", "sent_by").
		Where("id IN ? AND (late_of = '' OR accepted_at IS NOT NULL)", ids).Order("late_of").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	out := make(map[string]deliveryOf, len(rows))
	for _, r := range rows {
		first := cmp.Or(r.LateOf, r.ID)
		out[first] = deliveryOf{status: r.Status, code: r.ErrorCode, by: cmp.Or(r.SentBy, out[first].by)}
	}
	return out, nil
}

// addOutside adds the texts that are no part of the conversation to the entries of a
// page: an inbound limit kept them from the coach, or no turn has taken them yet.
func addOutside(tx *gorm.DB, page historyPage, all []models.HistoryEntry) ([]models.HistoryEntry, error) {
	find := tx.Where("participant_id = ? AND (gate <> '' OR NOT EXISTS (SELECT 1 FROM messages "+
		"WHERE messages.participant_id = inbound.participant_id AND messages.key = 'in-' || inbound.id))", page.ParticipantID)
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
		entry := entryOf("", row)
		all = append(all, models.HistoryEntry{
			Role: entry.Role, Kind: entry.Kind, Text: entry.Text, At: entry.At, Channel: row.Channel.Name(),
			Limit: row.Limit, Danger: row.Danger, Unreadable: row.Unreadable != "",
		})
	}
	slices.SortStableFunc(all, func(a, b models.HistoryEntry) int { return a.At.Compare(b.At) })
	return all[max(0, len(all)-page.Limit):], nil
}
