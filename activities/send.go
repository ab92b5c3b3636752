package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/models"
)

// SendStore gates and records what leaves for the carrier.
type SendStore interface {
	ClaimSend(ctx context.Context, outboxID string, now time.Time) (models.SendClaim, error)
	ReleaseSend(ctx context.Context, outboxID string, now time.Time) error
	RecordAccepted(ctx context.Context, outboxID string, r models.Receipt, now time.Time) error
	RecordFailed(ctx context.Context, f models.SendFailure) error
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
	Carrier Carrier
	Now     func() time.Time
}

// slowDown is the wait after the carrier asked for fewer texts; messaging
// facts 1.3 say minutes.
const slowDown = 2 * time.Minute

// lookBack covers clock differences between us and the carrier when a text of
// unknown fate is looked up.
const lookBack = 2 * time.Minute

// SendSMS hands one outbox row to the carrier, at most once. Safe to retry: a
// row whose earlier attempt may have reached the carrier is looked up there
// first, and posted again only when the carrier does not have it.
func (p *Posts) SendSMS(ctx context.Context, in models.SendSMSInput) (models.SendSMSResult, error) {
	claim, err := p.Store.ClaimSend(ctx, in.OutboxID, p.Now())
	if err != nil {
		return models.SendSMSResult{}, classed(fmt.Errorf("claiming %s: %w", in.OutboxID, err))
	}
	if !claim.Post {
		return standing(claim.Outbox), nil
	}
	sms := models.SMS{OutboxID: in.OutboxID, To: claim.To, Body: claim.Outbox.Body}
	if claim.Resumed {
		receipt, known, err := p.Carrier.Find(ctx, sms, attemptedAt(claim.Outbox).Add(-lookBack))
		if err != nil {
			return models.SendSMSResult{}, fmt.Errorf("looking %s up: %w", in.OutboxID, err)
		}
		if known {
			return p.accepted(ctx, in.OutboxID, receipt)
		}
	}
	receipt, err := p.Carrier.Send(ctx, sms)
	if err != nil {
		return p.refused(ctx, in.OutboxID, err)
	}
	return p.accepted(ctx, in.OutboxID, receipt)
}

func (p *Posts) accepted(ctx context.Context, id string, receipt models.Receipt) (models.SendSMSResult, error) {
	now := p.Now()
	if err := p.Store.RecordAccepted(ctx, id, receipt, now); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("recording %s as accepted: %w", id, err)
	}
	return models.SendSMSResult{Status: receipt.Status, AcceptedAt: now}, nil
}

// refused classes a failed send (messaging facts 1.3): tried again at once or
// later, looked up first, or final.
func (p *Posts) refused(ctx context.Context, id string, err error) (models.SendSMSResult, error) {
	var carrier *models.CarrierError
	if !errors.As(err, &carrier) {
		return models.SendSMSResult{}, fmt.Errorf("sending %s: %w", id, err)
	}
	switch carrier.Class {
	case models.CarrierAmbiguous:
		// The row stays in sending: the next attempt looks it up.
		return models.SendSMSResult{}, temporal.NewApplicationError(carrier.Error(), models.ErrTypeCarrierUnknown, carrier)
	case models.CarrierRetry:
		return p.later(ctx, id, carrier, 0)
	case models.CarrierSlowDown, models.CarrierWindow, models.CarrierRetryOnce:
		return p.later(ctx, id, carrier, slowDown)
	case models.CarrierConsent, models.CarrierBadNumber, models.CarrierBlocked, models.CarrierRegistration,
		models.CarrierContent, models.CarrierAccount, models.CarrierStale:
	}
	failure := models.SendFailure{
		OutboxID: id, Status: models.OutboxFailed, Code: carrier.Code,
		OptedOut: carrier.Class == models.CarrierConsent, Now: p.Now(),
	}
	if err := p.Store.RecordFailed(ctx, failure); err != nil {
		return models.SendSMSResult{}, fmt.Errorf("recording %s as failed: %w", id, err)
	}
	return models.SendSMSResult{Status: models.OutboxFailed, Code: carrier.Code}, nil
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
