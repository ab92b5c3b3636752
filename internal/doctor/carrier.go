package doctor

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/sms"
	"coachline/internal/wrap"
)

// messaging is where Twilio keeps messaging services, which have a host of their own.
const messaging = "https://messaging.twilio.com"

// probeSender asks the carrier whether the number or the messaging service that texts go
// out from belongs to the account. A carrier that knows no such question is no problem.
func probeSender(ctx context.Context, c config.Carrier, token string) (string, error) {
	sender, target := senderOf(c)
	if target == "" {
		return sender, nil // a short code or a name, which the carrier lists elsewhere
	}
	var found struct {
		Numbers []json.RawMessage `json:"incoming_phone_numbers"`
	}
	isService, into := c.MessagingServiceSID != "", any(&found)
	if isService {
		into = nil
	}
	isListed, err := askCarrier(ctx, c, token, target, into)
	switch {
	case err != nil:
		return "", fmt.Errorf("asking for %s: %w", sender, err)
	case !isListed && !isService:
		return sender + ", which the carrier does not list", nil
	case isListed && isService, len(found.Numbers) > 0:
		return sender, nil
	}
	return "", fmt.Errorf("%s does not belong to the account %s: set TWILIO_FROM or TWILIO_MESSAGING_SERVICE_SID to one of its own", sender, c.AccountSID)
}

// askCarrier reads what the carrier has at an address, as JSON into a value that is not nil;
// found is false where it has nothing there.
func askCarrier(ctx context.Context, c config.Carrier, token, target string, into any) (found bool, err error) {
	req, err := newCarrierRequest(ctx, target, c.AccountSID, token)
	if err != nil {
		return false, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, withoutAddress(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound:
		return false, nil
	case res.StatusCode >= http.StatusBadRequest:
		return false, fmt.Errorf("HTTP %d", res.StatusCode)
	case into == nil:
		return true, nil
	}
	return true, wrap.Error(json.NewDecoder(res.Body).Decode(into), "reading the answer")
}

// probeCampaign says how far the carrier has the registration of the messaging service's
// campaign, without which carriers of the United States block its texts (30034).
func probeCampaign(ctx context.Context, c config.Carrier, token string) (string, error) {
	if c.MessagingServiceSID == "" {
		return "no messaging service; see the number's registration at the carrier", nil
	}
	target := cmp.Or(strings.TrimRight(c.BaseURL, "/"), messaging) + "/v1/Services/" + url.PathEscape(c.MessagingServiceSID) + "/Compliance/Usa2p"
	var found struct {
		Compliance []struct {
			Status string `json:"campaign_status"`
		} `json:"compliance"`
	}
	isListed, err := askCarrier(ctx, c, token, target, &found)
	switch {
	case err != nil:
		return "", fmt.Errorf("asking for the campaign: %w", err)
	case !isListed:
		return "which the carrier does not list", nil
	}
	if len(found.Compliance) == 0 {
		return "", connect.Warning("the messaging service has no campaign: carriers in the US block its texts (30034) unless its numbers are toll-free or short codes; register one at Twilio")
	}
	status := found.Compliance[0].Status
	if status != "VERIFIED" {
		return "", connect.Warning(fmt.Sprintf("the campaign is %s, not VERIFIED: carriers in the US block texts until it is (30034)", status))
	}
	return status, nil
}

// senderOf returns what texts go out from, and where the carrier tells whose it is; no
// address for a sender that is no number and no service.
func senderOf(c config.Carrier) (sender, target string) {
	base := strings.TrimRight(c.BaseURL, "/")
	switch {
	case c.MessagingServiceSID != "":
		return c.MessagingServiceSID, cmp.Or(base, messaging) + "/v1/Services/" + url.PathEscape(c.MessagingServiceSID)
	case strings.HasPrefix(c.From, "+"):
		return c.From, accountAddress(cmp.Or(base, twilio), c.AccountSID) + "/IncomingPhoneNumbers.json?PhoneNumber=" + url.QueryEscape(c.From)
	}
	return c.From, ""
}

// probeWebhook sends an empty callback, signed as the carrier signs, to the public address
// and expects a starter to refuse it for what it lacks: then the address leads here and
// keeps the signature whole. Nothing is stored.
func probeWebhook(ctx context.Context, public, token string) (string, error) {
	if public == "" {
		return "", connect.Warning("no text comes in and no delivery is reported: set COACH_PUBLIC_URL")
	}
	base, _, _ := strings.Cut(public, "#") // behind it stands what the carrier keeps to itself
	target := strings.TrimRight(base, "/") + "/twilio/status"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("COACH_PUBLIC_URL: %w", err)
	}
	signer := hmac.New(sha1.New, []byte(token))
	signer.Write([]byte(target))
	req.Header.Set(sms.SignatureHeader, base64.StdEncoding.EncodeToString(signer.Sum(nil)))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, err := probeStatus(req)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s, from here: %w", public, err)
	case status == http.StatusBadRequest:
		return public, nil
	case status == http.StatusForbidden:
		return "", fmt.Errorf("%s refuses a signed webhook: the starter there has another TWILIO_AUTH_TOKEN, or a proxy changes the address or the headers", public)
	}
	return "", fmt.Errorf("%s answers a webhook with HTTP %d: it does not lead to the starter", public, status)
}
