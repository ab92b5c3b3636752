package rig

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// The account that the product is told it has.
const (
	accountSID = "AC0123456789abcdef0123456789abcdef"
	authToken  = "benchbenchbenchbenchbenchbench00"
	ourNumber  = "+15005550006"
)

// callLimit is longer than any answer of a front door may take.
const callLimit = time.Minute

// phones posts what people and the carrier send, signed as the carrier does.
type phones struct {
	client *http.Client
	texts  atomic.Int64
}

func newPhones() *phones { return &phones{client: pooled()} }

// pooled keeps enough connections for a burst, so that opening them is not
// what is measured.
func pooled() *http.Client {
	return &http.Client{Timeout: callLimit, Transport: &http.Transport{MaxIdleConns: 2048, MaxIdleConnsPerHost: 1024}}
}

// text delivers one inbound text to a front door.
func (p *phones) text(ctx context.Context, door, from, body string) error {
	return p.post(ctx, door, url.Values{
		"MessageSid": {fmt.Sprintf("SM%032x", p.texts.Add(1))}, "AccountSid": {accountSID},
		"From": {from}, "To": {ourNumber}, "Body": {body}, "NumMedia": {"0"},
	})
}

func (p *phones) post(ctx context.Context, address string, form url.Values) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("building a webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Twilio-Signature", signature(address, form))
	return p.do(req)
}

// send posts JSON and reads the answer into out unless that is nil.
func (p *phones) send(ctx context.Context, address string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("building a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
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

// signature is the carrier's: HMAC-SHA1 over the address and the sorted fields.
func signature(address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(authToken))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		mac.Write([]byte(name + form.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
