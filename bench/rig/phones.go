package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"coachline/internal/sim/twilio"
	"coachline/internal/wait"
)

// The account that the product is told it has.
const (
	accountSID = "AC0123456789abcdef0123456789abcdef"
	authToken  = "benchbenchbenchbenchbenchbench00"
	ourNumber  = "+15005550006"
)

// callLimit is longer than any answer of a webhook may take.
const callLimit = time.Minute

// awayPause is the wait between two tries of a request while the server is down.
const awayPause = 100 * time.Millisecond

// phones posts what people and the carrier send, signed as the carrier does.
type phones struct {
	client *http.Client
	texts  atomic.Int64
}

func newPhones() *phones { return &phones{client: newClient()} }

// newClient keeps enough connections for a burst, so that opening them is not
// what is measured.
func newClient() *http.Client {
	return &http.Client{Timeout: callLimit, Transport: &http.Transport{MaxIdleConns: 2048, MaxIdleConnsPerHost: 1024}}
}

// text delivers one inbound text to the webhook at an address, which may be away for
// a while.
func (p *phones) text(ctx context.Context, address, from, body string) error {
	form := twilio.InboundForm(twilio.Inbound{
		AccountSID: accountSID, SID: fmt.Sprintf("SM%032x", p.texts.Add(1)), From: from, To: ourNumber, Body: body,
	})
	return insist(ctx, func() error { return p.post(ctx, address, form) })
}

// insist repeats a request while the server is down, for at most callLimit.
func insist(ctx context.Context, call func() error) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	for {
		err := call()
		if away := new(net.OpError); !errors.As(err, &away) && !errors.Is(err, io.EOF) {
			return err
		}
		if wait.For(ctx, awayPause) != nil {
			return err
		}
	}
}

func (p *phones) post(ctx context.Context, address string, form url.Values) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("building a webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Twilio-Signature", twilio.Sign(authToken, address, form))
	return p.do(req)
}

// send posts JSON and reads the answer into out unless that is nil.
func (p *phones) send(ctx context.Context, address string, in, out any) error {
	return p.sendJSON(ctx, http.MethodPost, address, in, out)
}

// change patches what is at an address.
func (p *phones) change(ctx context.Context, address string, in any) error {
	return p.sendJSON(ctx, http.MethodPatch, address, in, nil)
}

func (p *phones) sendJSON(ctx context.Context, method, address string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("building a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer bench") // the model wants a key
	return p.read(req, out)
}

func (p *phones) do(req *http.Request) error { return p.read(req, nil) }

func (p *phones) read(req *http.Request, out any) error {
	res, err := p.client.Do(req)
	if err != nil {
		return fmt.Errorf("calling %s: %w", req.URL.Path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return fmt.Errorf("reading the answer of %s: %w", req.URL.Path, err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("calling %s: %s: %s", req.URL.Path, res.Status, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", req.URL.Path, err)
	}
	return nil
}
