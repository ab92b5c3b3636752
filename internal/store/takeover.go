package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// byExpiry is who hands a conversation back when its time has come.
const byExpiry = "expiry"

// TakeOvers keeps who answers in the place of the coach.
type TakeOvers struct {
	db *database.Database
	// crisisTakeOver is how long an alert keeps the coach silent by itself; 0: it
	// does not.
	crisisTakeOver time.Duration
}

// TakeOver has an operator write in the place of the coach until an instant, and
// returns the row as stored. The coach is silent with the transaction: its texts
// that are ready are canceled, its turns are ended, and the messages that those
// were about wait. Alerts of the person count as acknowledged. The operator who
// has the conversation moves its end. *TakenOverError when another one has it; ErrConflict where nobody coaches them;
// ErrNotFound also after removal.
func (s *TakeOvers) TakeOver(ctx context.Context, t models.TakeOver) (models.Participant, error) {
	var p models.Participant
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var err error
		if p, err = lockEnrolled(tx, t.ParticipantID); err != nil {
			return err
		}
		if !p.Status.Coached() { // they opted out since the caller looked
			return fmt.Errorf("the participant is %s: %w", p.Status, models.ErrConflict)
		}
		if p.IsOthers(t.Actor) && !t.Force {
			return &models.TakenOverError{By: p.TakenOverBy}
		}
		if err := takeOver(tx, &p, t); err != nil {
			return err
		}
		return acknowledgeAlerts(tx, p.ID, t.Actor, t.Now)
	})
	return p, wrap.Error(err, "taking over")
}

// takeOverForAlert keeps the coach silent because of an alert, where the programme
// wants that and no operator has the conversation.
func (s *TakeOvers) takeOverForAlert(tx *gorm.DB, participantID string, now time.Time) error {
	if s.crisisTakeOver <= 0 {
		return nil
	}
	p, err := lockParticipant(tx, participantID)
	if err != nil || p.IsTakenOver() || !p.Status.Coached() {
		return err
	}
	return takeOver(tx, &p, models.TakeOver{ParticipantID: p.ID, Until: now.Add(s.crisisTakeOver), Actor: models.TakenOverByAlert, Now: now})
}

// takeOver writes a take-over of a participant whose row is locked.
func takeOver(tx *gorm.DB, p *models.Participant, t models.TakeOver) error {
	now, until, before := instant(t.Now), t.Until.UTC().Truncate(time.Second), p.TakenOverBy
	if before != t.Actor {
		p.TakenOverBy, p.TakenOverAt = t.Actor, &now
	}
	p.TakenOverUntil = &until
	if err := saveParticipant(tx, p, now); err != nil {
		return err
	}
	if before == "" {
		if err := silenceCoach(tx, *p, now); err != nil {
			return err
		}
	}
	ref := until.Format(time.RFC3339)
	audit := models.AuditRow{ParticipantID: p.ID, Actor: t.Actor, Action: "take_over", Detail: "until " + ref, Reason: t.Reason, At: now}
	if before != "" && before != t.Actor {
		audit.Detail += ", from " + before
	}
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	notice, err := insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeTakeOver, Ref: ref, CreatedAt: now})
	if err != nil {
		return err
	}
	return addTeamNote(tx, models.Message{ParticipantID: p.ID, Key: noteKey(notice), Text: t.Note, WrittenBy: t.Actor, At: now})
}

// silenceCoach ends what the coach is about to say: rows that are ready are
// canceled, prompts that are planned are missed, turns are ended. The messages
// that no turn has answered wait.
func silenceCoach(tx *gorm.DB, p models.Participant, now time.Time) error {
	if err := leaveUnanswered(tx, p); err != nil {
		return err
	}
	coaching := models.EntriesWith(func(k models.KindSpec) bool { return k.Coaching })
	err := tx.Model(&models.Outbox{}).Where("participant_id = ? AND status = ? AND kind IN ?", p.ID, wire.OutboxReady, coaching).
		UpdateColumns(map[string]any{"status": wire.OutboxCanceled, "error_code": models.MissedTakenOver, "updated_at": now}).Error
	if err != nil {
		return err
	}
	err = tx.Model(&models.Prompt{}).Where("participant_id = ? AND state = ?", p.ID, models.PromptPlanned).
		UpdateColumns(map[string]any{"state": models.PromptMissed, "reason": models.MissedTakenOver}).Error
	if err != nil {
		return err
	}
	return tx.Model(&models.Turn{}).Where("participant_id = ? AND outcome = '' AND kind IN ?", p.ID, coaching).
		UpdateColumns(map[string]any{"outcome": outcomeCanceled, "finished_at": now}).Error
}

