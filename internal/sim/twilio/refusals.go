package twilio

import (
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// refusal is an error of Twilio's API: a code of its dictionary and the words
// that go with it.
type refusal struct {
	code    int
	message string
}

// Codes of Twilio's error dictionary.
const (
	codeAuthenticate   = 20003
	codeUnfinished     = 20009 // on its way, so it cannot be deleted
	codeNotFound       = 20404
	codeTooMany        = 20429
	codeInternal       = 20500
	codeBadTo          = 21211
	codeBadFrom        = 21212
	codeSameNumber     = 21266
	codeRegion         = 21408
	codeBadBody        = 21602
	codeNoFrom         = 21603
	codeNoTo           = 21604
	codeNotOurs        = 21606
	codeBadCallback    = 21609
	codeStopped        = 21610
	codeQueueFull      = 21611
	codeUnreachable    = 21612
	codeNotMobile      = 21614
	codeTooLong        = 21617
	codeValidity       = 21624
	codeService        = 21705
	maxBodyLength      = 1600
	maxValiditySeconds = 36000
)

// httpStatus is the status that a code comes with; 0 is a fault of the server.
func httpStatus(code int) int {
	switch code {
	case 0, 20503:
		return http.StatusServiceUnavailable
	case codeInternal:
		return http.StatusInternalServerError
	case codeAuthenticate:
		return http.StatusUnauthorized
	case codeNotFound:
		return http.StatusNotFound
	case codeTooMany:
		return http.StatusTooManyRequests
	}
	return http.StatusBadRequest
}

// message is what Twilio says for a code, as far as we know its words.
func message(code int) string {
	switch code {
	case codeAuthenticate:
		return "Authenticate"
	case codeTooMany:
		return "Too Many Requests"
	case codeInternal, 0:
		return "An internal server error has occurred"
	case codeStopped:
		return "Attempt to send to unsubscribed recipient"
	}
	return "The request was refused with error " + strconv.Itoa(code)
}

func (e refusal) writeTo(w http.ResponseWriter, status int) {
	code := e.code
	if code == 0 {
		code = codeInternal
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Twilio API"`)
	}
	writeJSON(w, status, map[string]any{
		"code": code, "message": e.message, "status": status,
		"more_info": "https://www.twilio.com/docs/errors/" + strconv.Itoa(code),
	})
}

// sending is the form of a request to send.
type sending struct {
	to, from, service, body, callback, validity string
}

// check gives Twilio's answer to a request that it would not take, magic
// numbers included; nil when it takes it.
func (s *Server) check(ask sending) *refusal {
	for _, check := range []func(sending) *refusal{s.checkSender, checkRecipient, checkContent} {
		if bad := check(ask); bad != nil {
			return bad
		}
	}
	if s.network.isBlocked(ask.to) {
		return &refusal{codeStopped, message(codeStopped)}
	}
	return nil
}

func (s *Server) checkSender(ask sending) *refusal {
	notOurs := fmt.Sprintf("The 'From' phone number %s is not a valid, SMS-capable inbound phone number or short code for your account.", ask.from)
	switch {
	case ask.to == "":
		return &refusal{codeNoTo, "A 'To' phone number is required."}
	case ask.service != "" && !serviceSID.MatchString(ask.service):
		return &refusal{codeService, "The 'MessagingServiceSid' is invalid."}
	case ask.service != "":
		return nil
	case ask.from == "":
		return &refusal{codeNoFrom, "A 'From' phone number is required."}
	}
	switch ask.from {
	case "+15005550001":
		return &refusal{codeBadFrom, "Invalid 'From' Phone Number: " + ask.from}
	case "+15005550007":
		return &refusal{codeNotOurs, notOurs}
	case "+15005550008":
		return &refusal{codeQueueFull, "This 'From' number has exceeded the maximum number of queued messages"}
	case s.cfg.From, "+15005550006":
		return nil
	}
	return &refusal{codeNotOurs, notOurs}
}

func checkRecipient(ask sending) *refusal {
	switch ask.to {
	case "+15005550001":
		return &refusal{codeBadTo, "Invalid 'To' Phone Number: " + ask.to}
	case "+15005550002":
		return &refusal{codeUnreachable, "The 'To' phone number is not currently reachable using the 'From' phone number"}
	case "+15005550003":
		return &refusal{codeRegion, "Permission to send an SMS has not been enabled for the region indicated by the 'To' number"}
	case "+15005550004":
		return &refusal{codeStopped, message(codeStopped)}
	case "+15005550009":
		return &refusal{codeNotMobile, "'To' number is not a valid mobile number"}
	}
	if !e164.MatchString(ask.to) {
		return &refusal{codeBadTo, "Invalid 'To' Phone Number: " + ask.to}
	}
	if ask.to == ask.from {
		return &refusal{codeSameNumber, "'To' and 'From' number cannot be the same"}
	}
	return nil
}

func checkContent(ask sending) *refusal {
	if ask.body == "" {
		return &refusal{codeBadBody, "Message body is required."}
	}
	if utf8.RuneCountInString(ask.body) > maxBodyLength {
		return &refusal{codeTooLong, "The concatenated message body exceeds the 1600 character limit"}
	}
	if ask.callback != "" && !webAddress(ask.callback) {
		return &refusal{codeBadCallback, "The 'StatusCallback' URL is not a valid URL."}
	}
	if ask.validity != "" {
		if n, err := strconv.Atoi(ask.validity); err != nil || n < 1 || n > maxValiditySeconds {
			return &refusal{codeValidity, "The 'ValidityPeriod' must be an integer between 1 and 36000."}
		}
	}
	return nil
}
