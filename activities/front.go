package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/prompts"
)

// FrontStore keeps the fixed texts that no turn belongs to.
type FrontStore interface {
	ClaimHint(ctx context.Context, id string, now time.Time) (models.HintClaim, error)
	SettleHint(ctx context.Context, r models.HintResult) error
	LocaleOf(ctx context.Context, inboundID int64) (string, error)
	QueueLimitNotice(ctx context.Context, n models.LimitNotice) (string, error)
}

// Poster hands a text over; its errors are *models.CarrierError.
type Poster interface {
	Send(ctx context.Context, sms models.SMS) (models.Receipt, error)
}

// Front sends what the front door answers by itself: the hint to a stranger and
// the word about too many texts. They run without a workflow, started by the
// relay under an id that cannot be started twice.
type Front struct {
	Store     FrontStore
	Carrier   Poster
	Posts     *Posts
	Prompts   *prompts.Library
	Programme string
	// Region is that of the programme, such as "MX"; strangers are answered in
	// its language.
	Region string
	Now    func() time.Time
}

// SendHint hands the day's hint to a stranger to the carrier and returns where
// it stands. It goes out at most once: an attempt of unknown fate ends it, and
// only a refusal by the carrier is tried again. Safe to retry.
func (f *Front) SendHint(ctx context.Context, in models.SendHintInput) (models.OutboxStatus, error) {
	body, err := f.fixed(prompts.UnknownSender, "und-"+f.Region)
	if err != nil {
		return "", err
	}
	claim, err := f.Store.ClaimHint(ctx, in.HintID, f.Now())
	if err != nil {
		return "", classed(err)
	}
	if !claim.Post {
		return claim.Status, nil
	}
	receipt, sendErr := f.Carrier.Send(ctx, models.SMS{
		OutboxID: in.HintID, To: claim.To, Body: body, ValidFor: models.FrontTextLife,
	})
	// The attempt is settled even when the activity was given up meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	result := f.hintResult(in.HintID, receipt, sendErr)
	if err := f.Store.SettleHint(ctx, result); err != nil {
		return "", fmt.Errorf("settling %s: %w", in.HintID, err)
	}
	if result.Status == models.OutboxReady {
		return "", temporal.NewApplicationErrorWithOptions(sendErr.Error(), models.ErrTypeCarrierBusy,
			temporal.ApplicationErrorOptions{Cause: sendErr})
	}
	return result.Status, nil
}

const settleLimit = 5 * time.Second

func (f *Front) hintResult(id string, receipt models.Receipt, err error) models.HintResult {
	result := models.HintResult{ID: id, Status: receipt.Status, ProviderSID: receipt.ProviderSID, Now: f.Now()}
	if err == nil {
		return result
	}
	result.Status = models.OutboxUnknown
	var carrier *models.CarrierError
	if !errors.As(err, &carrier) {
		return result
	}
	result.ErrorCode = carrier.Code
	switch carrier.Class {
	case models.CarrierRetry, models.CarrierSlowDown:
		result.Status = models.OutboxReady
	case models.CarrierAmbiguous:
	case models.CarrierWindow, models.CarrierRetryOnce, models.CarrierConsent, models.CarrierBadNumber, models.CarrierBlocked,
		models.CarrierRegistration, models.CarrierContent, models.CarrierAccount, models.CarrierStale:
		result.Status = models.OutboxFailed
	}
	return result
}

// SendLimitNotice tells a participant that the newest texts were too many, by
// an outbox row of its own that passes the gates of every other text. Safe to
// retry: the text above the limit names the row, and its sending is SendSMS's.
func (f *Front) SendLimitNotice(ctx context.Context, in models.SendLimitInput) (models.SendSMSResult, error) {
	locale, err := f.Store.LocaleOf(ctx, in.InboundID)
	if err != nil {
		return models.SendSMSResult{}, classed(err)
	}
	body, err := f.fixed(prompts.TooManyTexts, locale)
	if err != nil {
		return models.SendSMSResult{}, err
	}
	id, err := f.Store.QueueLimitNotice(ctx, models.LimitNotice{InboundID: in.InboundID, Body: body, Now: f.Now()})
	if err != nil {
		return models.SendSMSResult{}, classed(err)
	}
	if id == "" {
		return models.SendSMSResult{Status: models.OutboxCanceled}, nil
	}
	return f.Posts.SendSMS(ctx, models.SendSMSInput{OutboxID: id})
}

func (f *Front) fixed(name prompts.Name, locale string) (string, error) {
	text, err := f.Prompts.Fixed(name, locale, prompts.FixedData{Programme: f.Programme})
	if err != nil {
		return "", fmt.Errorf("rendering text %s: %w", name, err)
	}
	return text, nil
}
