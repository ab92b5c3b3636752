// Package api holds the JSON types of the HTTP API, once for the starter that
// serves them and the command line that reads them. Each file is one noun:
// participants, people, state, schedules, conversation, chat, holds, attention, alerts,
// turns, consents, memory and health. Path and query parameters are the
// starter's own.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// StatusOK and StatusError are the values of status in an Envelope and a Failure.
const (
	StatusOK    = "ok"
	StatusError = "error"
)

// Envelope is the answer of the API: status ok, a sentence where there is
// something to say, and the result.
type Envelope[T any] struct {
	Status  string `json:"status" enum:"ok"`
	Message string `json:"message,omitempty"`
	Result  T      `json:"result"`
}

// Failure is the answer to a refused or failed request. Message names the field
// where one is to blame; it never repeats what was sent.
type Failure struct {
	Status  string `json:"status" enum:"error" doc:"Always error."`
	Message string `json:"message" doc:"What was refused and why; begins with the field's name where one is to blame."`
	// Code is for programs; it goes with the HTTP status.
	Code      string `json:"code,omitempty" enum:"bad_request,unauthorized,forbidden,not_found,method_not_allowed,not_acceptable,timeout,conflict,changed_meanwhile,too_large,unsupported_media_type,rate_limited,unavailable,internal,refused" doc:"What happened, for programs."`
	Field     string `json:"field,omitempty" doc:"The field, parameter or header that is to blame."`
	RequestID string `json:"request_id,omitempty" doc:"Names the request in the audit and the log; also in header X-Request-Id."`
}

// Problem is a Failure in the form of RFC 9457, for callers who accept
// application/problem+json.
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`
	Field     string `json:"field,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// Empty is a result without content.
type Empty struct{}

// Readiness says of each dependency of the starter whether it answers.
type Readiness struct {
	Database string `json:"database" enum:"ok,unreachable"`
	Temporal string `json:"temporal" enum:"ok,unreachable"`
	Workers  string `json:"workers" doc:"ok, or why messages are stored and not answered; the starter takes messages all the same."`
}

// Version is the version of the running build.
type Version struct {
	Version string `json:"version"`
}

// ReasonHeader says why a request changes something; the audit keeps it.
const ReasonHeader = "Coach-Reason"

// Request is one call of the API, for those who make it: the command line and the
// console.
type Request struct {
	Method string
	// Path is without the server's address.
	Path  string
	Query url.Values
	// Header adds to what the other fields say, or takes its place.
	Header map[string]string
	// Body is sent as JSON; nil is none.
	Body any
	// Raw is sent as it is where Body is nil; Header says its type.
	Raw []byte
	// Reason is sent with requests that change something.
	Reason string
}

// Build makes the HTTP request to the API at an address, which may be empty.
func (q Request) Build(ctx context.Context, address string) (*http.Request, error) {
	var body io.Reader = http.NoBody
	switch {
	case q.Body != nil:
		raw, err := json.Marshal(q.Body)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(raw)
	case q.Raw != nil:
		body = bytes.NewReader(q.Raw)
	}
	target := address + q.Path
	if len(q.Query) > 0 {
		target += "?" + q.Query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, target, body)
	if err != nil {
		return nil, fmt.Errorf("building the request: %w", err)
	}
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Reason != "" && q.Method != http.MethodGet {
		r.Header.Set(ReasonHeader, strings.Join(strings.Fields(q.Reason), " "))
	}
	for name, value := range q.Header {
		r.Header.Set(name, value)
	}
	return r, nil
}
