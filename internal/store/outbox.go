package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/segments"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Why a send check refused a text; kept in the row's error code. A status that
// refuses is its own name (paused, opted_out, ...).
const (
	refusedRemoved  = "removed"
	refusedAnswered = "answered"
	refusedVoided   = "voided"
	// refusedSuperseded means that a confirmation was given, or what it confirms is over.
	refusedSuperseded = "superseded"
	// refusedEarlierPart means that the part of the text before this one was not taken.
	refusedEarlierPart = "earlier_part"
	// refusedNewerReply means that an earlier post did not arrive, and a newer reply
	// has been sent meanwhile.
	refusedNewerReply = models.CodeNewerReply
	// refusedUnreachable means that the carrier cannot reach the person's number.
	refusedUnreachable = "unreachable"
)

// Outbox keeps texts that go out, and what became of them.
type Outbox struct {
	db      *database.Database
	budgets *Budgets
	// retryDelay is how long after the report that a text was not delivered its
	// later retry is made, at least; at most it is twice as long. 0: none is made.
	retryDelay time.Duration
	// account is the key of a hold of the whole account, senderName the sender of
	// people whose study has none of its own.
	account    string
	senderName string
	// carrierZone is the zone in which the carrier's days begin.
	carrierZone *time.Location
	log         *slog.Logger
}

// QueueOperatorMessage stores a text that an operator wants sent, with the
// notice that has the workflow send it. Equal keys of one participant are one
// message: the second call returns the stored row and created false, also with
// another body, so a retry is safe. ErrNotFound also after removal; *TakenOverError
// when another operator has the conversation, or has just written.
func (s *Outbox) QueueOperatorMessage(ctx context.Context, m models.OperatorMessage) (out models.Outbox, created bool, err error) {
	if m.Key == "" {
		return models.Outbox{}, false, models.BadField("key", "must not be empty")
	}
	sum := sha256.Sum256([]byte(m.Key))
	id := m.ParticipantID + "-op-" + hex.EncodeToString(sum[:])[:16]
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		p, err := lockEnrolled(tx, m.ParticipantID)
		if err != nil {
			return err
		}
		out, created = models.Outbox{}, false
		err = tx.Where("id = ?", id).Take(&out).Error
		if !errors.Is(err, gorm.ErrRecordNotFound) {
			return err
		}
		if err := askForce(tx, p, m); err != nil {
			return err
		}
		created = true
		out = models.Outbox{
			ID: id, ParticipantID: m.ParticipantID, Part: 1, Kind: models.KindOperator, Body: segments.Smart(m.Body), SentBy: m.Actor,
			Status: wire.OutboxReady, CreatedAt: m.Now, UpdatedAt: m.Now,
		}
		if err := tx.Create(&out).Error; err != nil {
			return err
		}
		audit := models.AuditRow{ParticipantID: m.ParticipantID, Actor: m.Actor, Action: "send", Detail: id, At: m.Now}
		if err := database.AddAudit(tx, audit); err != nil {
			return err
		}
		_, err = insertNotice(tx, models.Notice{ParticipantID: m.ParticipantID, Kind: models.NoticeSend, Ref: id, CreatedAt: m.Now})
		return err
	})
	return out, created, wrap.Error(err, "queueing operator message")
}

// askForce refuses a message where another operator has the conversation, or has just
// written, unless it is forced. A program that sends is asked about the former only.
func askForce(tx *gorm.DB, p models.Participant, m models.OperatorMessage) error {
	switch {
	case m.Force:
		return nil
	case p.IsOthers(m.Actor):
		return &models.TakenOverError{By: p.TakenOverBy}
	case !isUser(m.Actor):
		return nil
	}
	var newest []models.Outbox
	err := tx.Select("sent_by").Where("participant_id = ? AND kind = ? AND created_at > ?", p.ID, models.KindOperator, instant(m.Now.Add(-models.JustWritten))).
		Order("created_at DESC").Limit(1).Find(&newest).Error
	if err == nil && len(newest) > 0 && newest[0].SentBy != m.Actor && isUser(newest[0].SentBy) {
		return &models.TakenOverError{By: newest[0].SentBy, Wrote: true}
	}
	return err
}

// isUser reports whether an actor is a person who signs in, and no program.
func isUser(actor string) bool { return strings.HasPrefix(actor, models.UserActorPrefix) }

