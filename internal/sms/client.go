// Package sms speaks to Twilio, or to a server shaped like it: it sends texts,
// looks them up, checks and reads webhooks, and says what can be done about
// each failure.
package sms

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	twilio "github.com/twilio/twilio-go/client"
	api "github.com/twilio/twilio-go/rest/api/v2010"

	"coachline/models"
	"coachline/models/wire"
)

const (
	defaultTimeout = 10 * time.Second
	// The carrier holds a text for 1 to 36,000 seconds.
	maxValidity = 36000 * time.Second
	// clockMargin covers what workers' clocks differ from each other, and the
	// carrier's whole seconds. The carrier's own clock may be any.
	clockMargin = 10 * time.Minute
	// findPage is how many texts to one number are searched; the list is
	// newest first.
	findPage = 200
	// outboxParam carries our id in the status callback's address, so that a
	// callback settles its row even when it overtakes the answer to the send.
	outboxParam = "outbox"
)

// alphanumeric is what twilio-go accepts as user name and password.
var alphanumeric = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// Config is what a Client needs.
type Config struct {
	AccountSID string
	AuthToken  string
	// From or MessagingServiceSID: exactly one.
	From                string
	MessagingServiceSID string
	// BaseURL replaces https://api.twilio.com; empty leaves it.
	BaseURL string
	// StatusCallbackURL is told what becomes of each text; empty asks for no
	// callbacks.
	StatusCallbackURL string
	// Timeout bounds one call; 0 is 10 seconds.
	Timeout time.Duration
	// Transport makes the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

// Client sends through one account. It is safe for concurrent use.
type Client struct {
	cfg      Config
	base     *url.URL
	callback *url.URL
	next     http.RoundTripper
}

// New checks cfg; errors name the setting.
func New(cfg Config) (*Client, error) {
	if !alphanumeric.MatchString(cfg.AccountSID) || !alphanumeric.MatchString(cfg.AuthToken) {
		return nil, errors.New("account SID and auth token must be letters and digits")
	}
	if (cfg.From == "") == (cfg.MessagingServiceSID == "") {
		return nil, errors.New("set either a sending number or a messaging service")
	}
	base, err := parseAddress(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the base URL: %w", err)
	}
	callback, err := parseAddress(cfg.StatusCallbackURL)
	if err != nil {
		return nil, fmt.Errorf("reading the status callback URL: %w", err)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	return &Client{cfg: cfg, base: base, callback: callback, next: cfg.Transport}, nil
}

// parseAddress parses a URL; nil for an empty text.
func parseAddress(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // an absent address is not an error
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("not an address")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("want http:// or https:// and a host")
	}
	return u, nil
}

// Send posts one text to the carrier. Errors are *models.CarrierError, or that
// of BeforeWrite, which kept the text from being written; the carrier knows no
// idempotency key, so a retry is safe only where the class says that the text
// was refused, and after CarrierAmbiguous only when Find does not have it.
func (c *Client) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	params := &api.CreateMessageParams{}
	params.SetTo(sms.To).SetBody(sms.Body)
	sender := sms.Sender
	if sender.IsZero() {
		sender = models.Sender{From: c.cfg.From, MessagingService: c.cfg.MessagingServiceSID}
	}
	if sender.MessagingService != "" {
		params.SetMessagingServiceSid(sender.MessagingService)
	} else {
		params.SetFrom(sender.From)
	}
	if c.callback != nil {
		params.SetStatusCallback(c.callbackFor(sms.OutboxID))
	}
	if sms.ValidFor > 0 {
		held := min(max(sms.ValidFor, time.Second), maxValidity)
		params.SetValidityPeriod(int(held / time.Second))
	}

	call, cancel := c.beginCall(ctx, sms.BeforeWrite)
	defer cancel()
	message, err := call.service.CreateMessage(params)
	if stopped := call.seen.stopped.Load(); err != nil && stopped != nil && !call.seen.posting.Load() {
		return models.Receipt{}, notWritten(*stopped)
	}
	if err != nil {
		return models.Receipt{}, toCarrierError(err, call.seen)
	}
	if stringValue(message.Sid) == "" {
		// A 2xx without an id: taken, as far as anyone can tell.
		return models.Receipt{}, ambiguousError(call.seen.status, "the answer names no message")
	}
	return toReceipt(message), nil
}

