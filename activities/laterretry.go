package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/internal/coach"
	"coachline/internal/region"
	"coachline/internal/study"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// SMSSender sends an outbox row; safe to retry.
type SMSSender interface {
	SendSMS(ctx context.Context, in wire.SendSMSInput) (wire.SendSMSResult, error)
}

// LaterRetries makes the one later retry of a text that the carrier took and
// afterwards reported as undelivered.
type LaterRetries struct {
	Store Outbox
	Posts SMSSender
	Rules coach.Rules
	// Studies change the rules of their people; nil: the rules hold for all.
	Studies *study.Resolver
	Zones   coach.Zones
	Now     func() time.Time
}

// SendLate makes a later try when it is due. It runs without a workflow, and its
// waits are the engine's: an attempt that comes too early says when the next one
// is to be. In quiet hours every text waits for their end, because an hour
// later nothing is an answer any more. A try that would
// be of no use by then ends as canceled, with the reason as its code. What may
// change until the last moment (consent, standing, an answer to the prompt, a
// newer reply) is judged by the send checks. Safe to retry.
func (t *LaterRetries) SendLate(ctx context.Context, in wire.SendSMSInput) (wire.SendSMSResult, error) {
	try, err := t.Store.LateTry(ctx, in.OutboxID)
	if errors.Is(err, models.ErrNotFound) {
		return wire.SendSMSResult{}, temporal.NewNonRetryableApplicationError(err.Error(), wire.ErrTypeMissing, err)
	}
	if err != nil {
		return wire.SendSMSResult{}, fmt.Errorf("loading: %w", err)
	}
	// Errors of sending go through as they are: they say when to come again.
	if try.Row.Status != wire.OutboxReady {
		return t.Posts.SendSMS(ctx, in) // it is looked up at the carrier, or over
	}
	at, reason, err := t.planRetry(ctx, try)
	wait := at.Sub(t.Now())
	switch {
	case err != nil:
		return wire.SendSMSResult{}, err
	case reason != "":
		return t.dropRow(ctx, try.Row, reason)
	case wait <= 0 && len(try.Before) > 0:
		wait = partLookup
	}
	if wait > 0 {
		return wire.SendSMSResult{}, temporal.NewApplicationErrorWithOptions("it is not due yet", wire.ErrTypeCarrierBusy,
			temporal.ApplicationErrorOptions{NextRetryDelay: wait, Category: temporal.ApplicationErrorCategoryBenign})
	}
	return t.Posts.SendSMS(ctx, in)
}

// planRetry returns when the try may go, at the earliest now, or why it never
// may.
func (t *LaterRetries) planRetry(ctx context.Context, try models.LateTry) (at time.Time, reason string, err error) {
	due := t.Now()
	for _, row := range append([]models.Outbox{try.Row}, try.Before...) {
		if row.DueAt != nil && row.DueAt.After(due) {
			due = *row.DueAt
		}
	}
	who := wire.ParticipantState{Zone: try.Participant.Timezone, ZoneAssumed: try.Participant.ZoneAssumed}
	settings, err := t.Studies.Resolve(ctx, try.Participant.StudyID, try.Participant.Arm)
	if err != nil {
		return at, "", err
	}
	at, err = coach.Input{State: who, Now: due, Rules: settings.Rules(t.Rules).In(region.StateOf(try.Participant.Phone)), Zones: t.Zones}.Opens()
	if err != nil {
		return at, "", fmt.Errorf("finding when %s may go: %w", try.Row.ID, err)
	}
	useful, err := t.isUseful(try, at)
	switch {
	case err != nil || useful:
		return at, "", err
	case at.After(due):
		return at, models.CodeQuiet, nil
	}
	return at, models.CodeStale, nil
}

// isUseful reports whether the text is still of use at an instant.
func (t *LaterRetries) isUseful(try models.LateTry, at time.Time) (bool, error) {
	if try.LocalDate == "" {
		return at.Sub(try.First.CreatedAt) <= models.AnswerValidity, nil
	}
	zone, err := t.Zones(try.Zone)
	if err != nil {
		return false, fmt.Errorf("finding the day of %s: %w", try.Row.ID, err)
	}
	return at.In(zone).Format(time.DateOnly) <= try.LocalDate, nil
}

func (t *LaterRetries) dropRow(ctx context.Context, row models.Outbox, reason string) (wire.SendSMSResult, error) {
	err := t.Store.RecordFailed(ctx, models.SendFailure{
		OutboxID: row.ID, Token: row.ClaimToken, Status: wire.OutboxCanceled, Code: reason, Now: t.Now(),
	})
	return wire.SendSMSResult{Status: wire.OutboxCanceled, Code: reason}, wrap.Errorf(err, "recording that %s is not tried", row.ID)
}
