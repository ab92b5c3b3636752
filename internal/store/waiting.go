package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// WaitingMessages lists the texts that came while the participant was paused, or
// an operator wrote in the place of the coach, and that no operator has had
// answered or marked as read, oldest first. ErrNotFound also after removal.
func (s *People) WaitingMessages(ctx context.Context, participantID string) ([]models.WaitingMessage, error) {
	if _, err := s.Participant(ctx, participantID); err != nil {
		return nil, err
	}
	var rows []models.Inbound
	err := s.db.Reader(ctx).Where("participant_id = ? AND waiting", participantID).Order("id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading waiting messages: %w", classify(err))
	}
	out := make([]models.WaitingMessage, 0, len(rows))
	for _, row := range rows {
		entry := entryOf("", row)
		out = append(out, models.WaitingMessage{
			ID: row.ID, Text: entry.Text, At: entry.At.UTC(), Channel: row.Channel.Name(), Danger: row.Danger,
		})
	}
	return out, nil
}

// ResumedMessages lists the texts that a notice has answered after a pause,
// oldest first.
func (s *Notices) ResumedMessages(ctx context.Context, noticeID int64) ([]wire.InboxItem, error) {
	var rows []models.Inbound
	err := s.db.Reader(ctx).Select("id", "seq", "received_at", "channel").
		Where("resume_notice_id = ? AND resume_notice_id > 0", noticeID).Order("seq").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading resumed messages: %w", classify(err))
	}
	return itemsOf(rows), nil
}

// returned stands for the notice of a text whose reply was refused because a newer one
// had gone out: it waits for the workflow's next turn.
const returned = -1

// isResumed reports whether a text is to be answered although a turn has taken it.
func isResumed(t models.Inbound) bool { return t.ResumeNoticeID != 0 }

// markWaiting notes that texts wait for an operator: a turn stored them without an
// answer because the participant is paused.
func markWaiting(tx *gorm.DB, inboundIDs []int64) error {
	if len(inboundIDs) == 0 {
		return nil
	}
	return tx.Model(&models.Inbound{}).Where("id IN ? AND seq > 0 AND resume_notice_id <= 0", inboundIDs).
		UpdateColumn("waiting", true).Error
}

// keepReplied keeps the texts of a reply that the send check refused: they wait for an
// operator, for the person to come back, or for the workflow's next turn.
func keepReplied(tx *gorm.DB, row models.Outbox) error {
	switch row.ErrorCode {
	case string(wire.StatusPaused), string(wire.StatusOptedOut), models.MissedTakenOver:
		return holdReplied(tx, row)
	case refusedNewerReply:
		return textsOfTurn(tx, row).UpdateColumn("resume_notice_id", returned).Error
	}
	return nil
}

// holdReplied notes that the texts of a reply which a pause, a take-over or a STOP
// stopped wait.
func holdReplied(tx *gorm.DB, row models.Outbox) error {
	return textsOfTurn(tx, row).UpdateColumns(map[string]any{"waiting": true, "resume_notice_id": 0}).Error
}

// textsOfTurn selects the texts that the turn of a row has taken.
func textsOfTurn(tx *gorm.DB, row models.Outbox) *gorm.DB {
	return tx.Model(&models.Inbound{}).
		Where("participant_id = ? AND seq > 0 AND EXISTS (SELECT 1 FROM messages WHERE messages.participant_id = inbound.participant_id "+
			"AND messages.turn_id = ? AND messages.key = 'in-' || inbound.id)", row.ParticipantID, row.TurnID)
}

// ReturnedMessages lists the texts of a reply that was refused because a newer one had
// gone out, oldest first; nothing for any other row. Safe to repeat.
func (s *Outbox) ReturnedMessages(ctx context.Context, row models.Outbox) ([]wire.InboxItem, error) {
	var rows []models.Inbound
	err := textsOfTurn(s.db.Reader(ctx), row).Select("id", "seq", "received_at", "channel").
		Where("resume_notice_id = ?", returned).Order("seq").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading the texts of %s: %w", row.ID, classify(err))
	}
	return itemsOf(rows), nil
}

func itemsOf(rows []models.Inbound) []wire.InboxItem {
	var items []wire.InboxItem
	for _, row := range rows {
		items = append(items, wire.InboxItem{MessageID: row.ID, Seq: row.Seq, ReceivedAt: row.ReceivedAt.UTC(), Channel: row.Channel})
	}
	return items
}

