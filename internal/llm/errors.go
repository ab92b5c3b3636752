package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coachline/models"
)

const (
	// maxErrorBody is more than any error object needs.
	maxErrorBody = 64 << 10
	// maxRetryAfter keeps a nonsensical header from overflowing.
	maxRetryAfter = 24 * time.Hour
)

// failure is what a server says went wrong. Its message is looked at and never
// passed on: it may quote the request or the key.
type failure struct {
	code    string
	kind    string
	message string
}

// Codes and types by which servers name a class, whatever the status.
var (
	overflowCodes = []string{"context_length_exceeded", "exceed_context_size_error"}
	authCodes     = []string{"insufficient_quota", "invalid_api_key", "billing_hard_limit_reached", "billing_not_active", "account_deactivated"}
	refusedCodes  = []string{"content_filter", "content_policy_violation"}
)

// classify turns a failed call into a class; res is nil when no answer came.
func classify(ctx context.Context, res *http.Response) *models.ModelError {
	if res == nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return busy(0, "no answer in time")
		}
		return busy(0, "no answer")
	}
	if res.StatusCode < http.StatusBadRequest {
		return busy(res.StatusCode, "the answer broke off")
	}
	var body []byte
	if res.Body != nil {
		// What cannot be read of an error leaves its status, which is enough.
		body, _ = io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	}
	out := byStatus(res.StatusCode, readFailure(body))
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		out.Class = models.ModelBusy
	case "false":
		if out.Class == models.ModelBusy {
			out.Class = models.ModelRefused
		}
	}
	if out.Class == models.ModelBusy {
		out.RetryAfter = retryAfter(res.Header, time.Now())
	}
	return out
}

// byStatus classes by what the server names, then by status.
func byStatus(status int, failed failure) *models.ModelError {
	out := &models.ModelError{Class: models.ModelRefused, Status: status, Message: describe(status, failed)}
	named := func(codes []string) bool {
		return slices.Contains(codes, failed.code) || slices.Contains(codes, failed.kind)
	}
	switch {
	case named(overflowCodes), status < http.StatusInternalServerError && strings.Contains(failed.message, "maximum context length"):
		out.Class = models.ModelOverflow
	case named(refusedCodes):
		out.Class = models.ModelRefused
	case named(authCodes), status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		out.Class = models.ModelAuth
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError, status == http.StatusOK:
		// 200: a failure in the guise of an answer.
		out.Class = models.ModelBusy
	}
	return out
}

// readFailure reads {"error":{...}} and {"error":"..."}; anything else is an
// empty failure. A numeric code becomes its digits.
func readFailure(body []byte) failure {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil || len(outer.Error) == 0 {
		return failure{}
	}
	var text string
	if json.Unmarshal(outer.Error, &text) == nil {
		return failure{message: text}
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		return failure{}
	}
	code := strings.Trim(string(inner.Code), `"`)
	if code == "null" {
		code = ""
	}
	return failure{code: code, kind: inner.Type, message: inner.Message}
}

// plainCode matches names such as rate_limit_exceeded; a key or a sentence
// does not look like one.
var plainCode = regexp.MustCompile(`^[a-z][a-z_]{0,63}$`)

func describe(status int, failed failure) string {
	out := "status " + strconv.Itoa(status)
	if text := http.StatusText(status); text != "" {
		out += " " + text
	}
	for _, name := range []string{failed.code, failed.kind} {
		if plainCode.MatchString(name) {
			return out + ", " + name
		}
	}
	return out
}

// retryAfter is what the server asked for: Retry-After-Ms, then Retry-After in
// seconds or as a date; 0 when neither makes sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := number(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	text := header.Get("Retry-After")
	if wait, ok := number(text, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

func number(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter))), true
}
