package starter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"coachline/internal/api"
	"coachline/internal/seal"
	"coachline/models"
)

// failure is a refused or failed request as an error: the answer's status code,
// and its body.
type failure struct {
	code int
	body api.Failure
}

// Error is the message that the caller sees.
func (f *failure) Error() string { return f.body.Message }

// GetStatus is the HTTP status code of the answer.
func (f *failure) GetStatus() int { return f.code }

// MarshalJSON writes the body alone.
func (f *failure) MarshalJSON() ([]byte, error) { return json.Marshal(f.body) }

// Schema documents the body alone.
func (*failure) Schema(registry huma.Registry) *huma.Schema {
	return registry.Schema(reflect.TypeFor[api.Failure](), true, "")
}

func newFailure(code int, format string, args ...any) *failure {
	return &failure{code: code, body: api.Failure{Status: api.StatusError, Message: fmt.Sprintf(format, args...)}}
}

// useFailures makes huma answer with a failure. Both settings are process-wide
// variables of that library, hence once and not per server.
var useFailures = sync.OnceFunc(func() {
	huma.NewError = convertError
	// A field in another case would pass as known and then replace its twin.
	huma.ValidateStrictCasing = true
	for message, words := range schemaWords {
		*message = words
	}
})

// schemaWords are what the schema says of a wrong value, in place of the library's
// words, which speak of strings and patterns.
var schemaWords = map[*string]string{
	&validation.MsgExpectedRFC3339DateTime: instantWords, &validation.MsgExpectedRFC3339Date: "must be a date such as 2026-12-27",
	&validation.MsgExpectedBoolean: "must be true or false", &validation.MsgExpectedNumber: "must be a number",
	&validation.MsgExpectedInteger: "must be a whole number", &validation.MsgExpectedString: "must be a text in quotation marks",
	&validation.MsgExpectedArray: "must be a list", &validation.MsgExpectedObject: "must be an object", &validation.MsgExpectedOneOf: "must be one of: %s",
	&validation.MsgExpectedMinimumNumber: "must be at least %v", &validation.MsgExpectedMaximumNumber: "must be at most %v",
	&validation.MsgExpectedExclusiveMinimumNumber: "must be more than %v", &validation.MsgExpectedExclusiveMaximumNumber: "must be less than %v",
	&validation.MsgExpectedMinLength: "must have at least %d characters", &validation.MsgExpectedMaxLength: "must have at most %d characters",
	&validation.MsgExpectedMinItems: "must have at least %d entries", &validation.MsgExpectedMaxItems: "must have at most %d entries",
	&validation.MsgExpectedMatchPattern: "must match %s",
}

// patternWords are the words of each pattern. An unknown one is shown as it is.
var patternWords = map[string]string{
	`^([01][0-9]|2[0-3]):[0-5][0-9]$`: "must be a time such as 08:00 or 20:30",
	`^[a-z][a-z0-9-]{1,39}$`:          "must be 2 to 40 small letters, digits and hyphens, beginning with a letter",
	`^[A-Za-z0-9][A-Za-z0-9._-]*$`:    "must be letters, digits and . _ -, beginning with a letter or digit",
	`^[A-Za-z0-9][A-Za-z0-9._@+-]*$`:  "must be letters, digits and . _ @ + -, beginning with a letter or digit",
	`\S`:                              "must not be blank",
	`^https?://.`:                     "must be an address such as https://example.org/events, without a password",
	`^(https://.+)?$`:                 "must be an https address, or empty",
	`^f[0-9]+$`:                       "must be the id of a fact, such as f12",
}

const instantWords = "must be an instant such as 2026-03-02T09:00:00Z"

const maxNamedFields = 5

// bodyLimit returns the limit of a route, which the library's message names, one
// byte more than is allowed.
func bodyLimit(msg string) int64 {
	var limit int64
	if n, _ := fmt.Sscanf(msg, "request body is too large limit=%d bytes", &limit); n == 1 {
		return limit - 1
	}
	return maxAPIBody
}

// convertError turns what huma found into a failure. Its details carry the
// offending value; only the place and the rule are passed on.
func convertError(status int, msg string, errs ...error) huma.StatusError {
	switch {
	case status == http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case status == http.StatusRequestEntityTooLarge:
		return newFailure(status, "body: larger than %d bytes", bodyLimit(msg))
	case status >= http.StatusInternalServerError:
		return newFailure(status, "internal error")
	}
	named := make([]string, 0, len(errs))
	for _, err := range errs {
		if len(named) == maxNamedFields {
			break
		}
		named = append(named, describeField(err))
	}
	if len(named) == 0 {
		return newFailure(status, "%s", msg)
	}
	return newFailure(status, "%s", strings.Join(named, "; "))
}