// dropUnanswered removes the entries of texts that a reply takes up now and that
// an earlier turn stored without an answer, so that they are written again as the
// newest ones: what a reply answers stands at the end of the conversation.
func dropUnanswered(tx *gorm.DB, in wire.PrepareTurnInput) error {
	keys := make([]string, 0, len(in.InboundIDs))
	for _, id := range in.InboundIDs {
		keys = append(keys, models.InboundKey(id))
	}
	stored := tx.Model(&models.Turn{}).Select("id").
		Where("participant_id = ? AND (kind IN ? OR outcome = ? OR "+replyRefused+")", in.ParticipantID,
			[]wire.TurnKind{wire.TurnMessage, wire.TurnConsent}, outcomeCanceled)
	return tx.Where("participant_id = ? AND key IN ? AND (turn_id = '' OR turn_id IN (?))", in.ParticipantID, keys, stored).
		Delete(&models.Message{}).Error
}

// replyRefused holds for a turn whose reply was not sent.
const replyRefused = "EXISTS (SELECT 1 FROM outbox WHERE outbox.turn_id = turns.id AND outbox.kind = 'reply' AND outbox.part <= 1 AND outbox.status = 'canceled')"

// hasOtherReply reports whether all texts of a turn have had their reply already,
// from a turn that the workflow had begun before it was told to answer them after
// a pause or a take-over.
func hasOtherReply(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) (bool, error) {
	if in.Plan.Kind != wire.TurnReply || !slices.ContainsFunc(texts, isResumed) {
		return false, nil
	}
	keys := make([]string, 0, len(texts))
	for _, t := range texts {
		keys = append(keys, models.InboundKey(t.ID))
	}
	var replied int64
	err := tx.Model(&models.Message{}).
		Where("participant_id = ? AND key IN ? AND turn_id <> ?", in.ParticipantID, keys, in.TurnID).
		Where("EXISTS (SELECT 1 FROM outbox WHERE outbox.turn_id = messages.turn_id AND outbox.kind = ? AND outbox.status <> ?)",
			models.KindReply, wire.OutboxCanceled).
		Count(&replied).Error
	return replied == int64(len(keys)), err
}

// waitingUpdate is what an update does with the texts that wait.
type waitingUpdate struct {
	action models.WaitingAction // empty: nothing
	ids    []int64
}

// waitingFor decides what becomes of the texts that wait when old becomes p.
// *FieldError for an action on a participant who is not in active coaching then.
func waitingFor(tx *gorm.DB, old, p models.Participant, u models.ParticipantUpdate) (waitingUpdate, error) {
	if old.IsTakenOver() {
		if u.Waiting != "" {
			return waitingUpdate{}, models.BadField("waiting_messages", "the conversation is taken over; say this when handing it back")
		}
		return waitingUpdate{}, nil
	}
	resumed := old.Status == wire.StatusPaused && p.Status == wire.StatusActive
	if u.Waiting != "" && p.Status != wire.StatusActive {
		return waitingUpdate{}, models.BadField("waiting_messages", "only for a participant who is active or becomes so")
	}
	if u.Waiting == "" && !resumed {
		return waitingUpdate{}, nil
	}
	return chooseWaiting(tx, p, u.Waiting, u.Now)
}

// chooseWaiting decides what becomes of the texts that wait; without a choice it
// depends on whether the newest is of today.
func chooseWaiting(tx *gorm.DB, p models.Participant, choice models.WaitingAction, now time.Time) (waitingUpdate, error) {
	var rows []models.Inbound
	err := tx.Select("id", "received_at").Where("participant_id = ? AND waiting", p.ID).Order("id").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return waitingUpdate{}, err
	}
	out := waitingUpdate{action: choice}
	for _, row := range rows {
		out.ids = append(out.ids, row.ID)
	}
	if out.action == "" {
		out.action = models.WaitingRead
		if isToday(rows[len(rows)-1].ReceivedAt, now, p.Timezone) {
			out.action = models.WaitingAnswer
		}
	}
	return out, nil
}

