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

// codeMeaning is what a carrier code says and what can be done about it.
type codeMeaning struct {
	class models.CarrierClass
	text  string
}

// codes gives each documented code of the carrier its class. The texts are ours: the carrier's
// own messages quote the number.
var codes = map[int]codeMeaning{
	20429: {models.CarrierRetry, "too many requests"},

	14107: {models.CarrierSlowDown, "message rate limit exceeded"},
	21611: {models.CarrierSlowDown, "the sender's queue is full"},
	30001: {models.CarrierSlowDown, "the carrier's queue overflowed"},
	30017: {models.CarrierSlowDown, "carrier network congestion"},
	30022: {models.CarrierSlowDown, "campaign rate limit exceeded"},
	30047: {models.CarrierSlowDown, "quiet-hours check of the carrier failed"},
	30410: {models.CarrierSlowDown, "provider timeout"},
	63017: {models.CarrierSlowDown, "messaging limit exceeded"},
	63018: {models.CarrierSlowDown, "channel rate limit exceeded"},

	30023: {models.CarrierWindow, "daily limit of the brand reached"},
	30027: {models.CarrierWindow, "daily limit of the carrier reached"},
	63038: {models.CarrierWindow, "daily limit of the account reached"},

	30003: {models.CarrierRetryOnce, "the handset cannot be reached"},
	30008: {models.CarrierRetryOnce, "unknown delivery error"},

	21610: {models.CarrierConsent, "the recipient opted out"},

	21211: {models.CarrierBadNumber, "the number is not valid"},
	21612: {models.CarrierBadNumber, "no route from this sender to the number"},
	21614: {models.CarrierBadNumber, "the number is not a mobile number"},
	21635: {models.CarrierBadNumber, "the number is a landline"},
	30005: {models.CarrierBadNumber, "the number does not exist"},
	30006: {models.CarrierBadNumber, "a landline or a carrier that cannot be reached"},
	30011: {models.CarrierBadNumber, "the recipient's network does not take this kind of message"},

	30004: {models.CarrierBlocked, "blocked by the recipient or the network"},
	30007: {models.CarrierBlocked, "filtered by the carrier"},

	30018: {models.CarrierRegistration, "the sender is not registered in the destination"},
	30024: {models.CarrierRegistration, "the sender is not provisioned at the carrier"},
	30032: {models.CarrierRegistration, "the toll-free number is not verified"},
	30034: {models.CarrierRegistration, "the number is not registered for 10DLC"},

	21617: {models.CarrierContent, "longer than 1600 characters"},
	21620: {models.CarrierContent, "invalid media address"},
	21623: {models.CarrierContent, "too many or too large media"},
	30010: {models.CarrierContent, "the price exceeds the maximum"},
	30019: {models.CarrierContent, "the content is too large"},

	20003: {models.CarrierAccount, "the credentials were refused"},
	20404: {models.CarrierAccount, "no such account or resource"},
	21212: {models.CarrierAccount, "the sender is not a valid number"},
	21222: {models.CarrierAccount, "the account SID has illegal characters"},
	21224: {models.CarrierAccount, "the auth token has illegal characters"},
	21408: {models.CarrierAccount, "texts to this region are not enabled"},
	21603: {models.CarrierAccount, "no sender given"},
	21606: {models.CarrierAccount, "the sender cannot send texts"},
	21608: {models.CarrierAccount, "a trial account may only text verified numbers"},
	21703: {models.CarrierAccount, "the messaging service has no sender"},
	21704: {models.CarrierAccount, "the messaging service has no number"},
	21705: {models.CarrierAccount, "the messaging service is not valid"},
	30002: {models.CarrierAccount, "the account is suspended"},

	30036: {models.CarrierStale, "the validity period ran out"},
	30610: {models.CarrierStale, "the carrier's quiet hours at the recipient's place"},
}

// Meaning says briefly what a carrier's error code means; empty for a
// code that is not known.
func Meaning(code string) string {
	number, err := strconv.Atoi(code)
	if err != nil {
		return ""
	}
	return codes[number].text
}

// NextStep says what an operator can do about a carrier's error code; for a code
// that is not known, where to look it up.
func NextStep(code string) string {
	number, err := strconv.Atoi(code)
	if err != nil {
		return ""
	}
	known, ok := codes[number]
	if !ok {
		return "Look the code up in the carrier's list of errors."
	}
	return known.class.Spec().NextStep
}