// ClaimSend answers whether an outbox row may be sent now, and marks it as
// being sent if so. Consent and standing are read from the participant's row in
// the same transaction, so a STOP that came in after the text was written wins.
// Nothing but the one confirmation passes for a participant who opted out. The
// claim is for StartPost; it ends every earlier claim of the row. A row that an
// earlier attempt has posted without learning its fate comes back with Resumed:
// look it up at the carrier before posting. When a send check refuses such a row it
// becomes unknown instead of canceled, because the earlier attempt may have
// reached the carrier. A part that follows too closely comes back with Early,
// and one of a stopped sender with Wait. ErrNotFound for an unknown row.
func (s *Outbox) ClaimSend(ctx context.Context, outboxID string, now time.Time) (models.SendClaim, error) {
	var claim models.SendClaim
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row, p, err := lockOutbox(tx, outboxID)
		if err != nil {
			return err
		}
		claim = models.SendClaim{Outbox: row, StudyID: p.StudyID, Arm: p.Arm}
		before := row.Status
		if before != wire.OutboxReady && before != wire.OutboxSending {
			return nil
		}
		refusal, early, err := checkSend(tx, row, p, now)
		if err != nil {
			return err
		}
		if refusal == "" && before == wire.OutboxReady {
			if refusal, err = s.budgets.checkMoney(tx, row, now); err != nil {
				return err
			}
		}
		if refusal == "" && before == wire.OutboxReady {
			if held, err := s.heldUp(tx, &claim, early, now); err != nil || held {
				return err
			}
		}
		if refusal != "" {
			if err := refuseRow(tx, &row, refusal); err != nil {
				return err
			}
		} else {
			claim.Post, claim.Resumed, claim.Version = true, isPosted(row), p.Version
			takeClaim(&row)
			if err := addNumber(tx, &claim, row, p); err != nil {
				return err
			}
		}
		row.UpdatedAt = now
		claim.Outbox = row
		return saveOutbox(tx, &row, before)
	})
	return claim, wrap.Error(err, "claiming send")
}

// addNumber notes on a claim the number that is texted, and since when it is the person's.
func addNumber(tx *gorm.DB, claim *models.SendClaim, row models.Outbox, p models.Participant) (err error) {
	if claim.To, err = phoneOf(tx, row, p); err != nil {
		return err
	}
	newest, err := newestConsent(tx, p)
	if err == nil {
		claim.Heard, claim.Consented = standingOfNumber(p, newest)
	}
	return err
}

// heldUp notes on the claim of a row that may pass that it has to wait.
func (s *Outbox) heldUp(tx *gorm.DB, claim *models.SendClaim, early bool, now time.Time) (bool, error) {
	if claim.Early = early; early {
		return true, nil
	}
	var err error
	claim.Wait, err = s.senderWait(tx, claim.StudyID, now)
	return claim.Wait > 0, err
}

// checkSend makes all send checks; early reports that a row which may pass has to
// wait.
func checkSend(tx *gorm.DB, row models.Outbox, p models.Participant, now time.Time) (refusal string, early bool, err error) {
	refusal, early, err = checkPart(tx, row, now)
	if err == nil && refusal == "" {
		var newest models.Consent
		if newest, err = newestConsent(tx, p); err == nil {
			refusal, err = findRefusal(tx, row, p, newest)
		}
	}
	if err == nil && refusal == "" {
		refusal, err = checkHold(tx, row, now)
	}
	return refusal, early, err
}

// takeClaim marks the row as being sent under a new claim. The instant of a post
// whose outcome is not known stays: the carrier's list is searched from there.
func takeClaim(row *models.Outbox) {
	row.ClaimToken++
	if row.Status == wire.OutboxReady {
		count := segments.Count(row.Body).Segments
		row.Segments = &count
		row.Status, row.AttemptedAt, row.MissingSince, row.FormerPhoneID = wire.OutboxSending, nil, nil, 0
		row.Attempts++
	}
}

// isPosted reports whether the carrier may have the text.
func isPosted(row models.Outbox) bool {
	return row.Status == wire.OutboxSending && row.AttemptedAt != nil
}

func refuseRow(tx *gorm.DB, row *models.Outbox, refusal string) error {
	row.ErrorCode = refusal
	if isPosted(*row) {
		row.Status = wire.OutboxUnknown
	} else {
		row.Status = wire.OutboxCanceled
	}
	if row.Kind == models.KindReply && row.Part <= 1 {
		return keepReplied(tx, *row)
	}
	if row.Kind != models.KindPrompt {
		return nil
	}
	if refusal == models.MissedHold || refusal == models.MissedTakenOver || refusal == models.MissedSpent {
		return promptMissed(tx, row.PromptID, refusal)
	}
	return promptFailed(tx, row.PromptID, refusal)
}

// findGate names what forbids sending the row, or returns nothing; newest is the newest
// entry of the ledger, its action and turn. A participant
// who opted out gets the one confirmation of it and nothing else. Apart from
// that, a notice (the word that a person has left) passes always, and operators
// reach people who are paused or done.
func findRefusal(tx *gorm.DB, row models.Outbox, p models.Participant, newest models.Consent) (string, error) {
	refusal := checkConsent(row, p, newest)
	switch {
	case refusal != "", row.Kind.Spec().PassesChecks:
		return refusal, nil
	case p.RemovedAt != nil:
		return refusedRemoved, nil
	case row.Kind.Spec().Coaching && p.Status != wire.StatusActive:
		return string(p.Status), nil
	case row.Kind.Spec().Coaching && p.IsTakenOver():
		return models.MissedTakenOver, nil
	case p.UnreachableAt != nil && row.Kind.Spec().Initiated:
		return refusedUnreachable, nil
	case p.Attention == wire.AttentionCrisis && row.Kind.Spec().Initiated:
		return heldForAttention, nil
	case row.LateOf != "":
		return checkLaterRetry(tx, row)
	case mayBeOvertaken(row):
		return checkNewerReply(tx, row)
	case row.Kind == models.KindReminder:
		return checkReminder(tx, row)
	}
	return "", nil
}

