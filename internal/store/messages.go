package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/models"
)

// mediaText stands for a text that held pictures only.
const mediaText = "[media]"

// AcceptInbound stores a text as the carrier delivered it. The provider's id
// is claimed once: whoever comes later, also at the same moment, gets the
// stored row with Duplicate set, and nothing is written. A text of an enrolled
// sender gets the next sequence number, answers the prompts that wait for one,
// and leaves a notice for the workflow; one that opts out, comes back or asks
// for help is acted on in the same transaction instead. A stranger's text is
// only stored. Safe to retry.
func (s *Store) AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	if in.ProviderSID == "" {
		return models.AcceptedInbound{}, models.BadField("provider_sid", "must not be empty")
	}
	out, found, err := s.claimed(ctx, in.ProviderSID)
	if err != nil || found {
		return out, err
	}
	err = s.write(ctx, func(tx *gorm.DB) error {
		var err error
		out, err = acceptInbound(tx, in, s.sealer.Index(in.From))
		return err
	})
	if errors.Is(err, models.ErrConflict) {
		// The same delivery came in twice at once, and the other one won.
		out, found, err = s.claimed(ctx, in.ProviderSID)
		if err == nil && !found {
			err = models.ErrConflict
		}
	}
	if err != nil {
		return models.AcceptedInbound{}, fmt.Errorf("accepting inbound: %w", err)
	}
	return out, nil
}

func (s *Store) claimed(ctx context.Context, providerSID string) (models.AcceptedInbound, bool, error) {
	var row models.Inbound
	err := s.reader(ctx).Where("provider_sid = ?", providerSID).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.AcceptedInbound{}, false, nil
	}
	if err != nil {
		return models.AcceptedInbound{}, false, fmt.Errorf("reading inbound: %w", classify(err))
	}
	return models.AcceptedInbound{Inbound: row, Duplicate: true}, true, nil
}

func acceptInbound(tx *gorm.DB, in models.Inbound, phoneIndex string) (models.AcceptedInbound, error) {
	in.ID, in.ParticipantID, in.Seq = 0, "", 0
	in.ReceivedAt = instant(in.ReceivedAt)
	var p models.Participant
	err := forUpdate(tx).Where("phone_index = ? AND removed_at IS NULL", phoneIndex).Take(&p).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		err = tx.Create(&in).Error
		return models.AcceptedInbound{Inbound: in}, err
	case err != nil:
		return models.AcceptedInbound{}, err
	}
	in.ParticipantID = p.ID
	if ruled(in.Intent, p) {
		return acceptRuled(tx, in, p)
	}
	in.Seq = p.NextSeq
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	if err := tx.Model(&p).UpdateColumn("next_seq", p.NextSeq+1).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	if err := answerPrompts(tx, p.ID, in.ReceivedAt); err != nil {
		return models.AcceptedInbound{}, err
	}
	notice, err := notify(tx, models.Notice{
		ParticipantID: p.ID,
		Kind:          models.NoticeMessage,
		Ref:           strconv.FormatInt(in.ID, 10),
		Seq:           in.Seq,
		CreatedAt:     in.ReceivedAt,
	})
	return models.AcceptedInbound{Inbound: in, NoticeID: notice}, err
}

// History returns a page of an enrolled participant's conversation, oldest
// first: at most limit entries before the given instant, the newest ones when
// it is zero. Tool calls and debug texts are left out; Delivery is where the
// outbox row of an entry stands. ErrNotFound also after removal.
func (s *Store) History(ctx context.Context, id string, limit int, before time.Time) ([]models.HistoryEntry, error) {
	if _, err := s.Participant(ctx, id); err != nil {
		return nil, err
	}
	find := s.reader(ctx).Where("participant_id = ? AND kind NOT IN ?", id,
		[]models.Kind{models.KindToolCall, models.KindToolResult, models.KindDebug})
	if !before.IsZero() {
		find = find.Where("at < ?", before)
	}
	var rows []models.Message
	if err := find.Order("at DESC, id DESC").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("reading history: %w", classify(err))
	}
	slices.Reverse(rows)
	delivery, err := s.deliveries(ctx, rows)
	if err != nil {
		return nil, err
	}
	entries := make([]models.HistoryEntry, 0, len(rows))
	for _, m := range rows {
		entries = append(entries, models.HistoryEntry{
			Role: m.Role, Kind: m.Kind, Text: m.Text, At: m.At, Delivery: delivery[m.OutboxID],
		})
	}
	return entries, nil
}

// deliveries reads the statuses of the outbox rows behind some entries.
func (s *Store) deliveries(ctx context.Context, entries []models.Message) (map[string]models.OutboxStatus, error) {
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
	if err := s.reader(ctx).Select("id", "status").Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("reading deliveries: %w", classify(err))
	}
	out := make(map[string]models.OutboxStatus, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Status
	}
	return out, nil
}

// window reads the newest entries of a conversation, oldest first; a negative
// size means all of them.
func window(tx *gorm.DB, participantID string, size int) ([]models.Message, error) {
	var rows []models.Message
	err := tx.Where("participant_id = ?", participantID).Order("id DESC").Limit(size).Find(&rows).Error
	slices.Reverse(rows)
	return rows, err
}

// appendTexts adds stored inbound texts to the conversation, each once.
func appendTexts(tx *gorm.DB, in models.PrepareTurnInput) error {
	if len(in.InboundIDs) == 0 {
		return nil
	}
	var texts []models.Inbound
	err := tx.Where("id IN ? AND participant_id = ?", in.InboundIDs, in.ParticipantID).Order("seq").Find(&texts).Error
	if err != nil {
		return err
	}
	distinct := slices.Clone(in.InboundIDs)
	slices.Sort(distinct)
	if len(texts) != len(slices.Compact(distinct)) {
		return fmt.Errorf("reading inbound texts: %w", models.ErrNotFound)
	}
	for _, t := range texts {
		if err := appendEntry(tx, textEntry(in.TurnID, t)); err != nil {
			return err
		}
	}
	return nil
}

func textEntry(turnID string, in models.Inbound) models.Message {
	text := in.Body
	if text == "" && in.MediaCount > 0 {
		text = mediaText
	}
	return models.Message{
		ParticipantID: in.ParticipantID,
		TurnID:        turnID,
		Key:           "in-" + strconv.FormatInt(in.ID, 10),
		Role:          models.RoleUser,
		Kind:          models.KindMessage,
		Text:          text,
		At:            in.ReceivedAt,
	}
}

func appendEntry(tx *gorm.DB, m models.Message) error {
	_, err := insertOnce(tx, &m)
	return err
}
