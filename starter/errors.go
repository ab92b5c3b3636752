package starter

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"coachline/internal/seal"
	"coachline/models"
)

// Failure is the envelope of every refused or failed request. Message names
// the field where one is to blame; it never repeats what was sent.
type Failure struct {
	status  int
	Status  string `json:"status" enum:"error" doc:"Always error."`
	Message string `json:"message" doc:"What was refused and why; begins with the field's name where one is to blame."`
}

// Error is the message that the caller sees.
func (f *Failure) Error() string { return f.Message }

// GetStatus is the HTTP status of the answer.
func (f *Failure) GetStatus() int { return f.status }

func failure(status int, format string, args ...any) *Failure {
	return &Failure{status: status, Status: "error", Message: fmt.Sprintf(format, args...)}
}

// useEnvelope makes huma answer with Failure. Both settings are process-wide
// variables of that library, hence once and not per server.
var useEnvelope = sync.OnceFunc(func() {
	huma.NewError = newFailure
	// A field in another case would pass as known and then replace its twin.
	huma.ValidateStrictCasing = true
})

const maxNamedFields = 5

// newFailure turns what huma found into a Failure. Its details carry the
// offending value; only the place and the rule are passed on.
func newFailure(status int, msg string, errs ...error) huma.StatusError {
	switch {
	case status == http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case status == http.StatusRequestEntityTooLarge:
		return failure(status, "body: larger than %d bytes", maxAPIBody)
	case status >= http.StatusInternalServerError:
		return failure(status, "internal error")
	}
	named := make([]string, 0, len(errs))
	for _, err := range errs {
		if len(named) == maxNamedFields {
			break
		}
		named = append(named, namedField(err))
	}
	if len(named) == 0 {
		return failure(status, "%s", msg)
	}
	return failure(status, "%s", strings.Join(named, "; "))
}

func namedField(err error) string {
	var detailer huma.ErrorDetailer
	if !errors.As(err, &detailer) {
		return err.Error()
	}
	detail := detailer.ErrorDetail()
	field, message := detail.Location, detail.Message
	if _, inner, found := strings.Cut(field, "."); found {
		field = inner
	}
	var missing string
	if n, _ := fmt.Sscanf(message, validation.MsgExpectedRequiredProperty, &missing); n == 1 {
		field, message = missing, "is required"
	}
	if message == validation.MsgUnexpectedProperty {
		message = "unknown field"
	}
	message = apiWords(message)
	if field == "" {
		return message
	}
	return field + ": " + message
}

// apiWords says in the API's words what the library quotes of Go's: layouts of
// instants, decoder errors with Go types.
func apiWords(message string) string {
	switch {
	case strings.HasPrefix(message, "invalid date/time"), strings.HasPrefix(message, "parsing time"), strings.Contains(message, "2006-01-02"):
		return "must be an RFC 3339 instant such as 2026-03-02T09:00:00Z"
	case strings.Contains(message, "cannot unmarshal"):
		return "holds a value of the wrong type or out of range"
	case strings.HasPrefix(message, "unexpected end of JSON"), strings.HasPrefix(message, "invalid character"), strings.HasPrefix(message, "unexpected EOF"):
		return "is not valid JSON"
	case message == "invalid integer":
		return "must be a whole number"
	case message == "invalid float", message == "invalid floating value":
		return "must be a number"
	case message == "invalid boolean":
		return "must be true or false"
	}
	return message
}

// refuse maps what the store and the rules return to an answer. What it does
// not know is an outage of ours: it is logged here, with ids only, and the
// caller may try again.
func (f *front) refuse(doing string, err error) error {
	var field *models.FieldError
	var answered *Failure
	var taken *models.PhoneTakenError
	switch {
	case errors.As(err, &answered):
		return answered
	case errors.As(err, &field):
		return failure(http.StatusBadRequest, "%s", field.Error())
	case errors.Is(err, models.ErrNotFound):
		return failure(http.StatusNotFound, "participant not found")
	case errors.As(err, &taken):
		return failure(http.StatusConflict, "phone_number: already enrolled as %s", taken.ParticipantID)
	case errors.Is(err, models.ErrConflict):
		return failure(http.StatusConflict, "already exists")
	case errors.Is(err, models.ErrStale):
		return failure(http.StatusPreconditionFailed, "If-Match: the participant has changed since that version")
	}
	f.log.Error("request failed", "doing", doing, "error", err)
	if errors.Is(err, seal.ErrTampered) || errors.Is(err, seal.ErrUnknownKey) {
		return failure(http.StatusServiceUnavailable, "%s failed: stored data cannot be opened with the payload keys", doing)
	}
	return failure(http.StatusServiceUnavailable, "%s failed, try again later", doing)
}
