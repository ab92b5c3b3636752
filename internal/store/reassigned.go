package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// standingOfNumber returns since when nothing has shown that a number is still the person's,
// and when they agreed to be texted there.
func standingOfNumber(p models.Participant, newest models.Consent) (heard, consented time.Time) {
	heard, consented = p.EnrolledAt, p.EnrolledAt
	for _, at := range []*time.Time{p.LastInboundAt, p.NumberCheckedAt} {
		if at != nil && at.After(heard) {
			heard = *at
		}
	}
	if newest.Action == models.ConsentOptIn {
		consented = newest.At
	}
	return heard, consented
}

// RecordReassigned notes what the carrier says of the number of a claimed text. Where it has
// gone to another person the text is called off, the person is paused and an operator is
// told. ErrStale for an older claim. Safe to retry.
func (s *Outbox) RecordReassigned(ctx context.Context, ref models.ClaimRef, isReassigned bool, now time.Time) error {
	return s.changeOutbox(ctx, ref.OutboxID, func(tx *gorm.DB, row *models.Outbox, p models.Participant) (bool, error) {
		if row.ClaimToken != ref.Token {
			return false, models.ErrStale
		}
		if !isReassigned {
			at := instant(now)
			return false, tx.Model(&models.Participant{ID: p.ID}).UpdateColumn("number_checked_at", &at).Error
		}
		changed, err := applyFailure(tx, row, models.SendFailure{OutboxID: row.ID, Token: ref.Token, Status: wire.OutboxFailed, Code: models.CodeReassigned, Now: now})
		if err != nil || !changed {
			return changed, err
		}
		err = pauseFor(tx, p, pauseReason{attention: wire.AttentionWrongNumber, ref: row.ID, code: models.CodeReassigned, at: now})
		return true, wrap.Error(err, "pausing for a number that has gone to another person")
	})
}
