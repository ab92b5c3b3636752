package twilio

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"coachline/internal/wait"
)

const (
	// keepTrying is Config.KeepTrying by itself. The real carrier repeats once by
	// default; an app that is being restarted on a developer's machine takes
	// longer.
	keepTrying  = 60 * time.Second
	firstPause  = 50 * time.Millisecond
	longestWait = time.Second
	apiVersion  = "2010-04-01"
)

// webhookPoster posts the webhooks: those about one text in order, and the texts of
// one phone one after the other.
type webhookPoster struct {
	cfg     Config
	network *network
	faults  *faults
	closing context.Context //nolint:containedctx // the server's context, not a call's
	// calls is the context of the requests, which outlive closing by a little.
	calls  context.Context //nolint:containedctx // as above
	cancel context.CancelFunc

	mu sync.Mutex
	wg sync.WaitGroup
	// busy names the phones whose texts are being posted.
	busy map[string]bool
}

func newCourier(closing context.Context, cfg Config, network *network, faults *faults) *webhookPoster {
	c := &webhookPoster{cfg: cfg, network: network, faults: faults, closing: closing, busy: map[string]bool{}}
	c.calls, c.cancel = context.WithCancel(context.Background())
	return c
}

// close waits for what is under way; closing must have ended before.
func (c *webhookPoster) close(limit time.Duration) {
	timer := time.AfterFunc(limit, c.cancel)
	defer timer.Stop()
	c.mu.Lock()
	c.mu.Unlock() //nolint:staticcheck // a start that saw the server open has counted itself by now
	c.wg.Wait()
	c.cancel()
}

// start runs work unless the server is closing. The caller holds mu.
func (c *webhookPoster) start(work func()) {
	if c.closing.Err() == nil {
		c.wg.Go(work)
	}
}

// resumeOwed goes on with what an earlier run owed.
func (c *webhookPoster) resumeOwed() {
	for _, owed := range c.network.listTexts(func(t text) bool { return !t.Settled }) {
		if owed.Direction == fromPhone {
			c.startInbound(owed.Phone)
		} else {
			c.startReport(owed, Report{})
		}
	}
}

func (c *webhookPoster) startReport(t text, r Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start(func() {
		if c.wait(r.After) {
			c.report(t, r)
		}
	})
}

// startInbound posts what a phone has sent, in order.
func (c *webhookPoster) startInbound(number string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[number] {
		return
	}
	c.busy[number] = true
	c.start(func() { c.postInbound(number) })
}

func (c *webhookPoster) postInbound(number string) {
	for c.closing.Err() == nil {
		c.mu.Lock()
		next, found := c.network.nextFrom(number)
		if !found {
			delete(c.busy, number)
		}
		c.mu.Unlock()
		if !found || !c.handOver(next) {
			return
		}
	}
}

// handOver posts one inbound text; false: the server is closing, or its file
// is broken.
func (c *webhookPoster) handOver(t text) bool {
	f, armed := c.faults.takeFault(targetInbound, t.Phone)
	if armed && f.Kind == kindLate && !c.wait(f.delay(lateDelay)) {
		return false
	}
	post := webhook{address: c.cfg.InboundURL, form: c.inboundForm(t), token: inboundToken(t.SID), key: c.cfg.AuthToken}
	if armed && f.Kind == kindMalformed {
		post.key += "-wrong"
	}
	result := c.deliver(c.closing, post)
	if armed && f.Kind == kindTwice && result == taken {
		result = c.deliver(c.closing, post)
	}
	state := statusReceived
	switch result {
	case interrupted:
		return false
	case refused:
		state = statusFailed
	case taken:
	}
	return c.recordChange(change{SID: t.SID, Status: state, Settled: true})
}

// report moves a text through its states and posts each.
func (c *webhookPoster) report(t text, r Report) {
	f, armed := c.faults.takeFault(targetCallback, t.Phone)
	if armed && f.Kind == kindLate && !c.wait(f.delay(lateDelay)) {
		return
	}
	states := remainingStates(t.Status)
	if f.Kind == kindLost {
		states[len(states)-1], t.Code = statusLost, cmp.Or(f.Code, 30003)
	}
	if f.Kind == kindOutOfOrder {
		r.States = slices.Clone(states)
		slices.Reverse(r.States)
	}
	if r.States == nil {
		r.States = states
	}
	r.Twice = r.Twice || f.Kind == kindTwice
	for i, state := range r.States {
		if i > 0 && !c.wait(c.cfg.DeliveryDelay) {
			return
		}
		// Reports may come in another order than the states themselves.
		ch := change{SID: t.SID, Status: states[min(i, len(states)-1)]}
		if ch.Status == statusLost {
			ch.Code = t.Code
		}
		if !c.recordChange(ch) || !c.postState(t, state, r, f) {
			return
		}
	}
	c.recordChange(change{SID: t.SID, Settled: true})
}

// remainingStates lists the states to report, the present one again included: a run
// that was ended may not have reported it.
func remainingStates(now status) []status {
	states := []status{statusQueued, statusSent, statusDelivered}
	return states[max(0, slices.Index(states, now)):]
}

