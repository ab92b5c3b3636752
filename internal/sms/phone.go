package sms

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	api "github.com/twilio/twilio-go/rest/api/v2010"

	"coachline/models"
)

const (
	phoneField = "phone_number"
	// maxPhoneInput is far above any spelling of 15 digits.
	maxPhoneInput = 64
	// shortCode is the most digits that a short code has.
	shortCode = 6
)

var canonical = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// Canonical writes a phone number as E.164, so that every spelling of it
// names one person; region is the ISO 3166 code that a number without a
// country code belongs to. Numbers need to be possible, not assigned: reserved
// test numbers such as +1 555 pass. Errors are *models.FieldError on
// phone_number and do not repeat the input.
func Canonical(phone, region string) (string, error) {
	written, err := tidyPhone(phone)
	if err != nil {
		return "", err
	}
	number, parseErr := phonenumbers.Parse(written, region)
	if parseErr != nil {
		return "", models.BadField(phoneField, "not a phone number")
	}
	if number.GetExtension() != "" {
		return "", models.BadField(phoneField, "a number with an extension cannot be texted")
	}
	// IsPossibleNumber would also pass a number that lacks its area code.
	if phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
		return "", models.BadField(phoneField, "not a possible number; write it with + and the country code")
	}
	national := phonenumbers.GetNationalSignificantNumber(number)
	// A few small countries have numbers as short as short codes.
	if len(national) <= shortCode && (!strings.HasPrefix(written, "+") || !phonenumbers.IsValidNumber(number)) {
		return "", models.BadField(phoneField, "short codes cannot be enrolled")
	}
	out := phonenumbers.Format(number, phonenumbers.E164)
	if !canonical.MatchString(out) {
		return "", models.BadField(phoneField, "not a possible number; write it with + and the country code")
	}
	// The library drops prefixes that are dialled inside a country; what is
	// left must not change when it is read again.
	again, err := phonenumbers.Parse(out, region)
	if err != nil || phonenumbers.Format(again, phonenumbers.E164) != out {
		return "", models.BadField(phoneField, "can be read as more than one number")
	}
	return out, nil
}

// tidyPhone keeps digits and a leading plus, drops what people write between them,
// and refuses everything else: letters would be dialled as digits, and signs
// such as # and ; start an extension.
func tidyPhone(phone string) (string, error) {
	if len(phone) > maxPhoneInput {
		return "", models.BadField(phoneField, "too long")
	}
	var out strings.Builder
	for _, r := range phone {
		switch {
		case unicode.IsDigit(r):
			out.WriteRune(r)
		case (r == '+' || r == '\uFF0B') && out.Len() == 0:
			out.WriteByte('+')
		case unicode.IsLetter(r):
			return "", models.BadField(phoneField, "must hold no letters; a WhatsApp number is written as +12025550177")
		case unicode.IsSpace(r), unicode.Is(unicode.Pd, r), unicode.Is(unicode.Cf, r), strings.ContainsRune("()./\u2212", r):
			// Cf: numbers copied from a contact list carry direction marks.
		default:
			return "", models.BadField(phoneField, "only digits, spaces, +, -, (, ), . and / are allowed")
		}
	}
	if out.Len() == 0 {
		return "", models.BadField(phoneField, "required")
	}
	return out.String(), nil
}

// mediaPage is more media than a message may have.
const mediaPage = 50

// Delete has the carrier delete a message, its text and number with it, and first
// its pictures and voice notes. One that the carrier does not have counts as
// deleted, so it is safe to retry. The carrier refuses while a message is on its
// way. Errors are *models.CarrierError and never CarrierAmbiguous.
func (c *Client) Delete(ctx context.Context, providerSID string, hasMedia bool) error {
	if hasMedia {
		if err := c.deleteMedia(ctx, providerSID); err != nil {
			return err
		}
	}
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	return deletionError(call.service.DeleteMessage(providerSID, &api.DeleteMessageParams{}), call.seen)
}

func (c *Client) deleteMedia(ctx context.Context, providerSID string) error {
	list, cancel := c.beginCall(ctx, nil)
	defer cancel()
	params := &api.ListMediaParams{}
	page, err := list.service.PageMedia(providerSID, params.SetPageSize(mediaPage), "", "")
	if err != nil {
		return deletionError(err, list.seen)
	}
	for i := range page.MediaList {
		if err := c.deleteOneMedia(ctx, providerSID, stringValue(page.MediaList[i].Sid)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) deleteOneMedia(ctx context.Context, providerSID, mediaSID string) error {
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	return deletionError(call.service.DeleteMedia(providerSID, mediaSID, &api.DeleteMediaParams{}), call.seen)
}

// codeGone is what the carrier itself says of what it does not have; another
// server's 404 has no such code.
const codeGone = "20404"

func deletionError(err error, seen *callRecord) error {
	if err == nil {
		return nil
	}
	classed := toRepeatable(toCarrierError(err, seen))
	if classed.Status == http.StatusNotFound && classed.Code == codeGone {
		return nil
	}
	return classed
}
