// Package activities adapts the core to Temporal: each activity loads what it
// needs through ports declared here, calls pure code, stores the outcome and
// classes what went wrong. Every activity may be retried at any moment.
package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/models/wire"
)

// usefulFor returns how long after it was written a row is worth sending. Later
// retries have been judged before, and are bounded here as answers are.
func usefulFor(row models.Outbox) time.Duration {
	if row.LateOf != "" {
		return models.AnswerValidity
	}
	return row.Kind.Spec().UsefulFor
}

// usefulUntil returns when a row is not worth sending any more.
func usefulUntil(row models.Outbox) time.Time {
	until := row.CreatedAt.Add(usefulFor(row))
	if row.SendBefore != nil && row.SendBefore.Before(until) {
		return *row.SendBefore
	}
	return until
}

// Waits of a send.
const (
	// slowDown: the carrier asked for fewer texts.
	slowDown = 2 * time.Minute
	// secondTry: when a text goes out for the one later try that a handset out
	// of reach is worth.
	secondTry = 30 * time.Minute
	// heldLookup is the time after which a text that the carrier's stop of the sender gave
	// back asks how long the stop lasts.
	heldLookup = time.Second
	// absence is how long the carrier's list must not have shown a text before it
	// counts as never taken. The list lags behind the carrier's acceptances.
	absence = 40 * time.Second
	// lookupLeast and lookupMost bound the time between two look-ups of a text of
	// unknown result. A status callback usually settles its row within seconds.
	lookupLeast = time.Second
	lookupMost  = 10 * time.Second
	// busyLeast and busyMost bound the pause after a refused connection or a
	// busy carrier, which doubles with each attempt.
	busyLeast = time.Second
	busyMost  = time.Minute
	// settleWait is how long a turn waits for a text of unknown result.
	settleWait = time.Minute
	// partLookup is how often it is checked whether the part before has left.
	partLookup = 2 * time.Second
	// settleLimit bounds recording what became of an attempt that was given up.
	settleLimit = 5 * time.Second
)

// repostPauses are how long a text waits before it is posted again, by the
// number of its posts that the carrier has proved not to have. After the last
// one it is not posted any more: each post may be there after all.
var repostPauses = []time.Duration{time.Millisecond, time.Minute, 5 * time.Minute, 20 * time.Minute}

// nextLookup returns when a text of unknown result is looked up again: soon
// after its post, and less often as time passes.
func nextLookup(age time.Duration) time.Duration {
	return min(max(age/2, lookupLeast), lookupMost)
}

// busyPause returns how long a text waits that the carrier did not take, by the
// number of the attempt, from 1. The retry policy has a shorter one, for
// attempts that were lost with their worker.
func busyPause(attempt int) time.Duration {
	pause := busyLeast
	for i := 1; i < attempt && pause < busyMost; i++ {
		pause *= 2
	}
	return min(pause, busyMost)
}

// toTemporalError turns an adapter's error into the form that retry policies
// and operators understand: final, delayed, or retried as it is.
func toTemporalError(err error) error {
	var model *models.ModelError
	var field *models.FieldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &model):
		return toModelError(model)
	case errors.As(err, &field):
		return temporal.NewNonRetryableApplicationError(field.Error(), wire.ErrTypeInvalid, err)
	case errors.Is(err, models.ErrNotFound):
		return temporal.NewNonRetryableApplicationError(err.Error(), wire.ErrTypeMissing, err)
	}
	return err
}

func toModelError(err *models.ModelError) error {
	switch err.Class {
	case models.ModelBusy:
		return temporal.NewApplicationErrorWithOptions(err.Error(), wire.ErrTypeModelBusy,
			temporal.ApplicationErrorOptions{NextRetryDelay: err.RetryAfter, Cause: err})
	case models.ModelOverflow:
		return temporal.NewNonRetryableApplicationError(err.Error(), wire.ErrTypeModelOverflow, err)
	case models.ModelRefused, models.ModelDeclined, models.ModelAuth, models.ModelNoTools:
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), wire.ErrTypeModelRefused, err)
}
