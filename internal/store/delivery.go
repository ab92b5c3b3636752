package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// RecordAccepted records that the carrier took a text. What follows from it
// (a prompt becomes outstanding and is counted, a reminder is noted on its
// prompt) happens once, at the first word of it; a status callback that
// overtook the carrier's answer is such a word too. ErrStale for an older claim,
// ErrConflict for the carrier's id of another row, ErrNotFound for an unknown
// row. Safe to retry.
func (s *Outbox) RecordAccepted(ctx context.Context, ref models.ClaimRef, r models.Receipt, now time.Time) error {
	done, err := s.acceptUsual(ctx, ref, r, now)
	if done || err != nil {
		return err
	}
	return s.changeOutbox(ctx, ref.OutboxID, func(tx *gorm.DB, row *models.Outbox, _ models.Participant) (bool, error) {
		if row.ClaimToken != ref.Token {
			return false, models.ErrStale
		}
		if r.Status.Supersedes(row.Status) {
			row.Status = r.Status
		}
		if err := markAccepted(tx, row, r.ProviderSID, now); err != nil {
			return false, err
		}
		return true, s.liftSenderHold(tx, *row)
	})
}

// acceptUsual records the acceptance of the usual row in one statement: a text
// that is being sent, of which the carrier has said nothing yet, and from whose
// acceptance nothing follows. done is false for any other row, and while the
// sender is stopped; nothing is locked then.
func (s *Outbox) acceptUsual(ctx context.Context, ref models.ClaimRef, r models.Receipt, now time.Time) (done bool, err error) {
	status := wire.OutboxAccepted
	if r.Status.Supersedes(wire.OutboxAccepted) {
		status = r.Status
	}
	if !wire.OutboxDelivered.Supersedes(status) {
		return false, nil // it has an end already
	}
	err = s.db.WriteOne(ctx, func(rows *gorm.DB) error {
		res := rows.Exec(acceptOne, status, r.ProviderSID, now, now,
			ref.OutboxID, ref.Token, wire.OutboxSending, models.KindPrompt, models.KindReminder)
		done = res.RowsAffected > 0
		return res.Error
	})
	return done, wrap.Error(err, "accepting outbox row")
}

const acceptOne = "UPDATE outbox SET status = ?, provider_sid = ?, accepted_at = ?, updated_at = ? " +
	"WHERE id = ? AND claim_token = ? AND status = ? AND accepted_at IS NULL AND provider_sid = '' " +
	"AND kind NOT IN (?, ?) AND NOT EXISTS (SELECT 1 FROM brakes)"

// RecordFailed ends a row that the carrier did not take. A row that the
// carrier is known to have is left alone. An opt-out, and a number that cannot
// be reached, are recorded on the participant in the same transaction. ErrStale
// for an older claim, ErrNotFound for an unknown row. Safe to retry.
func (s *Outbox) RecordFailed(ctx context.Context, f models.SendFailure) error {
	return s.changeOutbox(ctx, f.OutboxID, func(tx *gorm.DB, row *models.Outbox, p models.Participant) (bool, error) {
		if row.ClaimToken != f.Token {
			return false, models.ErrStale
		}
		changed, err := applyFailure(tx, row, f)
		if err != nil {
			return changed, err
		}
		if err := recordRefusal(tx, p, *row, models.Refusal{OutboxID: row.ID, Class: f.Class, Code: f.Code, Now: f.Now}); err != nil || !changed {
			return changed, err
		}
		return true, giveUp(tx, p, *row, models.Refusal{OutboxID: row.ID, Class: f.Class, Code: f.Code, Now: f.Now})
	})
}

// giveUp raises attention for an answer that will not be delivered. What opts
// the person out, and a number that cannot be reached, have been recorded as what
// they are; what we start ourselves is seen on its prompt.
func giveUp(tx *gorm.DB, p models.Participant, row models.Outbox, r models.Refusal) error {
	switch {
	case r.Class.Spec().OptsOut, r.Class.Spec().Unreachable && row.FormerPhoneID == 0:
		return nil
	case p.RemovedAt != nil, row.Kind.Spec().Initiated, row.Kind == models.KindDebug:
		return nil
	}
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: p.ID, Kind: wire.AttentionSend, Ref: row.ID, Code: cmp.Or(r.Code, string(row.Status)), RaisedAt: r.Now,
	})
	return err
}

func recordRefusal(tx *gorm.DB, p models.Participant, row models.Outbox, r models.Refusal) error {
	if row.FormerPhoneID != 0 {
		return formerRefusal(tx, row, r)
	}
	if r.Class.Spec().OptsOut {
		return carrierOptOut(tx, p, row, r.Now)
	}
	return markUnreachable(tx, p, row, r)
}

func applyFailure(tx *gorm.DB, row *models.Outbox, f models.SendFailure) (changed bool, err error) {
	switch row.Status {
	case wire.OutboxReady, wire.OutboxSending, wire.OutboxUnknown:
	case wire.OutboxAccepted, wire.OutboxQueued, wire.OutboxSent, wire.OutboxDelivered, wire.OutboxRead,
		wire.OutboxUndelivered, wire.OutboxFailed, wire.OutboxCanceled:
		return false, nil
	}
	row.Status, row.ErrorCode, row.UpdatedAt = f.Status, f.Code, f.Now
	if row.Kind != models.KindPrompt {
		return true, nil
	}
	return true, promptFailed(tx, row.PromptID, f.Code)
}

