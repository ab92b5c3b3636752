package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/models/carrier"
)

// SendStore gates and records what leaves for the carrier.
type SendStore interface {
	ClaimSend(ctx context.Context, outboxID string, now time.Time) (models.SendClaim, error)
	ReleaseSend(ctx context.Context, outboxID string, now time.Time) error
	RecordAccepted(ctx context.Context, outboxID string, r models.Receipt, now time.Time) error
	RecordFailed(ctx context.Context, f models.SendFailure) error
}

// SendBrake does what a refusal asks for beyond giving the text back.
type SendBrake interface {
	HoldSender(ctx context.Context, r carrier.Refusal) error
	PostponeSend(ctx context.Context, outboxID string, now time.Time) error
}

// Carrier hands texts over; its errors are *models.CarrierError.
type Carrier interface {
	Send(ctx context.Context, sms models.SMS) (models.Receipt, error)
	// Find looks for a text that the carrier may have taken since an instant.
	Find(ctx context.Context, sms models.SMS, since time.Time) (models.Receipt, bool, error)
}

// Posts sends outbox rows.
type Posts struct {
	Store   SendStore
	Brake   SendBrake
	Carrier Carrier
	Now     func() time.Time
}

// Waits of a send, from messaging facts 1.3.
const (
	// slowDown: the carrier asked for fewer texts, or has a fault of its own.
	slowDown = 2 * time.Minute
	// secondTry: when a text goes out for the one later try that a handset out
	// of reach, or a fault of the provider, is worth.
	secondTry = 30 * time.Minute
	// heldLook: after this a text that the carrier's stop of the sender gave
	// back asks how long the stop lasts.
	heldLook = time.Second
	// firstLook: a text of unknown fate is usually settled by its status
	// callback within seconds; after this its own list is asked.
	firstLook = 10 * time.Second
	// absence: how long the carrier must not have heard of a text before it
	// counts as never taken. Its list lags behind its acceptances.
	absence = 40 * time.Second
	// maxPosts bounds how often a text is posted; each time after the first,
	// the carrier has proved that it does not have it.
	maxPosts = 5
	// startedLife is how long a text that we start ourselves may be tried for
	// while the carrier does not take it: it is soon out of date.
	startedLife = 30 * time.Minute
	// partLook is how often it is looked whether the part before has left.
	partLook = 2 * time.Second
	// lookBack covers clock differences between us and the carrier.
	lookBack = 2 * time.Minute
)

// SendSMS hands one outbox row to the carrier. Safe to retry: a row whose
// earlier attempt may have reached the carrier is looked up there, and posted
// again only when the carrier has not heard of it for a while, and only if the
// text is worth a possible duplicate. Otherwise the row ends as
// unknown, which a late status callback still corrects.
//
// The time that a text may be tried for ends with its usefulness: then the row
// ends as failed, with the code stale.
func (p *Posts) SendSMS(ctx context.Context, in models.SendSMSInput) (models.SendSMSResult, error) {
	stop := beat(ctx)
	defer stop()
	return p.send(ctx, in.OutboxID)
}

func (p *Posts) send(ctx context.Context, id string) (models.SendSMSResult, error) {
	claim, err := p.Store.ClaimSend(ctx, id, p.Now())
	if err != nil {
		return models.SendSMSResult{}, classed(fmt.Errorf("claiming %s: %w", id, err))
	}
	return p.deliver(ctx, claim)
}

// deliver hands a claimed row to the carrier.
func (p *Posts) deliver(ctx context.Context, claim models.SendClaim) (models.SendSMSResult, error) {
	row := claim.Outbox
	if claim.Early {
		return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions("the part before it is still on its way", models.ErrTypeCarrierBusy,
			temporal.ApplicationErrorOptions{NextRetryDelay: partLook, Category: temporal.ApplicationErrorCategoryBenign})
	}
	if claim.Wait > 0 {
		return p.wait(ctx, row, claim.Wait)
	}
	if !claim.Post {
		return standing(row), nil
	}
	sms := models.SMS{OutboxID: row.ID, To: claim.To, Body: row.Body}
	if claim.Resumed {
		return p.resume(ctx, sms, row)
	}
	if code := p.late(row); code != "" {
		return p.tooLate(ctx, row, code)
	}
	receipt, err := p.Carrier.Send(ctx, sms)
	if err != nil {
		return p.refused(ctx, row, err)
	}
	return p.accepted(ctx, row.ID, receipt)
}

