package models

import (
	"errors"
	"fmt"
)

// Sentinels that adapters return and callers test with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	// ErrConflict: a unique key is taken, for example a phone already enrolled.
	ErrConflict = errors.New("already exists")
	// ErrStale: the row changed since the caller read it.
	ErrStale = errors.New("version does not match")
	// ErrKeyUsed: an idempotency key stands for another request.
	ErrKeyUsed = errors.New("the idempotency key stands for another request")
)

// PhoneTakenError says who has a number that an enrolment or a change asked for.
// It is an ErrConflict.
type PhoneTakenError struct{ ParticipantID string }

func (e *PhoneTakenError) Error() string { return "the phone number is enrolled as " + e.ParticipantID }

// Is reports that the error is an ErrConflict.
func (e *PhoneTakenError) Is(target error) bool { return target == ErrConflict }

// FieldError names the input field that was refused and why. The message is
// safe to show to the caller.
type FieldError struct {
	Field   string
	Message string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// BadField builds a FieldError with a formatted message.
func BadField(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// UnknownStudy is the FieldError of a field that names no study.
func UnknownStudy(field, id string) error {
	return BadField(field, "no study %q; coachline study list names them", id)
}
