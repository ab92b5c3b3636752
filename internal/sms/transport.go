package sms

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

// seen is what one call learned below twilio-go, whose errors tell neither the
// status of an answer that is not JSON nor whether anything was sent.
type seen struct {
	// written: at least the head of the request left for the server.
	written atomic.Bool
	// status of the answer, 0 when none came. Read after the call returned.
	status int
}

// errRedirect: the carrier never redirects; a wrong base URL does.
var errRedirect = errors.New("redirected")

// transport gives a request its caller's context and the configured host.
type transport struct {
	ctx  context.Context //nolint:containedctx // twilio-go has no other place for it
	base *url.URL
	next http.RoundTripper
	seen *seen
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{WroteHeaders: func() { t.seen.written.Store(true) }}
	out := req.Clone(httptrace.WithClientTrace(t.ctx, trace))
	if t.base != nil {
		out.URL = rewrite(req.URL, t.base)
		out.Host = t.base.Host
	}
	res, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, err //nolint:wrapcheck // http.Client wraps it
	}
	t.seen.status = res.StatusCode
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		// twilio-go would take a redirect for an answer.
		_ = res.Body.Close()
		return nil, fmt.Errorf("answer %d: %w", res.StatusCode, errRedirect)
	}
	return res, nil
}
