package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/metrics"
	"coachline/internal/region"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
)

// Carrier sends texts; its errors are *models.CarrierError, or that of
// BeforeWrite.
type Carrier interface {
	Send(ctx context.Context, sms models.SMS) (models.Receipt, error)
	// Find lists what the carrier may have taken of a text that was posted age ago.
	Find(ctx context.Context, sms models.SMS, age time.Duration) (models.Lookup, error)
}

// Numbers says whether numbers have gone to other people.
type Numbers interface {
	IsReassigned(ctx context.Context, phone string, since time.Time) (bool, error)
}

// SendActivities sends outbox rows.
type SendActivities struct {
	Store   Outbox
	Carrier Carrier
	// Numbers says whether a number has gone to another person; it is asked after a silence
	// of ReassignedAfter, and nil or 0 never.
	Numbers         Numbers
	ReassignedAfter time.Duration
	// Studies have senders of their own; nil: all texts come from the carrier
	// client's.
	Studies *study.Resolver
	Now     func() time.Time
	// Metrics may be nil; then nothing is counted.
	Metrics *metrics.Metrics
}

// SendSMS sends one outbox row. Safe to retry: a row whose earlier attempt may
// have reached the carrier is looked up there, and posted again only when the
// carrier's list has not shown it for a while, and only if the text is worth a
// possible duplicate. Otherwise the row ends as unknown, which a late status
// callback still corrects.
//
// The time that a text may be tried for ends with its usefulness: then the row
// ends as failed, with the code stale.
func (p *SendActivities) SendSMS(ctx context.Context, in wire.SendSMSInput) (wire.SendSMSResult, error) {
	stop := startHeartbeat(ctx)
	defer stop()
	return p.sendRow(metrics.Begin(ctx), in)
}

func (p *SendActivities) sendRow(ctx context.Context, in wire.SendSMSInput) (wire.SendSMSResult, error) {
	claim, err := p.Store.ClaimSend(ctx, in.OutboxID, p.Now())
	if err != nil {
		return wire.SendSMSResult{}, toTemporalError(fmt.Errorf("claiming %s: %w", in.OutboxID, err))
	}
	p.Metrics.Claimed(ctx, claim)
	out, err := p.deliverClaim(ctx, claim)
	if err != nil && in.LeaveUnsettled && p.isLongUnsettled(claim.Outbox) {
		return wire.SendSMSResult{Status: wire.OutboxSending}, nil
	}
	return out, err
}

// isLongUnsettled reports whether a turn has waited for the text long enough.
func (p *SendActivities) isLongUnsettled(row models.Outbox) bool {
	return row.UnsettledSince != nil && p.Now().Sub(*row.UnsettledSince) > settleWait
}

func (p *SendActivities) deliverClaim(ctx context.Context, claim models.SendClaim) (wire.SendSMSResult, error) {
	row := claim.Outbox
	if claim.Early {
		return wire.SendSMSResult{}, retryIn(partLookup, "the part before it is still on its way", nil)
	}
	if claim.Wait > 0 {
		return p.retryLater(ctx, row, claim.Wait)
	}
	if !claim.Post {
		return p.resultOf(ctx, row)
	}
	if claim.Resumed {
		return p.lookUp(ctx, claim)
	}
	if code := p.tooLateCode(row); code != "" {
		return p.tooLate(ctx, row, code)
	}
	if isReassigned, err := p.checkNumber(ctx, claim); err != nil || isReassigned {
		return wire.SendSMSResult{Status: wire.OutboxFailed, Code: models.CodeReassigned}, err
	}
	return p.postText(ctx, claim)
}

// checkNumber asks whether the number of a text that we start has gone to another person
// during a long silence. A carrier that cannot tell stops nothing.
func (p *SendActivities) checkNumber(ctx context.Context, claim models.SendClaim) (bool, error) {
	isDue := p.Numbers != nil && p.ReassignedAfter > 0 && !claim.Heard.IsZero() && p.Now().Sub(claim.Heard) >= p.ReassignedAfter
	if !isDue || !claim.Outbox.Kind.Spec().Initiated || claim.Outbox.FormerPhoneID != 0 || region.CountryOf(claim.To, "") != "US" {
		return false, nil
	}
	isReassigned, err := p.Numbers.IsReassigned(ctx, claim.To, claim.Consented)
	if err != nil {
		activity.GetLogger(ctx).Warn("the carrier does not say whether a number has gone to another person; the text goes out", "outbox", claim.Outbox.ID, "error", err)
		return false, nil
	}
	err = p.Store.RecordReassigned(ctx, claim.Ref(), isReassigned, p.Now())
	return isReassigned, toTemporalError(err)
}