func describeField(err error) string {
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
	message = plainMessage(message)
	if field == "" {
		return message
	}
	return field + ": " + message
}

// plainMessage replaces messages in which the library quotes Go: layouts of
// instants, decoder errors with Go types.
func plainMessage(message string) string {
	if pattern, isPattern := strings.CutPrefix(message, "must match "); isPattern {
		return cmp.Or(patternWords[pattern], message)
	}
	switch {
	case strings.HasPrefix(message, "invalid date/time"), strings.HasPrefix(message, "parsing time"), strings.Contains(message, "2006-01-02"):
		return instantWords
	case strings.Contains(message, "cannot unmarshal"):
		return "holds a value of the wrong type or out of range"
	case strings.HasPrefix(message, "unexpected end of JSON"), strings.HasPrefix(message, "invalid character"), strings.HasPrefix(message, "unexpected EOF"):
		return "is not valid JSON"
	case message == "invalid integer":
		return validation.MsgExpectedInteger
	case message == "invalid float", message == "invalid floating value":
		return validation.MsgExpectedNumber
	case message == "invalid boolean":
		return validation.MsgExpectedBoolean
	case message == fmt.Sprintf(validation.MsgExpectedMinLength, 1):
		return "must not be empty"
	}
	return message
}

// toFailure maps what the store and the rules return to an answer. What it does
// not know is an outage of ours: it is logged here, with ids only, and the
// caller may try again.
func (b *base) toFailure(doing string, err error) error {
	var field *models.FieldError
	var answered *failure
	var taken *models.PhoneTakenError
	var others *models.TakenOverError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answered):
		return answered
	case errors.As(err, &field):
		return newFailure(http.StatusBadRequest, "%s", field.Error())
	case errors.Is(err, models.ErrNotFound):
		return newFailure(http.StatusNotFound, "participant not found")
	case errors.As(err, &taken):
		return newFailure(http.StatusConflict, "phone_number: already enrolled as %s", taken.ParticipantID)
	case errors.As(err, &others):
		return newFailure(http.StatusConflict, "%s", others.Error())
	case errors.Is(err, models.ErrKeyUsed):
		return newFailure(http.StatusConflict, "%s: already used for another request", keyHeader)
	case errors.Is(err, models.ErrConflict):
		return newFailure(http.StatusConflict, "already exists")
	case errors.Is(err, models.ErrStale):
		return newFailure(http.StatusPreconditionFailed, "If-Match: somebody changed it meanwhile; read it again")
	}
	b.log.Error("request failed", "doing", doing, "error", err)
	if errors.Is(err, seal.ErrTampered) || errors.Is(err, seal.ErrUnknownKey) {
		return newFailure(http.StatusServiceUnavailable, "%s failed: stored data cannot be opened with the payload keys", doing)
	}
	return newFailure(http.StatusServiceUnavailable, "%s failed, try again later", doing)
}

// asMissing turns models.ErrNotFound into a 404 that says what was not found,
// where that is not the participant. Other errors stay as they are.
func asMissing(what string, err error) error {
	if errors.Is(err, models.ErrNotFound) {
		return newFailure(http.StatusNotFound, "%s not found", what)
	}
	return err
}

// problemType is the media type of RFC 9457.
const problemType = "application/problem+json"

// failureCodes name the statuses of failures for programs. A status that is not
// among them has the code of its class.
var failureCodes = map[int]string{
	http.StatusBadRequest:            "bad_request",
	http.StatusUnauthorized:          "unauthorized",
	http.StatusForbidden:             "forbidden",
	http.StatusNotFound:              "not_found",
	http.StatusMethodNotAllowed:      "method_not_allowed",
	http.StatusNotAcceptable:         "not_acceptable",
	http.StatusRequestTimeout:        "timeout",
	http.StatusConflict:              "conflict",
	http.StatusPreconditionFailed:    "changed_meanwhile",
	http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnsupportedMediaType:  "unsupported_media_type",
	http.StatusTooManyRequests:       "rate_limited",
	http.StatusServiceUnavailable:    "unavailable",
}

