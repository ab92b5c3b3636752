package starter

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"coachline/internal/api"
)

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
// It also answers 304 to a caller who has the version already.
func withFailures(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &failureWriter{ResponseWriter: w, request: r}
		next.ServeHTTP(answer, r)
		answer.finish()
	})
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