// AcceptStatus applies a carrier's report. The row is found by our own id, or
// else by the provider's; found is false when neither is known. Statuses only
// move up, so reports may come late, doubled and in any order; an error code
// stays when a later report lacks it. What the error asks for beyond the text
// (an opt-out, a number that cannot be reached, a stop of the whole sender, one
// later try) is recorded in the same transaction.
func (s *Outbox) AcceptStatus(ctx context.Context, cb models.StatusCallback) (found bool, err error) {
	id, err := s.reportedRow(ctx, cb)
	if errors.Is(err, models.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var set *models.SenderHold
	err = s.changeOutbox(ctx, id, func(tx *gorm.DB, row *models.Outbox, p models.Participant) (bool, error) {
		refusal := models.Refusal{OutboxID: row.ID, Class: cb.Class, Code: cb.ErrorCode, Reported: true, Now: cb.At}
		var err error
		if set, err = s.applyRefusal(tx, p, *row, refusal); err != nil {
			return false, err
		}
		moved := cb.Status.Supersedes(row.Status)
		if moved {
			row.Status = cb.Status
		}
		if cb.ErrorCode != "" && (moved || row.ErrorCode == "" && row.Status == cb.Status) {
			row.ErrorCode = cb.ErrorCode
		}
		if err := s.acceptReported(tx, p, row, cb); err != nil || !moved {
			return true, err
		}
		if isLost(row.Status) && !s.needsRetry(p, *row, cb) {
			if err := giveUp(tx, p, *row, refusal); err != nil {
				return true, err
			}
		}
		return true, s.liftSenderHold(tx, *row)
	})
	if err == nil {
		s.logSenderHold(set)
	}
	return err == nil, err
}

// acceptReported notes that the carrier has the text, and what follows where it
// lost it.
func (s *Outbox) acceptReported(tx *gorm.DB, p models.Participant, row *models.Outbox, cb models.StatusCallback) error {
	if err := markAccepted(tx, row, cb.ProviderSID, cb.At); err != nil {
		return err
	}
	return s.scheduleRetry(tx, p, *row, cb)
}

// applyRefusal does what a reported refusal asks for beyond the text.
func (s *Outbox) applyRefusal(tx *gorm.DB, p models.Participant, row models.Outbox, r models.Refusal) (*models.SenderHold, error) {
	if err := recordRefusal(tx, p, row, r); err != nil {
		return nil, err
	}
	return s.setSenderHold(tx, row, r)
}

func (s *Outbox) reportedRow(ctx context.Context, cb models.StatusCallback) (string, error) {
	var ids []string
	for _, by := range []struct{ column, value string }{{"id", cb.OutboxID}, {"provider_sid", cb.ProviderSID}} {
		if by.value == "" {
			continue
		}
		err := s.db.Reader(ctx).Model(&models.Outbox{}).Where(by.column+" = ?", by.value).Limit(1).Pluck("id", &ids).Error
		if err != nil {
			return "", fmt.Errorf("reading outbox: %w", classify(err))
		}
		if len(ids) > 0 {
			return ids[0], nil
		}
	}
	return "", models.ErrNotFound
}

// markAccepted records on the row that the carrier has the text.
func markAccepted(tx *gorm.DB, row *models.Outbox, providerSID string, now time.Time) error {
	// A carrier's "sending" says that it has the text; the row's own says that
	// this is unknown, and would have it posted again.
	if wire.OutboxAccepted.Supersedes(row.Status) {
		row.Status = wire.OutboxAccepted
	}
	if row.ProviderSID == "" {
		row.ProviderSID = providerSID
	}
	row.UpdatedAt = now
	if row.AcceptedAt != nil {
		return nil
	}
	row.AcceptedAt = &now
	if row.Part > 1 || row.LateOf != "" {
		return nil // what follows from a text follows from its first part, once
	}
	if row.Kind == models.KindPrompt {
		return promptSent(tx, *row, now)
	}
	if row.Kind == models.KindReminder {
		return reminderSent(tx, row.PromptID, now)
	}
	return nil
}

type outboxChange func(tx *gorm.DB, row *models.Outbox, p models.Participant) (changed bool, err error)

// changeOutbox applies a change to a locked row and writes it if it changed.
func (s *Outbox) changeOutbox(ctx context.Context, id string, change outboxChange) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row, p, err := lockOutbox(tx, id)
		if err != nil {
			return err
		}
		before := row.Status
		changed, err := change(tx, &row, p)
		if err != nil || !changed {
			return err
		}
		return saveOutbox(tx, &row, before)
	})
	return wrap.Error(err, "changing outbox row")
}

// Unsettled lists texts that the carrier took and has not reported an end of,
// ordered by id.
func (s *Outbox) Unsettled(ctx context.Context, q models.UnsettledQuery) ([]models.Outbox, error) {
	var rows []models.Outbox
	err := s.db.Reader(ctx).
		Where("status IN ? AND provider_sid <> ''", []wire.OutboxStatus{wire.OutboxAccepted, wire.OutboxQueued, wire.OutboxSent}).
		Where("updated_at < ? AND created_at > ? AND id > ?", instant(q.Before), instant(q.After), q.AfterID).
		Order("id").Limit(q.Limit).Find(&rows).Error
	return rows, wrap.Error(classify(err), "listing unsettled texts")
}