// isToday reports whether an instant is on the local date of now in a zone.
func isToday(at, now time.Time, zone string) bool {
	place, err := time.LoadLocation(zone)
	if err != nil {
		place = time.UTC
	}
	return at.In(place).Format(time.DateOnly) == now.In(place).Format(time.DateOnly)
}

// settleWaiting carries the update out: the texts wait no more, the audit says what
// became of how many, and the workflow is told of those to answer.
func (w waitingUpdate) settleWaiting(tx *gorm.DB, p models.Participant, u models.ParticipantUpdate) error {
	if w.action == "" {
		return nil
	}
	var notice int64
	if w.action == models.WaitingAnswer {
		var err error
		notice, err = insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeResume, Ref: string(w.action), CreatedAt: u.Now})
		if err != nil {
			return err
		}
	}
	return w.settleWith(tx, models.AuditRow{ParticipantID: p.ID, Actor: u.Actor, At: u.Now}, notice)
}

// settleWith is settleWaiting for texts of which a notice tells; 0 is none.
func (w waitingUpdate) settleWith(tx *gorm.DB, audit models.AuditRow, notice int64) error {
	if w.action == "" {
		return nil
	}
	if w.action == models.WaitingRead {
		if err := keepAsRead(tx, w.ids); err != nil {
			return err
		}
	}
	err := tx.Model(&models.Inbound{}).Where("id IN ?", w.ids).
		UpdateColumns(map[string]any{"waiting": false, "resume_notice_id": notice}).Error
	if err != nil {
		return err
	}
	audit.Action, audit.Detail = "waiting_"+string(w.action), strconv.Itoa(len(w.ids))
	return database.AddAudit(tx, audit)
}

// markUnreachable records that the carrier cannot reach a person's number, when that is
// what the refusal says: with an audit row once, and with attention, which is the
// operators' task. A person who has texted since the text was posted can be
// reached.
func markUnreachable(tx *gorm.DB, p models.Participant, row models.Outbox, r models.Refusal) error {
	if !r.Class.Spec().Unreachable || p.RemovedAt != nil {
		return nil
	}
	if row.AttemptedAt != nil {
		var later int64
		err := tx.Model(&models.Inbound{}).
			Where("participant_id = ? AND received_at > ? AND channel = ?", p.ID, database.Instant(*row.AttemptedAt), row.Channel).Limit(1).Count(&later).Error
		if err != nil || later > 0 {
			return err
		}
	}
	now := database.Instant(r.Now)
	if p.UnreachableAt == nil {
		p.UnreachableAt, p.UnreachableCode = &now, r.Code
		if err := writeReachability(tx, p, now); err != nil {
			return err
		}
		if err := addCarrierAudit(tx, models.AuditRow{ParticipantID: p.ID, Action: "unreachable", Detail: r.Code, At: now}); err != nil {
			return err
		}
	}
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: p.ID, Kind: wire.AttentionUnreachable, Ref: row.ID, Code: r.Code, RaisedAt: now,
	})
	return err
}

// clearUnreachableOnText takes the mark and its attention away, in the row and in p, because the
// person texted.
func clearUnreachableOnText(tx *gorm.DB, p *models.Participant, at time.Time) error {
	if p.UnreachableAt == nil {
		return nil
	}
	p.UnreachableAt, p.UnreachableCode = nil, ""
	if err := writeReachability(tx, *p, at); err != nil {
		return err
	}
	p.Version++
	return endUnreachable(tx, p, at)
}

// endUnreachable ends the attention that the mark called for, after the mark was taken
// away. p becomes the row as it is then.
func endUnreachable(tx *gorm.DB, p *models.Participant, at time.Time) error {
	ended, err := endAttention(tx, p, []wire.Attention{wire.AttentionUnreachable}, at)
	if err != nil || len(ended) > 0 {
		return err // the notice of the end tells of the mark as well
	}
	return tellAttention(tx, p.ID, at)
}

// writeReachability saves the mark of a locked participant under a new version.
func writeReachability(tx *gorm.DB, p models.Participant, now time.Time) error {
	return tx.Model(&models.Participant{}).Where("id = ?", p.ID).UpdateColumns(map[string]any{
		"unreachable_at": p.UnreachableAt, "unreachable_code": p.UnreachableCode,
		"version": p.Version + 1, "updated_at": database.Instant(now),
	}).Error
}