// postText sends the text to the carrier. Consent and status are checked once
// more when the connection is established, because that may take long.
func (p *SendActivities) postText(ctx context.Context, claim models.SendClaim) (wire.SendSMSResult, error) {
	row := claim.Outbox
	sms, err := p.newSMS(ctx, claim)
	if err != nil {
		return p.notWritten(ctx, claim, err)
	}
	claim.Sender = sms.Sender
	check := &writeCheck{posts: p, claim: claim}
	sms.ValidFor, sms.BeforeWrite = usefulUntil(row).Sub(p.Now()), check.checkClaim
	receipt, err := p.Carrier.Send(ctx, sms)
	refused, failed := check.readAnswer()
	switch {
	case refused != nil:
		return p.resultOf(ctx, *refused)
	case failed != nil:
		return p.notWritten(ctx, claim, failed)
	case err != nil:
		return p.handleFailure(ctx, row, err)
	}
	out, err := p.recordAccepted(ctx, claim.Ref(), receipt)
	if errors.Is(err, models.ErrConflict) {
		// Taken, under the id of another text: which of the two it was is not known.
		return p.endRow(ctx, row, models.SendFailure{Status: wire.OutboxUnknown})
	}
	return out, err
}

// newSMS returns the text of a claimed row as it goes to the carrier, from the
// sender of the person's study. A study's sender may have been another one when an
// earlier attempt posted the text.
func (p *SendActivities) newSMS(ctx context.Context, claim models.SendClaim) (models.SMS, error) {
	settings, err := p.Studies.Resolve(ctx, claim.StudyID, claim.Arm)
	return models.SMS{
		OutboxID: claim.Outbox.ID, To: claim.To, Body: claim.Outbox.Body, Sender: settings.Sender,
		AnySender: settings.Version > 1 || !settings.Sender.IsZero(),
	}, err
}

// writeCheck asks the store whether a text may be written. The carrier client
// may go on without waiting for it, when the caller has given up.
type writeCheck struct {
	posts *SendActivities
	claim models.SendClaim

	mu      sync.Mutex
	refused *models.Outbox
	failed  error
}

var errNotToBeWritten = errors.New("the send check refused it")