// wait has a text of a stopped sender try again later, until it is of no use.
func (p *Posts) wait(ctx context.Context, row models.Outbox, pause time.Duration) (models.SendSMSResult, error) {
	left := useful(row) - p.Now().Sub(row.CreatedAt)
	if left < 0 {
		return p.tooLate(ctx, row, carrier.CodeStale)
	}
	return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions("the sender is stopped", models.ErrTypeCarrierBusy,
		temporal.ApplicationErrorOptions{NextRetryDelay: min(pause, left+time.Second), Category: temporal.ApplicationErrorCategoryBenign})
}

func (p *Posts) tooLate(ctx context.Context, row models.Outbox, code string) (models.SendSMSResult, error) {
	return p.end(ctx, models.SendFailure{OutboxID: row.ID, Status: models.OutboxFailed, Code: code, Now: p.Now()})
}

// late says why a text is not worth posting any more; empty: it is.
func (p *Posts) late(row models.Outbox) string {
	switch now := p.Now(); {
	case now.Sub(row.CreatedAt) > useful(row):
		return carrier.CodeStale
	case row.SendBefore != nil && !now.Before(*row.SendBefore):
		return carrier.CodeQuiet
	}
	return ""
}

// resume settles a row that an earlier attempt left in sending.
func (p *Posts) resume(ctx context.Context, sms models.SMS, row models.Outbox) (models.SendSMSResult, error) {
	receipt, known, err := p.Carrier.Find(ctx, sms, attemptedAt(row).Add(-lookBack))
	if err != nil {
		return models.SendSMSResult{}, fmt.Errorf("looking %s up: %w", row.ID, err)
	}
	if known {
		out, err := p.accepted(ctx, row.ID, receipt)
		if !errors.Is(err, models.ErrConflict) {
			return out, err
		}
		// The same words sent for another row: ours is not there.
	}
	if missing := p.Now().Sub(attemptedAt(row)); missing < absence {
		return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions("the carrier has not heard of it yet",
			models.ErrTypeCarrierUnknown, temporal.ApplicationErrorOptions{NextRetryDelay: absence - missing})
	}
	if row.Attempts >= maxPosts || !worthTwice(row.Kind) {
		return p.end(ctx, models.SendFailure{OutboxID: row.ID, Status: models.OutboxUnknown, Now: p.Now()})
	}
	// Back to ready: the next attempt passes the gates again and posts.
	if err := p.Store.ReleaseSend(ctx, row.ID, p.Now()); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("releasing %s: %w", row.ID, err)
	}
	return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions("the carrier never took it",
		models.ErrTypeCarrierBusy, temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
}

// useful is how long a text may be tried for. Later tries have been judged
// before, and are bounded here as answers are.
func useful(row models.Outbox) time.Duration {
	if row.LateOf == "" && (row.Kind == models.KindPrompt || row.Kind == models.KindResult || slices.Contains(nudges, row.Kind)) {
		return startedLife
	}
	return carrier.AnswerLife
}

// nudges may rather not come at all than come twice.
var nudges = []models.Kind{
	models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup, models.KindCheckIn, models.KindDebug,
}

// worthTwice: an answer that somebody waits for, and the daily prompt, may
// rather come twice than not at all.
func worthTwice(kind models.Kind) bool { return !slices.Contains(nudges, kind) }

func (p *Posts) accepted(ctx context.Context, id string, receipt models.Receipt) (models.SendSMSResult, error) {
	now := p.Now()
	if err := p.Store.RecordAccepted(ctx, id, receipt, now); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("recording %s as accepted: %w", id, err)
	}
	return models.SendSMSResult{Status: receipt.Status, AcceptedAt: now}, nil
}

