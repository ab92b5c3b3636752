package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"coachline/chaos/harness"
)

const (
	maxBody = 1 << 20
	// listLag is how late the carrier's list shows a text that it took.
	listLag = 25 * time.Second
	// reportLag is when the carrier reports what became of a text, slowReport
	// when it does so for a text whose sender did not hear that it was taken: the
	// look-up has to settle it first.
	reportLag  = 300 * time.Millisecond
	slowReport = 100 * time.Second
	webhookTry = 15 * time.Second
)

// carrier is the phone network of one lane, in the shape of Twilio.
type carrier struct {
	lane *lane

	mu      sync.Mutex
	sent    []harness.Sent
	reports int
	number  int
	// taken are called with each text that was taken.
	taken []func(harness.Sent)
}

func (c *carrier) list(phone string) []harness.Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.sent), func(s harness.Sent) bool { return s.Phone != phone })
}

func (c *carrier) reporting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reports
}

// post is the send of one text by a worker.
func (c *carrier) post(w http.ResponseWriter, r *http.Request, i *instance) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		harness.Refuse(w, http.StatusBadRequest, 20001)
		return
	}
	what := i.lane.arrive(point{Role: i.role, Kind: "http", Name: "POST message"}, posts)
	switch what {
	case before:
		harness.Reset(w)
		return
	case codedBefore:
		harness.Refuse(w, http.StatusServiceUnavailable, 20503)
		return
	case none, after, hang, kill, codedAfter:
	}
	text, callback := c.take(r.PostForm)
	lag := reportLag
	if what != none {
		lag = slowReport
	}
	go c.report(text, callback, lag)
	if what == codedAfter {
		harness.Refuse(w, http.StatusInternalServerError, 20500)
		return
	}
	if loseAnswer(w, r, i, what) {
		return
	}
	harness.WriteJSON(w, http.StatusCreated, text.Resource())
}

// loseAnswer has the answer to a request that was carried out get lost as the
// fault says; false: it is to be answered.
func loseAnswer(w http.ResponseWriter, r *http.Request, i *instance, what fault) bool {
	switch what {
	case hang:
		select {
		case <-r.Context().Done():
		case <-i.dead:
		}
	case kill:
		i.kill()
	case none:
		return false
	case before, after, codedBefore, codedAfter:
	}
	harness.Reset(w)
	return true
}

func (c *carrier) take(form url.Values) (text harness.Sent, callback string) {
	c.mu.Lock()
	c.number++
	text = harness.Sent{
		SID: fmt.Sprintf("SM%08x%024x", c.lane.number, c.number), Phone: form.Get("To"), Body: form.Get("Body"), At: time.Now(),
	}
	callback = form.Get("StatusCallback")
	if u, err := url.Parse(callback); err == nil {
		text.Outbox = u.Query().Get("outbox")
	}
	c.sent = append(c.sent, text)
	c.reports++
	taken := slices.Clone(c.taken)
	c.mu.Unlock()
	for _, tell := range taken {
		tell(text)
	}
	return text, callback
}

// lookUp is the list of the texts to a phone, newest first, or one text.
func (c *carrier) lookUp(w http.ResponseWriter, r *http.Request, i *instance) {
	what := i.lane.arrive(point{Role: i.role, Kind: "http", Name: "GET messages"}, reads)
	if what == before || loseAnswer(w, r, i, what) {
		harness.Reset(w)
		return
	}
	found := []map[string]any{}
	for _, text := range slices.Backward(c.list(r.URL.Query().Get("To"))) {
		if time.Since(text.At) >= listLag {
			found = append(found, text.Resource())
		}
	}
	harness.WriteJSON(w, http.StatusOK, map[string]any{
		"messages": found, "page": 0, "page_size": len(found), "next_page_uri": nil, "previous_page_uri": nil,
	})
}

// report posts what became of a text.
func (c *carrier) report(text harness.Sent, callback string, lag time.Duration) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reports--
	}()
	harness.Pause(c.lane.ctx, lag)
	for _, state := range []string{"sent", "delivered"} {
		form := url.Values{
			"MessageSid": {text.SID}, "SmsSid": {text.SID}, "MessageStatus": {state}, "SmsStatus": {state},
			"AccountSid": {harness.AccountSID}, "ApiVersion": {"2010-04-01"}, "From": {harness.OurNumber}, "To": {text.Phone},
		}
		if c.lane.deliver("status "+state, callback, form) != nil {
			return
		}
	}
}

// webhook posts one webhook until it is answered, as the carrier does, and says
// when that was.
func (l *lane) deliver(name, address string, form url.Values) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("reading a webhook's address: %w", err)
	}
	return l.repeat(name, func(ctx context.Context, base string) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+u.RequestURI(), strings.NewReader(form.Encode()))
		if err != nil {
			return nil, fmt.Errorf("building a webhook: %w", err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Twilio-Signature", harness.Sign(address, form))
		return req, nil
	}, nil)
}

// repeat makes a request to the starter again and again until it is answered
// below 500. Each try is a point.
func (l *lane) repeat(name string, build func(ctx context.Context, base string) (*http.Request, error), read func([]byte) error) error {
	for range webhookTries {
		body, code, err := l.request(name, build)
		switch {
		case err == nil && code < http.StatusMultipleChoices && read != nil:
			return read(body)
		case err == nil && code < http.StatusMultipleChoices:
			return nil
		case err == nil && code < http.StatusInternalServerError:
			return fmt.Errorf("%s refused with %d: %s", name, code, body)
		}
		if !harness.Pause(l.ctx, time.Second) {
			return l.ctx.Err()
		}
	}
	return fmt.Errorf("%s was never taken", name)
}

const webhookTries = 600

func (l *lane) request(name string, build func(ctx context.Context, base string) (*http.Request, error)) (body []byte, code int, err error) {
	to := l.current("starter")
	if to == nil || to.isDead() {
		return nil, 0, errDead
	}
	ctx, cancel := context.WithTimeout(context.Background(), webhookTry)
	defer cancel()
	defer to.onDeath(cancel)()
	op := operation{kind: "webhook", name: name, effect: writes, lost: errLost}
	err = to.call(ctx, op, func() error {
		req, err := build(ctx, "http://"+to.address)
		if err != nil {
			return err
		}
		res, err := l.world.client.Do(req)
		if err != nil {
			return fmt.Errorf("posting: %w", err)
		}
		defer res.Body.Close()
		code = res.StatusCode
		body, err = io.ReadAll(io.LimitReader(res.Body, maxBody))
		return err
	})
	return body, code, err
}

// complete is one request to the model by a worker.
func (l *lane) complete(w http.ResponseWriter, r *http.Request, i *instance) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		harness.ModelError(w, http.StatusBadRequest)
		return
	}
	what := l.arrive(point{Role: i.role, Kind: "http", Name: "POST completion"}, writes)
	if what == before {
		harness.Reset(w)
		return
	}
	if l.thinking > 0 {
		l.announceModelCall()
		harness.Pause(r.Context(), l.thinking)
	}
	if loseAnswer(w, r, i, what) {
		return
	}
	answer, err := harness.Complete(body, l.calls.Add(1))
	if err != nil {
		harness.ModelError(w, http.StatusBadRequest)
		return
	}
	harness.WriteJSON(w, http.StatusOK, answer)
}