func (c *writeCheck) checkClaim(ctx context.Context) error {
	row, err := c.posts.Store.StartPost(ctx, c.claim, c.posts.Now())
	if err == nil && row.Status != wire.OutboxSending {
		c.posts.Metrics.Claimed(ctx, models.SendClaim{Outbox: row})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err; err != nil {
		return err
	}
	if row.Status != wire.OutboxSending {
		c.refused = &row
		return errNotToBeWritten
	}
	return nil
}

func (c *writeCheck) readAnswer() (refused *models.Outbox, failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused, c.failed
}

// notWritten gives a row back whose check could not be made. Where that fails
// too, the next attempt looks the text up.
func (p *SendActivities) notWritten(ctx context.Context, claim models.SendClaim, cause error) (wire.SendSMSResult, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	released := p.Store.ReleaseSend(ctx, claim.Ref(), p.Now())
	if released == nil {
		p.Metrics.Sent(ctx, wire.OutboxReady)
	}
	return wire.SendSMSResult{}, fmt.Errorf("checking %s before writing it: %w", claim.Outbox.ID, errors.Join(cause, released))
}

// retryLater has a text of a stopped sender try again later, until it is of no
// use.
func (p *SendActivities) retryLater(ctx context.Context, row models.Outbox, pause time.Duration) (wire.SendSMSResult, error) {
	left := row.CreatedAt.Add(usefulFor(row)).Sub(p.Now())
	if left < 0 {
		return p.tooLate(ctx, row, models.CodeStale)
	}
	return wire.SendSMSResult{}, retryIn(min(pause, left+time.Second), "the sender is stopped", nil)
}

func (p *SendActivities) tooLate(ctx context.Context, row models.Outbox, code string) (wire.SendSMSResult, error) {
	return p.endRow(ctx, row, models.SendFailure{Status: wire.OutboxFailed, Code: code})
}

// tooLateCode returns why a text is not worth posting any more; empty: it is.
func (p *SendActivities) tooLateCode(row models.Outbox) string {
	switch now := p.Now(); {
	case now.Sub(row.CreatedAt) > usefulFor(row):
		return models.CodeStale
	case row.SendBefore != nil && !now.Before(*row.SendBefore):
		return models.CodeQuiet
	}
	return ""
}

// lookUp settles a row that an earlier attempt has posted without learning its
// result, as far as the carrier's list does.
func (p *SendActivities) lookUp(ctx context.Context, claim models.SendClaim) (wire.SendSMSResult, error) {
	row := claim.Outbox
	age := max(p.Now().Sub(attemptedAt(row)), 0)
	sms, err := p.newSMS(ctx, claim)
	if err != nil {
		return wire.SendSMSResult{}, err
	}
	list, err := p.Carrier.Find(ctx, sms, age)
	if err != nil && p.tooLateCode(row) != "" {
		return p.endRow(ctx, row, models.SendFailure{Status: wire.OutboxUnknown})
	}
	if err != nil {
		return wire.SendSMSResult{}, unknownFor(nextLookup(age), fmt.Sprintf("looking %s up: %v", row.ID, err), err)
	}
	for _, match := range list.Matches {
		out, err := p.recordAccepted(ctx, claim.Ref(), match)
		if !errors.Is(err, models.ErrConflict) {
			return out, err
		}
		// The same text sent for another row.
	}
	if row.MissingSince == nil {
		if err := p.Store.NoteMissing(ctx, claim.Ref(), list.At); err != nil {
			return wire.SendSMSResult{}, fmt.Errorf("noting that %s is missing: %w", row.ID, err)
		}
		return wire.SendSMSResult{}, unknownFor(min(nextLookup(age), absence), "the carrier does not list it yet", nil)
	}
	if missing := list.At.Sub(*row.MissingSince); missing < absence {
		return wire.SendSMSResult{}, unknownFor(min(nextLookup(age), absence-missing), "the carrier does not list it yet", nil)
	}
	return p.handleMissing(ctx, row)
}

// handleMissing ends or posts again a text that the carrier proved not to have.
func (p *SendActivities) handleMissing(ctx context.Context, row models.Outbox) (wire.SendSMSResult, error) {
	if row.UnknownPosts >= len(repostPauses) || !row.Kind.Spec().Repost {
		return p.endRow(ctx, row, models.SendFailure{Status: wire.OutboxUnknown})
	}
	// Back to ready: the next attempt passes the send check again and posts.
	if err := p.Store.ReleaseMissing(ctx, claimOf(row), p.Now()); err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("releasing %s: %w", row.ID, err)
	}
	p.Metrics.Sent(ctx, wire.OutboxReady)
	return wire.SendSMSResult{}, retryIn(repostPauses[row.UnknownPosts], "the carrier never took it", nil)
}

func (p *SendActivities) recordAccepted(ctx context.Context, ref models.ClaimRef, receipt models.Receipt) (wire.SendSMSResult, error) {
	now := p.Now()
	if err := p.Store.RecordAccepted(ctx, ref, receipt, now); err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("recording %s as accepted: %w", ref.OutboxID, err)
	}
	p.Metrics.Sent(ctx, wire.OutboxAccepted)
	return wire.SendSMSResult{Status: receipt.Status, AcceptedAt: now}, nil
}

// handleFailure does what a failed send asks for: tried again at once or later,
// looked up first, or final.
func (p *SendActivities) handleFailure(ctx context.Context, row models.Outbox, err error) (wire.SendSMSResult, error) {
	var cause *models.CarrierError
	if !errors.As(err, &cause) {
		return wire.SendSMSResult{}, fmt.Errorf("sending %s: %w", row.ID, err)
	}
	switch cause.Class.Spec().Reaction {
	case models.ReactionLookUp:
		// The row stays in sending: the next attempt looks it up.
		return wire.SendSMSResult{}, unknownFor(lookupLeast, cause.Error(), cause)
	case models.ReactionRetry:
		return p.giveBack(ctx, row, cause, busyPause(attemptOf(ctx)))
	case models.ReactionRetryInMinutes:
		return p.giveBack(ctx, row, cause, slowDown)
	case models.ReactionHold, models.ReactionHoldAndEnd:
		return p.holdSender(ctx, row, cause)
	case models.ReactionRetryLater:
		if row.LateTries == 0 && p.Now().Add(secondTry).Sub(row.CreatedAt) <= usefulFor(row) {
			return p.postponeRow(ctx, row, cause)
		}
	case models.ReactionEnd:
	}
	return p.recordFailed(ctx, row, cause)
}

