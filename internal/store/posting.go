package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// StartPost repeats the send check for a claimed row and notes the instant from
// which the carrier may have the text, and which sender posts it. It is called when the connection to the
// carrier is established and nothing is written yet. Write the text only when
// the row comes back as sending; any other status says why not. It may be called
// again under the same claim. ErrStale when a newer claim has taken the row, or
// the participant has another number now.
func (s *Outbox) StartPost(ctx context.Context, claim models.SendClaim, now time.Time) (models.Outbox, error) {
	row, done, err := s.startUsual(ctx, claim, now)
	if done || err != nil {
		return row, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var p models.Participant
		var err error
		if row, p, err = lockOutbox(tx, claim.Outbox.ID); err != nil {
			return err
		}
		if row.Status != wire.OutboxSending {
			return nil
		}
		if row.ClaimToken != claim.Outbox.ClaimToken {
			return models.ErrStale
		}
		to, err := phoneOf(tx, row, p)
		if err != nil {
			return err
		}
		if to != claim.To {
			return models.ErrStale
		}
		refusal, _, err := checkSend(tx, row, p, now)
		if err != nil {
			return err
		}
		if refusal != "" {
			row.AttemptedAt = nil // this claim has written nothing
			err = refuseRow(tx, &row, refusal)
		} else {
			notePost(&row, now)
			row.SentFrom = s.nameOf(claim.Sender)
		}
		if err != nil {
			return err
		}
		row.UpdatedAt = now
		return saveOutbox(tx, &row, wire.OutboxSending)
	})
	return row, wrap.Error(err, "starting to post")
}

func (s *Outbox) nameOf(sender models.Sender) string {
	return cmp.Or(sender.Name(), s.senderName)
}

func notePost(row *models.Outbox, now time.Time) {
	row.AttemptedAt, row.MissingSince = &now, nil
	if row.UnsettledSince == nil {
		row.UnsettledSince = &now
	}
}

// startUsual is StartPost of the usual row in one statement: one whose send
// check depends on the participant's row alone, which has not changed since the
// claim. done is false for any other row.
func (s *Outbox) startUsual(ctx context.Context, claim models.SendClaim, now time.Time) (models.Outbox, bool, error) {
	row := claim.Outbox
	if !checksParticipantOnly(row) {
		return row, false, nil
	}
	row.SentFrom = s.nameOf(claim.Sender)
	var started bool
	err := s.db.WriteOne(ctx, func(rows *gorm.DB) error {
		res := rows.Exec(startPost, now, database.Instant(now), row.SentFrom, now,
			row.ID, wire.OutboxSending, row.ClaimToken, row.ParticipantID, claim.Version)
		started = res.RowsAffected > 0
		return res.Error
	})
	if err != nil {
		return models.Outbox{}, false, fmt.Errorf("starting to post: %w", err)
	}
	notePost(&row, now)
	return row, started, nil
}

const startPost = "UPDATE outbox SET attempted_at = ?, unsettled_since = COALESCE(unsettled_since, ?), missing_since = NULL, sent_from = ?, updated_at = ? " +
	"WHERE id = ? AND status = ? AND claim_token = ? " +
	"AND EXISTS (SELECT 1 FROM participants WHERE participants.id = ? AND version = ? AND removed_at IS NULL)"

// checksParticipantOnly reports whether consent and standing alone decide that the
// row may go, and nothing that may change without the participant's row.
func checksParticipantOnly(row models.Outbox) bool {
	return row.Part == 1 && row.LateOf == "" && row.UnsettledSince == nil && !row.Kind.Spec().Initiated &&
		!row.Kind.Spec().PassesChecks
}

// ReleaseSend puts a row that the carrier refused for sure, or to which nothing
// was written, back to ready; it may be claimed again. It does nothing in any
// other status, so a retry is safe. ErrStale for an older claim, ErrNotFound for
// an unknown row.
func (s *Outbox) ReleaseSend(ctx context.Context, ref models.ClaimRef, now time.Time) error {
	return s.changeClaimed(ctx, ref, now, release)
}

// release makes a row ready again; it stays unsettled where a post of it may be out.
func release(row *models.Outbox) {
	row.Status, row.AttemptedAt, row.MissingSince = wire.OutboxReady, nil, nil
	if row.UnknownPosts == 0 {
		row.UnsettledSince = nil
	}
}

// PostponeSend is ReleaseSend that counts the second try which the row is kept
// for.
func (s *Outbox) PostponeSend(ctx context.Context, ref models.ClaimRef, now time.Time) error {
	return s.changeClaimed(ctx, ref, now, func(row *models.Outbox) {
		release(row)
		row.LateTries++
	})
}

// ReleaseMissing puts a row back to ready whose post the carrier proved not to
// have, and counts the post. It is otherwise as ReleaseSend.
func (s *Outbox) ReleaseMissing(ctx context.Context, ref models.ClaimRef, now time.Time) error {
	return s.changeClaimed(ctx, ref, now, func(row *models.Outbox) {
		row.Status, row.AttemptedAt, row.MissingSince = wire.OutboxReady, nil, nil
		row.UnknownPosts++
	})
}

// NoteMissing records when the carrier's list did not show the post, by the
// carrier's clock; the first instant stays. It does nothing unless the row is
// being sent. ErrStale for an older claim, ErrNotFound for an unknown row.
func (s *Outbox) NoteMissing(ctx context.Context, ref models.ClaimRef, listed time.Time) error {
	return s.changeClaimed(ctx, ref, time.Time{}, func(row *models.Outbox) {
		if row.MissingSince == nil {
			row.MissingSince = &listed
		}
	})
}

// changeClaimed changes a row that is being sent, for its newest claim; a zero
// now leaves the instant of the last change.
func (s *Outbox) changeClaimed(ctx context.Context, ref models.ClaimRef, now time.Time, change func(row *models.Outbox)) error {
	return s.changeOutbox(ctx, ref.OutboxID, func(_ *gorm.DB, row *models.Outbox, _ models.Participant) (bool, error) {
		if row.Status != wire.OutboxSending {
			return false, nil
		}
		if row.ClaimToken != ref.Token {
			return false, models.ErrStale
		}
		change(row)
		if !now.IsZero() {
			row.UpdatedAt = now
		}
		return true, nil
	})
}
