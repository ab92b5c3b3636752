package sms

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"
	twilio "github.com/twilio/twilio-go/client"

	"coachline/models"
	"coachline/models/wire"
)

// SignatureHeader is where the carrier puts its signature.
const SignatureHeader = "X-Twilio-Signature"

// ErrSignature is for a request that is not from the carrier, or was changed.
var ErrSignature = errors.New("webhook signature refused")

// Verifier checks that a webhook comes from the carrier and came unchanged. It
// is safe for concurrent use.
type Verifier struct {
	validators []twilio.RequestValidator
	publicURL  string
}

// NewVerifier takes the account's auth token, or two while rotating, and the
// public base of the webhooks' addresses. The base is configured and never
// taken from the request: Host and X-Forwarded-* are the sender's to choose.
// Without a token or a base every request is refused.
func NewVerifier(tokens []string, publicURL string) *Verifier {
	base, _, _ := strings.Cut(publicURL, "#")
	v := &Verifier{publicURL: strings.TrimRight(base, "/")}
	for _, token := range tokens {
		if token != "" {
			v.validators = append(v.validators, twilio.NewRequestValidator(token))
		}
	}
	return v
}

// Check returns an error that wraps ErrSignature unless the signature covers
// the request's address and every field of form, which must be the posted form
// alone (http.Request.PostForm). Fields are added without notice, so all of
// them count; a repeated field is refused, because the signature would cover
// its first value only.
func (v *Verifier) Check(r *http.Request, form url.Values) error {
	if v.publicURL == "" || len(v.validators) == 0 {
		return fmt.Errorf("%w: no public address or no token is configured", ErrSignature)
	}
	signatures := r.Header.Values(SignatureHeader)
	if len(signatures) != 1 || signatures[0] == "" {
		return fmt.Errorf("%w: want one %s header", ErrSignature, SignatureHeader)
	}
	params := make(map[string]string, len(form))
	for name, values := range form {
		if len(values) != 1 {
			return fmt.Errorf("%w: a field is repeated", ErrSignature)
		}
		params[name] = values[0]
	}
	matched := false
	for i := range v.validators {
		// Every token is tried, so that the time taken tells nothing.
		if v.validators[i].Validate(v.signedURL(r), params, signatures[0]) {
			matched = true
		}
	}
	if !matched {
		return fmt.Errorf("%w: it does not match", ErrSignature)
	}
	return nil
}

// signedURL returns the address as the carrier was given it: public base and the
// request's own path and query, byte for byte, never a fragment.
func (v *Verifier) signedURL(r *http.Request) string {
	uri := r.RequestURI
	if !strings.HasPrefix(uri, "/") {
		uri = r.URL.RequestURI()
	}
	uri, _, _ = strings.Cut(uri, "#")
	return v.publicURL + uri
}

var (
	messageSID = regexp.MustCompile(`^(SM|MM)[0-9a-fA-F]{32}$`)
	// party is an E.164 number or a short code.
	party = regexp.MustCompile(`^(\+[1-9][0-9]{1,14}|[0-9]{3,8})$`)
)

// maxMedia is the carrier's limit of media in one message.
const maxMedia = 10

// ParseInbound reads the fields of an inbound webhook whose signature was
// checked; Body, From, To and NumMedia must be there. Errors are *models.FieldError and hold no value of the form. The
// body may be empty; it is made valid UTF-8 without NUL characters. The caller
// sets the row's id and the time of arrival.
func ParseInbound(form url.Values, accountSID string) (models.Inbound, error) {
	sid := form.Get("MessageSid")
	if !messageSID.MatchString(sid) {
		return models.Inbound{}, models.BadField("MessageSid", "want SM or MM and 32 hex digits")
	}
	if accountSID == "" || form.Get("AccountSid") != accountSID {
		return models.Inbound{}, models.BadField("AccountSid", "not this account")
	}
	for _, name := range []string{"To", "From"} {
		if !party.MatchString(form.Get(name)) {
			return models.Inbound{}, models.BadField(name, "want a number with + and country code, or a short code")
		}
	}
	if !form.Has("Body") {
		return models.Inbound{}, models.BadField("Body", "is missing; it may be empty")
	}
	media, err := strconv.Atoi(form.Get("NumMedia"))
	if err != nil || media < 0 || media > maxMedia {
		return models.Inbound{}, models.BadField("NumMedia", "want a whole number from 0 to %d", maxMedia)
	}
	return models.Inbound{
		OptOutType:  form.Get("OptOutType"),
		ProviderSID: sid, From: form.Get("From"), To: form.Get("To"),
		Body: cleanBody(form.Get("Body")), MediaCount: media,
		Voice: voiceOf(form, media),
	}, nil
}

func cleanBody(body string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(body, "\uFFFD"), "\x00", "")
}

// Class returns what can be done about the error code of a delivery report; empty
// for a code that is not known.
func Class(code string) models.CarrierClass {
	number, err := strconv.Atoi(code)
	if err != nil {
		return ""
	}
	return codes[number].class
}

// ParseStatus reads the carrier's status of a text; false for
// statuses it may not use for an outbound text or that are unknown. Its "sending"
// is queued here, because OutboxSending is our own state before the carrier has
// the text; "partially_delivered" claims no more than sent.
func ParseStatus(twilio string) (wire.OutboxStatus, bool) {
	switch twilio {
	case "accepted", "scheduled":
		return wire.OutboxAccepted, true
	case "queued", "sending":
		return wire.OutboxQueued, true
	case "sent", "partially_delivered":
		return wire.OutboxSent, true
	case "delivered":
		return wire.OutboxDelivered, true
	case "undelivered":
		return wire.OutboxUndelivered, true
	case "failed":
		return wire.OutboxFailed, true
	case "read":
		return wire.OutboxRead, true
	case "canceled":
		return wire.OutboxCanceled, true
	default:
		return "", false
	}
}

// SuggestZone returns the zone in which a number (E.164) was given out, as an IANA
// name. It finds none for numbers of several zones, such as mobile numbers of a
// large country, and the person may be elsewhere.
func SuggestZone(phone string) (zone string, found bool) {
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return "", false
	}
	zones, err := phonenumbers.GetTimezonesForNumber(number)
	if err != nil || len(zones) != 1 || zones[0] == phonenumbers.UNKNOWN_TIMEZONE {
		return "", false
	}
	if _, err := time.LoadLocation(zones[0]); err != nil {
		return "", false
	}
	return zones[0], true
}
