package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"coachline/internal/sim/twilio"
)

const (
	apiPath  = "/conversation/participants"
	apiLimit = 10 * time.Second
)

// api is the product as an operator reaches it, at any of its starters, and the
// addresses that the driver told it.
type api struct {
	starterURLs []string
	temporal    string
	database    string
	turn        atomic.Uint64
}

// call is one request; key is the idempotency key of a message.
type call struct {
	method, path, key string
	body              any
}

// refusedError is an answer that trying again would not change.
type refusedError struct {
	status int
	body   string
}

func (r *refusedError) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.body) }

// call repeats a request until it is answered below 500, and reads the result.
// Errors are *refused, or that ctx ended.
func (a *api) call(ctx context.Context, c call, result any) error {
	wait := 50 * time.Millisecond
	for {
		err := a.callOnce(ctx, a.starterURLs[a.turn.Add(1)%uint64(len(a.starterURLs))], c, result)
		var no *refusedError
		if err == nil || errors.As(err, &no) {
			return err
		}
		if !twilio.Pause(ctx, wait) {
			return fmt.Errorf("calling %s %s: %w", c.method, c.path, errors.Join(ctx.Err(), err))
		}
		wait = min(2*wait, time.Second)
	}
}

func (a *api) callOnce(ctx context.Context, starter string, c call, result any) error {
	ctx, cancel := context.WithTimeout(ctx, apiLimit)
	defer cancel()
	var body bytes.Buffer
	if c.body != nil {
		if err := json.NewEncoder(&body).Encode(c.body); err != nil {
			return fmt.Errorf("writing a request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, c.method, starter+c.path, &body)
	if err != nil {
		return fmt.Errorf("building a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var envelope struct {
		Message string          `json:"message"`
		Result  json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(res.Body).Decode(&envelope); err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	switch {
	case res.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("status %d: %s", res.StatusCode, envelope.Message)
	case res.StatusCode >= http.StatusBadRequest:
		return &refusedError{res.StatusCode, envelope.Message}
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(envelope.Result, result); err != nil {
		return fmt.Errorf("reading a result: %w", err)
	}
	return nil
}

func (a *api) readyz(ctx context.Context, starter string) error {
	return a.callOnce(ctx, starter, call{method: http.MethodGet, path: "/readyz"}, nil)
}

// entry is one entry of the history route.
type entry struct {
	Role     string `json:"role"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Delivery string `json:"delivery"`
}

func (a *api) history(ctx context.Context, id string) ([]entry, error) {
	var entries []entry
	err := a.call(ctx, call{method: http.MethodGet, path: apiPath + "/" + id + "/history?limit=500"}, &entries)
	return entries, err
}

// status is a participant's; empty when the API knows no participant of that
// id.
func (a *api) status(ctx context.Context, id string) (string, error) {
	var view struct {
		Status string `json:"status"`
	}
	err := a.call(ctx, call{method: http.MethodGet, path: apiPath + "/" + id}, &view)
	var no *refusedError
	if errors.As(err, &no) && no.status == http.StatusNotFound {
		return "", nil
	}
	return view.Status, err
}
