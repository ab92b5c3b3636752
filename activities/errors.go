// Package activities adapts the core to Temporal: each activity loads what it
// needs through ports declared here, calls pure code, stores the outcome and
// classes what went wrong. Every activity may be retried at any moment.
package activities

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/models/wire"
)

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
	case models.ModelRefused, models.ModelAuth, models.ModelNoTools:
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), wire.ErrTypeModelRefused, err)
}