// Find lists what the carrier may have taken of a text that was posted age ago:
// texts to the same number, from the same sender, with the same content, oldest
// first. There may be several, because rows may have equal texts. Safe to retry.
// Errors are *models.CarrierError and never CarrierAmbiguous.
//
// The age is counted back from the Date header of the answer, so that only the
// carrier's own clock is compared with the dates of its list. The list is not
// filtered by date on the carrier's side: its filter reads the sending date,
// which a text still in the queue does not have.
func (c *Client) Find(ctx context.Context, sms models.SMS, age time.Duration) (models.Lookup, error) {
	params := &api.ListMessageParams{}
	params.SetTo(sms.To).SetPageSize(findPage)
	if c.cfg.From != "" && !sms.AnySender {
		params.SetFrom(c.cfg.From)
	}
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	page, err := call.service.PageMessage(params, "", "")
	if err != nil {
		return models.Lookup{}, toRepeatable(toCarrierError(err, call.seen))
	}
	if page.Messages == nil {
		// Something answered, but not with a list: "not found" would allow a
		// second send.
		return models.Lookup{}, &models.CarrierError{
			Class: models.CarrierRetry, Status: call.seen.status, Message: "the answer holds no list of messages",
		}
	}
	at := call.seen.date
	if at.IsZero() {
		at = time.Now()
	}
	return models.Lookup{At: at, Matches: matchReceipts(page.Messages, sms, at.Add(-max(age, 0)-clockMargin))}, nil
}

// Fetch asks how a text stands that the carrier has taken. Safe to retry.
// Errors are *models.CarrierError and never CarrierAmbiguous; an id that the
// carrier does not know is class CarrierAccount.
func (c *Client) Fetch(ctx context.Context, providerSID string) (models.StatusCallback, error) {
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	message, err := call.service.FetchMessage(providerSID, &api.FetchMessageParams{})
	if err != nil {
		return models.StatusCallback{}, toRepeatable(toCarrierError(err, call.seen))
	}
	report := models.StatusCallback{ProviderSID: stringValue(message.Sid), Status: toReceipt(message).Status}
	if message.ErrorCode != nil && *message.ErrorCode != 0 {
		report.ErrorCode = strconv.Itoa(*message.ErrorCode)
		report.Class = Class(report.ErrorCode)
	}
	return report, nil
}

// matchReceipts returns the texts with the same number and content and a date
// at or after since, compared in the whole seconds that the carrier gives,
// oldest first.
func matchReceipts(list []api.ApiV2010Message, sms models.SMS, since time.Time) []models.Receipt {
	type dated struct {
		receipt models.Receipt
		at      time.Time
	}
	var found []dated
	earliest := since.Truncate(time.Second)
	for i := range list {
		one := &list[i]
		if stringValue(one.Sid) == "" || stringValue(one.Body) != sms.Body || stringValue(one.To) != sms.To {
			continue
		}
		if at, ok := createdAt(one); ok && !at.Before(earliest) {
			found = append(found, dated{toReceipt(one), at})
		}
	}
	slices.SortStableFunc(found, func(a, b dated) int { return a.at.Compare(b.at) })
	var out []models.Receipt
	for _, one := range found {
		out = append(out, one.receipt)
	}
	return out
}

// callbackFor adds the outbox id to the query that the address has.
func (c *Client) callbackFor(outboxID string) string {
	u := *c.callback
	query := u.Query()
	query.Set(outboxParam, outboxID)
	u.RawQuery = query.Encode()
	return u.String()
}

// createdAt reads an instant in whole seconds (RFC 2822); the sending date stands in where
// a server leaves the creation date out.
func createdAt(message *api.ApiV2010Message) (time.Time, bool) {
	for _, text := range []string{stringValue(message.DateCreated), stringValue(message.DateSent)} {
		if at, err := time.Parse(time.RFC1123Z, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func toReceipt(message *api.ApiV2010Message) models.Receipt {
	status, known := ParseStatus(stringValue(message.Status))
	if !known {
		status = wire.OutboxAccepted
	}
	return models.Receipt{ProviderSID: stringValue(message.Sid), Status: status}
}

func stringValue(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// call is one use of the service under one context.
type call struct {
	service *api.ApiService
	client  *twilio.Client
	seen    *callRecord
}

// beginCall builds a service for one call: twilio-go takes no context, so the
// transport carries it. The service is built without twilio-go's constructor,
// which reads the environment. mayWrite is asked before a body is written.
func (c *Client) beginCall(ctx context.Context, mayWrite func(context.Context) error) (call, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	seen := &callRecord{}
	client := &twilio.Client{
		Credentials: twilio.NewCredentials(c.cfg.AccountSID, c.cfg.AuthToken),
		HTTPClient: &http.Client{
			Transport: transport{ctx: ctx, base: c.base, next: c.next, seen: seen, mayWrite: mayWrite},
			// A redirect would carry the text to a host that was not configured.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	client.SetAccountSid(c.cfg.AccountSID)
	return call{service: api.NewApiService(&twilio.RequestHandler{Client: client}), client: client, seen: seen}, cancel
}

// rewriteURL points a request for Twilio at base, keeping path and query.
func rewriteURL(u *url.URL, base *url.URL) *url.URL {
	out := *u
	out.Scheme, out.Host = base.Scheme, base.Host
	out.Path = strings.TrimRight(base.Path, "/") + u.Path
	out.RawPath = ""
	return &out
}