// postState posts one state as often as the report says; false: closing.
func (c *webhookPoster) postState(t text, state status, r Report, f fault) bool {
	if t.Callback == "" || f.Kind == kindReset {
		return true
	}
	post := webhook{address: t.Callback, form: c.statusForm(t, state), key: c.cfg.AuthToken}
	if f.Kind == kindMalformed {
		post.key += "-wrong"
	}
	result := c.deliver(c.closing, post)
	if r.Twice && result == taken {
		result = c.deliver(c.closing, post)
	}
	return result != interrupted
}

func (c *webhookPoster) recordChange(ch change) bool {
	if err := c.network.update(ch); err != nil {
		c.cfg.Logger.Error("simulator cannot note a state", "sid", ch.SID, "error", err)
		return false
	}
	return true
}

// wait is false when the server closes first.
func (c *webhookPoster) wait(d time.Duration) bool { return Pause(c.closing, d) }

// Pause waits; false: ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool { return wait.For(ctx, d) == nil }

// webhook is one signed form post.
type webhook struct {
	address string
	form    url.Values
	// token repeats on every attempt; empty leaves the header out.
	token string
	key   string
}

type outcome int

const (
	taken       outcome = iota
	refused             // 4xx, or the app stayed away for KeepTrying
	interrupted         // the server is closing; it is still owed
)

// deliver posts until the app answers below 500, or ctx ends.
func (c *webhookPoster) deliver(ctx context.Context, post webhook) outcome {
	began, wait := time.Now(), firstPause
	for {
		if ctx.Err() != nil {
			return interrupted
		}
		code, err := c.post(post)
		switch {
		case err == nil && code < http.StatusBadRequest:
			return taken
		case err == nil && code < http.StatusInternalServerError:
			c.cfg.Logger.Warn("the app refused a webhook", "sid", post.form.Get("MessageSid"), "status", code)
			return refused
		case time.Since(began) >= c.cfg.KeepTrying:
			c.cfg.Logger.Warn("the app did not take a webhook", "sid", post.form.Get("MessageSid"), "status", code)
			return refused
		}
		if !Pause(ctx, wait) {
			return interrupted
		}
		wait = min(2*wait, longestWait)
	}
}

func (c *webhookPoster) post(post webhook) (int, error) {
	address, _, _ := strings.Cut(post.address, "#")
	req, err := http.NewRequestWithContext(c.calls, http.MethodPost, address, strings.NewReader(post.form.Encode()))
	if err != nil {
		return 0, fmt.Errorf("building a webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	req.Header.Set("User-Agent", "TwilioProxy/1.1")
	req.Header.Set("X-Twilio-Signature", Sign(post.key, req.URL.String(), post.form))
	if post.token != "" {
		req.Header.Set("I-Twilio-Idempotency-Token", post.token)
	}
	resp, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("posting a webhook: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode, nil
}

// Sign computes the carrier's signature: the address and each field's name and
// value, names sorted, without separators.
func Sign(key, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(key))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		mac.Write([]byte(name + form.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// inboundToken looks like the carrier's UUID and is the same in every run.
func inboundToken(sid string) string {
	sum := sha256.Sum256([]byte("inbound " + sid))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (c *webhookPoster) inboundForm(t text) url.Values {
	form := InboundForm(Inbound{AccountSID: c.cfg.AccountSID, SID: t.SID, From: t.Phone, To: c.cfg.From, Body: t.Body})
	attachVoice(form)
	return form
}

// Inbound is a text from a phone.
type Inbound struct{ AccountSID, SID, From, To, Body string }

// InboundForm writes the fields that the carrier posts for a text from a phone.
func InboundForm(in Inbound) url.Values {
	form := url.Values{"NumMedia": {"0"}, "NumSegments": {strconv.Itoa(segments(in.Body))}, "Body": {in.Body}}
	for name, value := range map[string]string{
		"MessageSid": in.SID, "SmsSid": in.SID, "SmsMessageSid": in.SID, "SmsStatus": statusReceived,
		"AccountSid": in.AccountSID, "ApiVersion": apiVersion, "From": in.From, "To": in.To,
		"FromCountry": "US", "FromState": "", "FromCity": "", "FromZip": "",
		"ToCountry": "US", "ToState": "", "ToCity": "", "ToZip": "",
	} {
		form.Set(name, value)
	}
	return form
}

func (c *webhookPoster) statusForm(t text, state status) url.Values {
	form := url.Values{}
	for name, value := range map[string]string{
		"MessageSid": t.SID, "SmsSid": t.SID, "MessageStatus": state, "SmsStatus": state,
		"AccountSid": c.cfg.AccountSID, "ApiVersion": apiVersion, "From": c.cfg.From, "To": t.Phone,
	} {
		form.Set(name, value)
	}
	if t.Service != "" {
		form.Set("MessagingServiceSid", t.Service)
	}
	if state == statusLost {
		form.Set("ErrorCode", strconv.Itoa(t.Code))
	}
	if state == statusDelivered {
		form.Set("RawDlrDoneDate", c.cfg.Now().UTC().Format("0601021504"))
	}
	return form
}