// leaveUnanswered has the messages wait that the coach was about to answer: those of
// replies that are written and not sent, and those that no turn has brought to an end.
func leaveUnanswered(tx *gorm.DB, p models.Participant) error {
	var stopped []models.Outbox
	err := tx.Select("id", "participant_id", "turn_id").
		Where("participant_id = ? AND status = ? AND kind = ? AND part <= 1", p.ID, wire.OutboxReady, models.KindReply).Find(&stopped).Error
	if err != nil {
		return err
	}
	for _, row := range stopped {
		if err := holdReplied(tx, row); err != nil {
			return err
		}
	}
	unanswered, err := waitingTexts(tx, p.ID, p.NextSeq-1)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(unanswered))
	for _, item := range unanswered {
		ids = append(ids, item.MessageID)
	}
	return leaveToOperator(tx, ids)
}

// leaveToOperator has texts wait for an operator, also those that were to be
// answered after an earlier pause.
func leaveToOperator(tx *gorm.DB, inboundIDs []int64) error {
	if len(inboundIDs) == 0 {
		return nil
	}
	return tx.Model(&models.Inbound{}).Where("id IN ? AND seq > 0", inboundIDs).
		UpdateColumns(map[string]any{"waiting": true, "resume_notice_id": 0}).Error
}

// leaveTexts leaves the texts of a canceled turn to the operator who writes, where
// there is one: also those that came while the turn ran.
func leaveTexts(tx *gorm.DB, p models.Participant, in wire.PrepareTurnInput) error {
	if !p.IsTakenOver() {
		return nil
	}
	return leaveToOperator(tx, in.InboundIDs)
}

// giveWay ends a turn of the coach before it has begun, because an operator writes:
// its texts wait, its prompt is missed.
func (b *begunTurn) giveWay(tx *gorm.DB, in wire.PrepareTurnInput) error {
	b.Skip = true
	if err := leaveToOperator(tx, in.InboundIDs); err != nil {
		return err
	}
	if err := b.missPrompt(tx, in, models.MissedTakenOver); err != nil {
		return err
	}
	now := instant(in.Now)
	b.turn.Outcome, b.turn.FinishedAt = outcomeCanceled, &now
	_, err := insertOnce(tx, &b.turn)
	return err
}

// HandBack has the coach write again, and returns the row as stored. ErrNotFound
// when no operator has the conversation, also after removal; *TakenOverError when
// another one has it; *FieldError for an answer to a person who is not active.
func (s *TakeOvers) HandBack(ctx context.Context, h models.HandBack) (models.Participant, error) {
	var p models.Participant
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var err error
		if p, err = lockEnrolled(tx, h.ParticipantID); err != nil {
			return err
		}
		if !p.IsTakenOver() {
			return models.ErrNotFound
		}
		if p.IsOthers(h.Actor) && !h.Force {
			return &models.TakenOverError{By: p.TakenOverBy}
		}
		return handBack(tx, &p, h)
	})
	return p, wrap.Error(err, "handing back")
}

// ExpireTakeOver hands a conversation back whose time has come. Where its end has
// been put off it returns the new one, and zero otherwise. Safe to retry.
func (s *TakeOvers) ExpireTakeOver(ctx context.Context, in wire.TakeOverEnd) (until time.Time, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		until = time.Time{}
		p, err := lockParticipant(tx, in.ParticipantID)
		if err != nil || !p.IsTakenOver() {
			return err
		}
		if p.TakenOverUntil.After(in.Now) {
			until = p.TakenOverUntil.UTC()
			return nil
		}
		return handBack(tx, &p, models.HandBack{ParticipantID: p.ID, Actor: byExpiry, Now: in.Now})
	})
	return until, wrap.Error(err, "ending the take-over")
}

