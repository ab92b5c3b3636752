package llm

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
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

// fault is a failed request: the error for the caller, and what the client may
// do about it first.
type fault struct {
	err models.ModelError
	// key says whether another key may fare better; wait is how long the server
	// wants this one left alone, 0 when it does not say.
	key  verdict
	wait time.Duration
	// unwished is the optional part that the server would not have, if any;
	// lasting tells that no other request will fare better.
	unwished optionalField
	lasting  bool
	// noTools reports that the error names tools as what is not supported.
	noTools bool
}

func (f *fault) modelError(req models.ChatRequest) *models.ModelError {
	out := f.err
	if f.noTools && usesTools(req) {
		out.Class = models.ModelNoTools
	}
	return &out
}

// orNoKey returns the fault when no key is left: none says why, f (nil when
// nothing was sent) what the last answer was.
func (f *fault) orNoKey(none *models.ModelError) *fault {
	out := &fault{err: *none, key: keyGood}
	if f != nil {
		out.err.Status = f.err.Status
		out.err.Message = f.err.Message + "; " + none.Message
	}
	return out
}

// Codes and types by which servers name a class, with any status.
var (
	refusedCodes = []string{"content_filter", "content_policy_violation"}
	unpaidCodes  = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
	barredCodes  = []string{"invalid_api_key", "account_deactivated"}
	// The model wrote what its own server could not read; it may do better.
	stumbleCodes = []string{"tool_use_failed", "json_validate_failed"}
)

// toFault turns a failed request into a fault; res is nil when no answer came.
func toFault(ctx context.Context, res *http.Response, now time.Time) *fault {
	if res == nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return serverFault(0, "no answer in time")
		}
		return serverFault(0, "no answer")
	}
	if res.StatusCode < http.StatusBadRequest {
		return serverFault(res.StatusCode, "the answer broke off")
	}
	var body []byte
	if res.Body != nil {
		// What cannot be read of an error leaves its status, which is enough.
		body, _ = io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	}
	out := byStatus(res.StatusCode, readFailure(body))
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		out.err.Class, out.noTools, out.unwished = models.ModelBusy, false, ""
	case "false":
		if out.err.Class == models.ModelBusy {
			out.err.Class = models.ModelRefused
		}
	}
	if out.err.Class == models.ModelBusy || out.key == keyLimited {
		out.wait = retryAfter(res.Header, now)
	}
	if out.err.Class == models.ModelBusy {
		out.err.RetryAfter = out.wait
	}
	return out
}

// serverFault returns a failure that says nothing about the key or the request.
func serverFault(status int, message string) *fault {
	return &fault{err: *busyError(status, message), key: keyGood}
}

// byStatus classes by what the server names, then by status.
func byStatus(status int, failed failure) *fault {
	out := &fault{key: keyGood, err: models.ModelError{Class: models.ModelRefused, Status: status, Message: describeStatus(status, failed)}}
	switch {
	case failed.tooLong(status):
		out.err.Class = models.ModelOverflow
		out.err.ContextTokens, out.err.PromptTokens = failed.overflowTokens()
	case failed.hasCode(refusedCodes):
	case failed.hasCode(unpaidCodes), status == http.StatusPaymentRequired:
		out.err.Class, out.key = models.ModelAuth, keyUnpaid
	case failed.hasCode(barredCodes), status == http.StatusUnauthorized, status == http.StatusForbidden,
		strings.Contains(failed.text, "api key not valid"):
		out.err.Class, out.key = models.ModelAuth, keyBarred
	case failed.hasCode(stumbleCodes):
		out.err.Class = models.ModelBusy
	case failed.refusedWish(status) != "":
		out.unwished, out.lasting, out.noTools = failed.refusedWish(status), failed.isLasting(), failed.wantsOtherRoles(status)
	case failed.noTools(status):
		out.noTools = true
	case status == http.StatusTooManyRequests:
		out.err.Class, out.key = models.ModelBusy, keyLimited
	case mayPass(status):
		out.err.Class = models.ModelBusy
	}
	return out
}

// mayPass reports whether the same request may succeed later. 200 is a failure in the guise of
// an answer.
func mayPass(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusOK:
		return true
	}
	return status >= http.StatusInternalServerError
}

// plainCode matches names such as rate_limit_exceeded; a key or a sentence
// does not resemble one.
var plainCode = regexp.MustCompile(`^[a-z][a-z_]{0,63}$`)

func describeStatus(status int, failed failure) string {
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

// retryAfter returns what the server asked for: Retry-After-Ms, then Retry-After in
// seconds or as a date; 0 when neither makes sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := parseWait(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	text := header.Get("Retry-After")
	if wait, ok := parseWait(text, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

func parseWait(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter))), true
}
