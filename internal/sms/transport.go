package sms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// callRecord is what one call learned below twilio-go, whose errors tell neither the
// status of an answer that is not JSON nor whether anything was sent.
type callRecord struct {
	// posting says that the text was given to the connection, so the carrier may have it.
	posting atomic.Bool
	// stopped is why the text was not written; nil where it was, or never came so
	// far.
	stopped atomic.Pointer[error]
	// status of the answer, 0 when none came, and date its Date header. Read after
	// the call returned.
	status int
	date   time.Time
}

var (
	// errRedirect says that the answer redirects: the carrier never does, a wrong
	// base URL does.
	errRedirect = errors.New("redirected")
	// errSlowCheck says that the check before writing took so long that it may not hold
	// any more.
	errSlowCheck = errors.New("the check before writing took too long")
)

// checkLimit is how old the answer of the check before writing may be when the
// text is written. A process that was stopped meanwhile has to ask again.
const checkLimit = 2 * time.Second

// transport gives a request its caller's context and the configured host.
type transport struct {
	ctx  context.Context //nolint:containedctx // twilio-go has no other place for it
	base *url.URL
	next http.RoundTripper
	seen *callRecord
	// mayWrite is asked before a body is written; nil allows it.
	mayWrite func(ctx context.Context) error
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(t.ctx)
	if t.base != nil {
		out.URL = rewriteURL(req.URL, t.base)
		out.Host = t.base.Host
	}
	if req.Body != nil && req.Body != http.NoBody {
		// The connection is established, and the head of the request written, when
		// the body is read for the first time. The text and the number are in it.
		out.Body, out.GetBody = t.checkBody(req.Body), t.checkedGetBody(req.GetBody)
	}
	res, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, err //nolint:wrapcheck // http.Client wraps it
	}
	t.seen.status = res.StatusCode
	t.seen.date, _ = http.ParseTime(res.Header.Get("Date"))
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		// twilio-go would take a redirect for an answer.
		_ = res.Body.Close()
		return nil, fmt.Errorf("answer %d: %w", res.StatusCode, errRedirect)
	}
	return res, nil
}

// checkedGetBody returns GetBody for a checked body; nil where there is none.
func (t transport) checkedGetBody(get func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	if get == nil {
		return nil
	}
	return func() (io.ReadCloser, error) {
		body, err := get()
		if err != nil {
			return nil, err
		}
		return t.checkBody(body), nil
	}
}

func (t transport) checkBody(body io.ReadCloser) io.ReadCloser {
	return &checkedBody{ReadCloser: body, check: t.checkWrite}
}

// checkWrite asks whether the text may be written now, and records the answer.
func (t transport) checkWrite() error {
	err := t.askMayWrite()
	if err != nil {
		t.seen.stopped.Store(&err)
		return err
	}
	t.seen.posting.Store(true)
	// A caller that has given up does not wait for what follows.
	return t.ctx.Err()
}

func (t transport) askMayWrite() error {
	if t.mayWrite == nil {
		return nil
	}
	began := time.Now()
	if err := t.mayWrite(t.ctx); err != nil {
		return err
	}
	if time.Since(began) > checkLimit {
		return errSlowCheck
	}
	return nil
}

// checkedBody is a request's body that is checked before it is read.
type checkedBody struct {
	io.ReadCloser
	check func() error
	asked bool
}

// Read implements io.Reader.
func (b *checkedBody) Read(p []byte) (int, error) {
	if !b.asked {
		b.asked = true
		if err := b.check(); err != nil {
			return 0, err
		}
	}
	return b.ReadCloser.Read(p) //nolint:wrapcheck // io.EOF must stay as it is
}