// handBack ends a take-over of a participant whose row is locked. What waits goes
// on waiting for a person who is not active, unless it is marked as read.
func handBack(tx *gorm.DB, p *models.Participant, h models.HandBack) error {
	now, from := instant(h.Now), p.TakenOverBy
	isActive := p.Status == wire.StatusActive
	if h.Waiting == models.WaitingAnswer && !isActive {
		return models.BadField("waiting_messages", "only a participant who is active can be answered")
	}
	p.TakenOverBy, p.TakenOverAt, p.TakenOverUntil = "", nil, nil
	if err := saveParticipant(tx, p, now); err != nil {
		return err
	}
	var waiting waitingUpdate
	if isActive || h.Waiting != "" {
		var err error
		if waiting, err = chooseWaiting(tx, *p, h.Waiting, now); err != nil {
			return err
		}
	}
	audit := models.AuditRow{ParticipantID: p.ID, Actor: h.Actor, Action: "hand_back", Detail: "from " + from, At: now}
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	notice, err := insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeHandBack, Ref: string(waiting.action), CreatedAt: now})
	if err != nil {
		return err
	}
	if err := addTeamNote(tx, models.Message{ParticipantID: p.ID, Key: noteKey(notice), Text: h.Note, WrittenBy: h.Actor, At: now}); err != nil {
		return err
	}
	if waiting.action == models.WaitingRead {
		notice = 0
	}
	return waiting.settleWith(tx, models.AuditRow{ParticipantID: p.ID, Actor: h.Actor, At: now}, notice)
}

// keepAsRead puts texts into the conversation that no turn has stored, so that the
// coach knows of them.
func keepAsRead(tx *gorm.DB, inboundIDs []int64) error {
	var rows []models.Inbound
	if err := tx.Where("id IN ?", inboundIDs).Order("id").Find(&rows).Error; err != nil {
		return err
	}
	for _, row := range rows {
		if err := appendEntry(tx, entryOf("", row)); err != nil {
			return err
		}
	}
	return nil
}

func noteKey(notice int64) string { return "note-" + strconv.FormatInt(notice, 10) }

// addTeamNote adds what an operator tells the coach to the conversation; an empty
// note is none.
func addTeamNote(tx *gorm.DB, note models.Message) error {
	if note.Text == "" {
		return nil
	}
	note.Role, note.Kind = models.RoleAssistant, models.KindTeamNote
	return appendEntry(tx, note)
}

// AcknowledgeAlert records that an operator sees to an alert, and returns it. The
// first one stays. ErrNotFound for an unknown alert.
func (s *Alerts) AcknowledgeAlert(ctx context.Context, a models.AlertAcknowledgement) (models.Alert, error) {
	var row models.Alert
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row = models.Alert{}
		if err := forUpdate(tx).Where("id = ?", a.AlertID).Take(&row).Error; err != nil {
			return err
		}
		if row.AcknowledgedAt != nil {
			return nil
		}
		return acknowledge(tx, &row, a.Actor, a.Now)
	})
	return row, wrap.Error(database.Classify(err), "acknowledging the alert")
}

func acknowledge(tx *gorm.DB, row *models.Alert, actor string, now time.Time) error {
	at := instant(now)
	row.AcknowledgedAt, row.AcknowledgedBy = &at, actor
	if err := tx.Select("acknowledged_at", "acknowledged_by").UpdateColumns(row).Error; err != nil {
		return err
	}
	folded := tx.Model(&models.Alert{}).Where("folded_into = ? AND acknowledged_at IS NULL", row.ID)
	if err := folded.UpdateColumns(map[string]any{"acknowledged_at": at, "acknowledged_by": actor}).Error; err != nil {
		return err
	}
	return database.AddAudit(tx, models.AuditRow{ParticipantID: row.ParticipantID, Actor: actor, Action: "acknowledge", Detail: row.ID, At: at})
}

func acknowledgeAlerts(tx *gorm.DB, participantID, actor string, now time.Time) error {
	var open []models.Alert
	err := forUpdate(tx).Where("participant_id = ? AND pages AND acknowledged_at IS NULL AND cleared_at IS NULL", participantID).
		Order("inbound_id").Find(&open).Error
	for i := range open {
		if err == nil {
			err = acknowledge(tx, &open[i], actor, now)
		}
	}
	return err
}

// UnacknowledgedAlerts lists alerts of which Temporal was told, that were raised
// before an instant and that no operator has acknowledged or cleared, oldest first,
// at most limit of them. Those that were escalated are not among them.
func (s *Alerts) UnacknowledgedAlerts(ctx context.Context, raisedBefore time.Time, limit int) ([]models.Alert, error) {
	var rows []models.Alert
	err := s.db.Reader(ctx).
		Where("pages AND folded_into = '' AND acknowledged_at IS NULL AND escalated_at IS NULL AND cleared_at IS NULL AND told_at IS NOT NULL AND created_at <= ?", instant(raisedBefore)).
		Order("created_at").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(err, "reading unacknowledged alerts")
}

// AlertEscalated records that the second page of an alert was begun. Safe to
// repeat: the first instant stays.
func (s *Alerts) AlertEscalated(ctx context.Context, id string, at time.Time) error {
	return s.markAlert(ctx, "escalated_at", at, "id = ? AND escalated_at IS NULL", id)
}
