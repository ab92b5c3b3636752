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