// refused classes a failed send (messaging facts 1.3): tried again at once or
// later, looked up first, or final.
func (p *Posts) refused(ctx context.Context, row models.Outbox, err error) (models.SendSMSResult, error) {
	id := row.ID
	var carrier *models.CarrierError
	if !errors.As(err, &carrier) {
		return models.SendSMSResult{}, fmt.Errorf("sending %s: %w", id, err)
	}
	switch carrier.Class {
	case models.CarrierAmbiguous:
		// The row stays in sending: the next attempt looks it up.
		return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions(carrier.Error(), models.ErrTypeCarrierUnknown,
			temporal.ApplicationErrorOptions{NextRetryDelay: firstLook, Cause: carrier})
	case models.CarrierRetry:
		return p.later(ctx, id, carrier, 0)
	case models.CarrierSlowDown:
		return p.later(ctx, id, carrier, slowDown)
	case models.CarrierWindow, models.CarrierRegistration, models.CarrierAccount:
		return p.stop(ctx, id, carrier)
	case models.CarrierRetryOnce:
		if row.LateTries == 0 && p.Now().Add(secondTry).Sub(row.CreatedAt) <= useful(row) {
			return p.postpone(ctx, id, carrier)
		}
	case models.CarrierConsent, models.CarrierBadNumber, models.CarrierBlocked, models.CarrierContent, models.CarrierStale:
	}
	return p.final(ctx, id, carrier)
}

// final ends a row for what the carrier said.
func (p *Posts) final(ctx context.Context, id string, cause *models.CarrierError) (models.SendSMSResult, error) {
	return p.end(ctx, models.SendFailure{
		OutboxID: id, Status: models.OutboxFailed, Code: cause.Code, Class: cause.Class, Now: p.Now(),
	})
}

// stop holds the whole sender. The text is still being sent then: an attempt
// that dies here has it looked up, and given back. With the account out of
// order the text ends; otherwise nothing is wrong with it, and it waits.
func (p *Posts) stop(ctx context.Context, id string, cause *models.CarrierError) (models.SendSMSResult, error) {
	err := p.Brake.HoldSender(ctx, carrier.Refusal{OutboxID: id, Class: cause.Class, Code: cause.Code, Now: p.Now()})
	if err != nil {
		return models.SendSMSResult{}, fmt.Errorf("stopping the sender for %s: %w", id, err)
	}
	if cause.Class == models.CarrierAccount {
		return p.final(ctx, id, cause)
	}
	return p.later(ctx, id, cause, heldLook)
}

// postpone gives the row back for its one later try.
func (p *Posts) postpone(ctx context.Context, id string, cause *models.CarrierError) (models.SendSMSResult, error) {
	if err := p.Brake.PostponeSend(ctx, id, p.Now()); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("putting %s off: %w", id, err)
	}
	return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions(cause.Error(), models.ErrTypeCarrierBusy,
		temporal.ApplicationErrorOptions{NextRetryDelay: secondTry, Cause: cause})
}

// end records that the row will not be sent.
func (p *Posts) end(ctx context.Context, f models.SendFailure) (models.SendSMSResult, error) {
	if err := p.Store.RecordFailed(ctx, f); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("recording %s as %s: %w", f.OutboxID, f.Status, err)
	}
	return models.SendSMSResult{Status: f.Status, Code: f.Code}, nil
}

// later gives the row back and lets Temporal retry, after delay where one is
// given and after the policy's own interval otherwise.
func (p *Posts) later(ctx context.Context, id string, cause *models.CarrierError, delay time.Duration) (models.SendSMSResult, error) {
	if err := p.Store.ReleaseSend(ctx, id, p.Now()); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("releasing %s: %w", id, err)
	}
	return models.SendSMSResult{}, temporal.NewApplicationErrorWithOptions(cause.Error(), models.ErrTypeCarrierBusy,
		temporal.ApplicationErrorOptions{NextRetryDelay: delay, Cause: cause})
}

// standing is the result for a row that needs no post any more.
func standing(row models.Outbox) models.SendSMSResult {
	out := models.SendSMSResult{Status: row.Status, Code: row.ErrorCode}
	if row.AcceptedAt != nil {
		out.AcceptedAt = *row.AcceptedAt
	}
	return out
}

func attemptedAt(row models.Outbox) time.Time {
	if row.AttemptedAt != nil {
		return *row.AttemptedAt
	}
	return row.CreatedAt
}