// partPause is how long a part waits at most for the word that the one before
// it has left the carrier: without it phones turn the
// parts step.
const partPause = 10 * time.Second

// partGate refuses a later part of a text unless the carrier has taken the one
// before it, and delays it a little while that one is still with the carrier.
func checkPart(tx *gorm.DB, row models.Outbox, now time.Time) (refusal string, early bool, err error) {
	if row.Part <= 1 || row.Kind == models.KindDebug {
		return "", false, nil
	}
	var before []models.Outbox
	// By id, because a turn may have sent more than one text.
	first := models.OutboxID(strings.TrimSuffix(cmp.Or(row.LateOf, row.ID), models.OutboxID("", row.Part)), row.Part-1)
	err = tx.Where("id IN ? AND accepted_at IS NOT NULL", []string{first, models.LateID(first)}).Order("accepted_at DESC").Limit(1).Find(&before).Error
	if err != nil {
		return "", false, err
	}
	if len(before) == 0 {
		return refusedEarlierPart, false, nil
	}
	waiting := before[0].Status == wire.OutboxAccepted || before[0].Status == wire.OutboxQueued
	return "", waiting && now.Sub(*before[0].AcceptedAt) < partPause, nil
}

// mayBeOvertaken reports whether turns after the row's may have been answered
// before it: the participant does not wait for a text of unknown fate. A row that
// the carrier may have is looked up, regardless of what was sent after it.
func mayBeOvertaken(row models.Outbox) bool {
	return row.Kind.Spec().CanBeOvertaken && !isPosted(row) && (row.UnknownPosts > 0 || row.Part > 1)
}

// newerReplyGate refuses a reply when one that was written later has been sent.
func checkNewerReply(tx *gorm.DB, row models.Outbox) (string, error) {
	var newer int64
	err := tx.Model(&models.Outbox{}).
		Where("participant_id = ? AND kind = ? AND turn_id <> ?", row.ParticipantID, models.KindReply, row.TurnID).
		Where("created_at > ? AND (accepted_at IS NOT NULL OR attempted_at IS NOT NULL)", instant(row.CreatedAt)).Limit(1).Count(&newer).Error
	if err != nil || newer == 0 {
		return "", err
	}
	return refusedNewerReply, nil
}

// reminderGate refuses a reminder unless its prompt waits for an answer.
func checkReminder(tx *gorm.DB, row models.Outbox) (string, error) {
	if row.Part > 1 {
		return "", nil // it is being sent
	}
	var prompt models.Prompt
	err := tx.Where("id = ?", row.PromptID).Take(&prompt).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return refusedVoided, nil
	case err != nil || prompt.State == models.PromptPending:
		return "", err
	case prompt.State == models.PromptResponded:
		return refusedAnswered, nil
	}
	return refusedVoided, nil
}

// lockOutbox locks a row and its participant, the participant first like
// every other write.
func lockOutbox(tx *gorm.DB, id string) (models.Outbox, models.Participant, error) {
	var row models.Outbox
	if err := tx.Select("participant_id").Where("id = ?", id).Take(&row).Error; err != nil {
		return models.Outbox{}, models.Participant{}, err
	}
	p, err := lockParticipant(tx, row.ParticipantID)
	if err != nil {
		return models.Outbox{}, models.Participant{}, err
	}
	row = models.Outbox{}
	err = forUpdate(tx).Where("id = ?", id).Take(&row).Error
	return row, p, err
}

// saveOutbox writes what sending changes, if the row still has the status it
// was read with.
func saveOutbox(tx *gorm.DB, row *models.Outbox, before wire.OutboxStatus) error {
	res := tx.Select("status", "provider_sid", "error_code", "attempts", "claim_token", "unknown_posts", "late_tries",
		"attempted_at", "unsettled_since", "missing_since", "accepted_at", "former_phone_id", "segments", "sent_from", "updated_at").
		Where("status = ?", before).UpdateColumns(row)
	if res.Error == nil && res.RowsAffected == 0 {
		return models.ErrStale
	}
	return res.Error
}

// Row reads one outbound text. ErrNotFound for an unknown id.
func (s *Outbox) Row(ctx context.Context, id string) (models.Outbox, error) {
	var row models.Outbox
	err := s.db.Reader(ctx).Where("id = ?", id).Take(&row).Error
	return row, wrap.Errorf(classify(err), "reading outbox row %s", id)
}