func failureCode(status int) string {
	if code := failureCodes[status]; code != "" {
		return code
	}
	if status >= http.StatusInternalServerError {
		return "internal"
	}
	return "refused"
}

// fieldName matches the field that a message begins with, by the rule of
// api.Failure.
var fieldName = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.\[\]-]*): `)

// withFailures completes every failure in one place: it adds code, field and the
// request's id, and answers as problem details where the caller asks for them.
// It also answers 304 to a caller who has the version already. A handler that panics is
// logged and answered with 500.
func withFailures(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &failureWriter{ResponseWriter: w, request: r}
		defer func() {
			if cause := recover(); cause != nil {
				answer.answerPanic(log, cause)
			}
			answer.finish()
		}()
		next.ServeHTTP(answer, r)
	})
}

// answerPanic logs a panic with its stack and answers 500. An answer that has begun is
// cut, and so is one whose handler asked for that.
func (f *failureWriter) answerPanic(log *slog.Logger, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // the value of a panic, compared as net/http does
		panic(cause)
	}
	log.Error("a request failed by a defect of the program; please report it with this stack",
		"request", f.Header().Get(requestHeader), "method", f.request.Method, "panic", cause, "stack", string(debug.Stack()))
	if f.status != 0 && !f.isFailure() {
		panic(http.ErrAbortHandler)
	}
	f.status = 0
	f.body.Reset()
	writeFailure(f, newFailure(http.StatusInternalServerError, "a defect of the program; its log names the cause beside this request's id"))
}

// failureWriter holds back the body of a failure; everything else passes.
type failureWriter struct {
	http.ResponseWriter
	request *http.Request
	status  int
	body    bytes.Buffer
	// isMute drops the body: the answer is 304.
	isMute bool
}

// Unwrap gives http.ResponseController the writer below.
func (f *failureWriter) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// WriteHeader passes the status of everything but failures on.
func (f *failureWriter) WriteHeader(status int) {
	if f.status != 0 {
		return
	}
	f.status = status
	switch tag := f.Header().Get("ETag"); {
	case f.isFailure():
		return
	case status == http.StatusOK && f.request.Method == http.MethodGet && tag != "" && f.request.Header.Get("If-None-Match") == tag:
		f.isMute = true
		f.Header().Del("Content-Type")
		f.Header().Del("Content-Length")
		f.ResponseWriter.WriteHeader(http.StatusNotModified)
		return
	}
	f.ResponseWriter.WriteHeader(status)
}

// isFailure reports whether the answer is one of the API's own failures.
func (f *failureWriter) isFailure() bool {
	return f.status >= http.StatusBadRequest && strings.HasPrefix(f.Header().Get("Content-Type"), "application/json")
}

// Write keeps the body of a failure.
func (f *failureWriter) Write(b []byte) (int, error) {
	f.WriteHeader(http.StatusOK)
	switch {
	case f.isMute:
		return len(b), nil
	case f.isFailure():
		return f.body.Write(b)
	}
	return f.ResponseWriter.Write(b)
}

// finish writes a failure that was held back. A failed write means that the
// caller has gone.
func (f *failureWriter) finish() {
	if !f.isFailure() {
		return
	}
	raw := f.body.Bytes()
	var failure api.Failure
	if json.Unmarshal(raw, &failure) == nil && failure.Status == api.StatusError {
		completeFailure(&failure, f.status, f.Header().Get(requestHeader))
		if encoded, err := f.encode(failure); err == nil {
			raw = append(encoded, '\n')
		}
	}
	f.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	f.ResponseWriter.WriteHeader(f.status)
	_, _ = f.ResponseWriter.Write(raw)
}

func completeFailure(failure *api.Failure, status int, requestID string) {
	failure.Code, failure.RequestID = failureCode(status), requestID
	if named := fieldName.FindStringSubmatch(failure.Message); named != nil {
		failure.Field = named[1]
	}
}

// encode writes a failure in the form that the caller prefers.
func (f *failureWriter) encode(failure api.Failure) ([]byte, error) {
	if !strings.Contains(f.request.Header.Get("Accept"), problemType) {
		return json.Marshal(failure)
	}
	f.Header().Set("Content-Type", problemType)
	return json.Marshal(api.Problem{
		Type: "about:blank", Title: http.StatusText(f.status), Status: f.status, Detail: failure.Message,
		Code: failure.Code, Field: failure.Field, RequestID: failure.RequestID,
	})
}
