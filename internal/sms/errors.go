package sms

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	twilio "github.com/twilio/twilio-go/client"

	"coachline/models"
)

// toCarrierError turns what a call came to into a class (docs/design.md,
// "The states of a send"). The message is ours: the carrier's may quote the number. Any 5xx
// leaves open whether the text was taken, with any code.
func toCarrierError(err error, seen *callRecord) *models.CarrierError {
	var rest *twilio.TwilioRestError
	named := errors.As(err, &rest) && rest.Code != 0
	if named && statusCode(rest, seen) < http.StatusInternalServerError {
		return byCode(rest.Code, statusCode(rest, seen))
	}
	if errors.Is(err, errRedirect) {
		return &models.CarrierError{Class: models.CarrierAccount, Status: seen.status, Message: "the carrier's address redirects; check TWILIO_BASE_URL"}
	}
	switch {
	case seen.status == 0 && !seen.posting.Load():
		return &models.CarrierError{Class: models.CarrierRetry, Message: "the carrier was not reached"}
	case seen.status == 0:
		return ambiguousError(0, "no answer after the request was sent")
	case named:
		out := ambiguousError(seen.status, "the carrier failed")
		out.Code = strconv.Itoa(rest.Code)
		return out
	case isRefusal(seen.status):
		return byCode(0, seen.status)
	}
	// A gateway's error page, or an answer of the carrier that cannot be read.
	return ambiguousError(seen.status, "the answer cannot be read")
}

// isRefusal reports whether an answer without a code of the carrier says that
// the text was not taken: a server gives it before it acts on the request.
func isRefusal(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnsupportedMediaType, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return false
}

// notWritten returns the error of a text that was stopped before it was written.
func notWritten(err error) error {
	if errors.Is(err, errSlowCheck) {
		return &models.CarrierError{Class: models.CarrierRetry, Message: errSlowCheck.Error()}
	}
	return fmt.Errorf("text not written: %w", err)
}

func statusCode(rest *twilio.TwilioRestError, seen *callRecord) int {
	if seen.status != 0 {
		return seen.status
	}
	return rest.Status
}

// byCode classes an answer that the carrier itself gave; code 0 is an answer
// without one. A known code says more than the status: daily limits come as
// 429 too. An unknown code is final unless the status says that trying again
// may help, so that nothing is repeated blindly (codes are subject to change).
func byCode(code, status int) *models.CarrierError {
	out := &models.CarrierError{Status: status}
	if code != 0 {
		out.Code = strconv.Itoa(code)
	}
	known, ok := codes[code]
	switch {
	case ok:
		out.Class, out.Message = known.class, known.text
	case status == http.StatusTooManyRequests:
		out.Class, out.Message = models.CarrierRetry, "too many requests"
	case status == http.StatusRequestTimeout:
		out.Class, out.Message = models.CarrierAmbiguous, "the carrier gave up waiting"
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		out.Class, out.Message = models.CarrierAccount, "the carrier refuses this account or address"
	default:
		out.Class, out.Message = models.CarrierContent, "refused for a reason this program does not know"
	}
	return out
}

func ambiguousError(status int, message string) *models.CarrierError {
	return &models.CarrierError{Class: models.CarrierAmbiguous, Status: status, Message: message}
}

// toRepeatable classes a failed look-up, which changes nothing at the carrier:
// what is ambiguous for a send is merely unanswered.
func toRepeatable(err *models.CarrierError) *models.CarrierError {
	if err.Class == models.CarrierAmbiguous {
		err.Class = models.CarrierRetry
	}
	return err
}