// recordFailed ends a row with the code and class of the carrier.
func (p *SendActivities) recordFailed(ctx context.Context, row models.Outbox, cause *models.CarrierError) (wire.SendSMSResult, error) {
	return p.endRow(ctx, row, models.SendFailure{Status: wire.OutboxFailed, Code: cause.Code, Class: cause.Class})
}

// holdSender holds the whole sender. The text is still being sent then: an
// attempt that dies here has it looked up, and given back. With the account out
// of order the text ends; otherwise nothing is wrong with it, and it waits.
func (p *SendActivities) holdSender(ctx context.Context, row models.Outbox, cause *models.CarrierError) (wire.SendSMSResult, error) {
	err := p.Store.HoldSender(ctx, models.Refusal{OutboxID: row.ID, Class: cause.Class, Code: cause.Code, Now: p.Now()})
	if err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("holding the sender for %s: %w", row.ID, err)
	}
	if cause.Class.Spec().Reaction == models.ReactionHoldAndEnd {
		return p.recordFailed(ctx, row, cause)
	}
	return p.giveBack(ctx, row, cause, heldLookup)
}

// postponeRow gives the row back for its one later try.
func (p *SendActivities) postponeRow(ctx context.Context, row models.Outbox, cause *models.CarrierError) (wire.SendSMSResult, error) {
	if err := p.Store.PostponeSend(ctx, claimOf(row), p.Now()); err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("putting %s off: %w", row.ID, err)
	}
	p.Metrics.Sent(ctx, wire.OutboxReady)
	return wire.SendSMSResult{}, retryIn(secondTry, cause.Error(), cause)
}

// endRow records that the row will not be sent.
func (p *SendActivities) endRow(ctx context.Context, row models.Outbox, f models.SendFailure) (wire.SendSMSResult, error) {
	f.OutboxID, f.Token, f.Now = row.ID, row.ClaimToken, p.Now()
	if err := p.Store.RecordFailed(ctx, f); err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("recording %s as %s: %w", f.OutboxID, f.Status, err)
	}
	p.Metrics.NotSent(ctx, f)
	return wire.SendSMSResult{Status: f.Status, Code: f.Code}, nil
}

func attemptOf(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

// giveBack puts a row back that was refused for sure, and lets Temporal retry
// after delay.
func (p *SendActivities) giveBack(ctx context.Context, row models.Outbox, cause error, delay time.Duration) (wire.SendSMSResult, error) {
	if err := p.Store.ReleaseSend(ctx, claimOf(row), p.Now()); err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("releasing %s: %w", row.ID, err)
	}
	p.Metrics.Sent(ctx, wire.OutboxReady)
	return wire.SendSMSResult{}, retryIn(delay, cause.Error(), cause)
}

// retryIn asks for the next attempt of a text that the carrier does not have.
func retryIn(delay time.Duration, message string, cause error) error {
	options := temporal.ApplicationErrorOptions{NextRetryDelay: delay, Cause: cause}
	if cause == nil {
		options.Category = temporal.ApplicationErrorCategoryBenign
	}
	return temporal.NewApplicationErrorWithOptions(message, wire.ErrTypeCarrierBusy, options)
}

// unknownFor asks for the next look-up of a text that the carrier may have.
func unknownFor(delay time.Duration, message string, cause error) error {
	return temporal.NewApplicationErrorWithOptions(message, wire.ErrTypeCarrierUnknown,
		temporal.ApplicationErrorOptions{NextRetryDelay: delay, Cause: cause})
}

// resultOf returns the result for a row that needs no post any more.
func (p *SendActivities) resultOf(ctx context.Context, row models.Outbox) (out wire.SendSMSResult, err error) {
	out.Status, out.Code = row.Status, row.ErrorCode
	if row.AcceptedAt != nil {
		out.AcceptedAt = *row.AcceptedAt
	}
	if row.Status == wire.OutboxCanceled && row.ErrorCode == models.CodeNewerReply {
		out.Returned, err = p.Store.ReturnedMessages(ctx, row)
	}
	return out, err
}

func claimOf(row models.Outbox) models.ClaimRef {
	return models.ClaimRef{OutboxID: row.ID, Token: row.ClaimToken}
}

func attemptedAt(row models.Outbox) time.Time {
	if row.AttemptedAt != nil {
		return *row.AttemptedAt
	}
	return row.CreatedAt
}
