package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"coachline/internal/sim/openai"
	"coachline/internal/sim/twilio"
)

// The account that the product is told it has.
const (
	accountSID = "AC0123456789abcdef0123456789abcdef"
	authToken  = "chaoschaoschaoschaoschaoschaos00"
	ourNumber  = "+15005550006"
)

const (
	maxBody = 1 << 20
	// listLag is how late the carrier's list shows a text that it accepted.
	listLag = 25 * time.Second
	// reportLag is when the carrier reports what became of a text, slowReport
	// when it does so for a text whose sender did not hear that it was accepted:
	// the look-up has to settle it first.
	reportLag  = 300 * time.Millisecond
	slowReport = 100 * time.Second
	// webhookTry bounds one try of a webhook, webhookLimit all of them.
	webhookTry   = 15 * time.Second
	webhookLimit = 10 * time.Minute
)

// sentText is a text that the carrier accepted, with the id of its row.
type sentText struct {
	Body, Outbox string
	At           time.Time
}

func toSent(m twilio.Message) sentText {
	sent := sentText{Body: m.Body, At: m.At}
	if u, err := url.Parse(m.Callback); err == nil {
		sent.Outbox = u.Query().Get("outbox")
	}
	return sent
}

func (l *installation) newCarrier(lag time.Duration) (*twilio.Server, error) {
	carrier, err := twilio.New(twilio.Config{
		AccountSID: accountSID, AuthToken: authToken, From: ourNumber,
		OnSend: l.serveSend, OnList: l.serveList, ListLag: lag, KeepTrying: webhookLimit,
		HTTPClient: &http.Client{Timeout: webhookTry, Transport: l},
	})
	if err != nil {
		return nil, fmt.Errorf("building the carrier: %w", err)
	}
	return carrier, nil
}

func (l *installation) newModel() *openai.Server {
	return openai.New(openai.Config{OnCall: l.serveCall, Answer: newAnswers()})
}

// callerKey is the context's key of the instance that asks.
type callerKey struct{}

func callerOf(r *http.Request) *instance {
	i, _ := r.Context().Value(callerKey{}).(*instance)
	return i
}

func (l *installation) serveSend(w http.ResponseWriter, r *http.Request, send *twilio.Send) {
	i := callerOf(r)
	what := l.arrive(point{Role: i.role, Kind: "http", Name: "POST message"}, posts)
	switch what {
	case before:
		twilio.Reset(w)
		return
	case codedBefore:
		twilio.Refuse(w, http.StatusServiceUnavailable, 20503)
		return
	case none, after, hang, kill, codedAfter:
	}
	if _, accepted := send.Accept(); !accepted {
		return
	}
	report := twilio.Report{After: reportLag, States: []string{"sent", "delivered"}}
	if what != none {
		report.After = slowReport
	}
	if l.reporting != nil {
		l.reporting(&report)
	}
	send.Report(report)
	if what == codedAfter {
		twilio.Refuse(w, http.StatusInternalServerError, 20500)
		return
	}
	if !loseAnswer(w, r, what) {
		send.Answer()
	}
}

// loseAnswer has the answer to a request that was carried out get lost as the
// fault says; false: it is to be answered.
func loseAnswer(w http.ResponseWriter, r *http.Request, what fault) bool {
	i := callerOf(r)
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
	twilio.Reset(w)
	return true
}

func (l *installation) serveList(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	what := l.arrive(point{Role: callerOf(r).role, Kind: "http", Name: "GET messages"}, reads)
	if !loseAnswer(w, r, what) {
		next(w, r)
	}
}

func (l *installation) serveCall(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	what := l.arrive(point{Role: callerOf(r).role, Kind: "http", Name: "POST completion"}, writes)
	if what == before {
		twilio.Reset(w)
		return
	}
	if l.thinking > 0 {
		l.announceModelCall()
		twilio.Pause(r.Context(), l.thinking)
	}
	if !loseAnswer(w, r, what) {
		next(w, r)
	}
}

// RoundTrip implements http.RoundTripper: it sends a request for the public
// address to the present starter. Each is a point.
func (l *installation) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	_ = req.Body.Close()
	to := l.current("starter")
	if to == nil || to.isDead() {
		return nil, errDead
	}
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer to.onDeath(cancel)()
	var res *http.Response
	op := operation{kind: "webhook", name: nameRequest(req, body), effect: writes, lost: errLost}
	err = to.call(ctx, op, func() error {
		out := req.Clone(ctx)
		out.URL.Scheme, out.URL.Host, out.Host = "http", to.address, ""
		out.Body = io.NopCloser(bytes.NewReader(body))
		var err error
		//nolint:bodyclose // it is closed below, after what it held has been read
		if res, err = l.surroundings.client.Transport.RoundTrip(out); err != nil {
			return fmt.Errorf("posting: %w", err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
		res.Body = io.NopCloser(bytes.NewReader(answer))
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// nameRequest names a request to a starter: "inbound", "status delivered",
// "api POST".
func nameRequest(req *http.Request, body []byte) string {
	switch req.URL.Path {
	case "/twilio/inbound":
		return "inbound"
	case "/twilio/status":
		if form, err := url.ParseQuery(string(body)); err == nil {
			return "status " + form.Get("MessageStatus")
		}
	}
	return "api " + req.Method
}

// repeat makes a request to the starter again and again until it is answered
// below 500, and reads the answer.
func (l *installation) repeat(build func(context.Context) (*http.Request, error), read func([]byte) error) error {
	ctx, cancel := context.WithTimeout(l.ctx, webhookLimit)
	defer cancel()
	for {
		body, code, err := l.request(ctx, build)
		switch {
		case err == nil && code < http.StatusMultipleChoices:
			return read(body)
		case err == nil && code < http.StatusInternalServerError:
			return fmt.Errorf("refused with %d: %s", code, body)
		}
		if !twilio.Pause(ctx, time.Second) {
			return fmt.Errorf("the starter did not take the request: %w", ctx.Err())
		}
	}
}

func (l *installation) request(ctx context.Context, build func(context.Context) (*http.Request, error)) (body []byte, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, webhookTry)
	defer cancel()
	req, err := build(ctx)
	if err != nil {
		return nil, 0, err
	}
	res, err := l.RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return body, res.StatusCode, err
}
