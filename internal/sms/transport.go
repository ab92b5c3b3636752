package sms

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
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
	ctx, check := t.ctx, &writeCheck{ask: t.checkWrite}
	hasBody := req.Body != nil && req.Body != http.NoBody
	if hasBody {
		ctx = check.trace(ctx)
	}
	out := req.Clone(ctx)
	if t.base != nil {
		out.URL = rewriteURL(req.URL, t.base)
		out.Host = t.base.Host
	}
	if hasBody {
		out.Body, out.GetBody = &checkedBody{req.Body, check}, check.checkedGetBody(req.GetBody)
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

// writeCheck asks whether a request may be written once its connection is there and before
// anything is on it, so that the carrier sees nothing of one that is refused.
type writeCheck struct {
	ask   func() error
	mu    sync.Mutex
	asked bool
	err   error
}

// trace returns a context in which each connection that a request gets is asked for; one
// that is refused is given up. It ends with ctx.
func (c *writeCheck) trace(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if err := c.repeat(); err != nil {
			cancel(err)
			closeAlone(got.Conn)
		}
	}})
}

// repeat asks for another connection, once is for the body: it asks only where no
// connection was told of.
func (c *writeCheck) repeat() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.err = true, c.ask()
	return c.err
}

func (c *writeCheck) once() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		c.asked, c.err = true, c.ask()
	}
	return c.err
}

// checkedGetBody returns GetBody for a checked body; nil where there is none.
func (c *writeCheck) checkedGetBody(get func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	if get == nil {
		return nil
	}
	return func() (io.ReadCloser, error) {
		body, err := get()
		return &checkedBody{body, c}, err
	}
}

// closeAlone closes a connection that carries one request at a time. One of HTTP/2 carries
// others too; there the canceled context is seen before the head is written.
func closeAlone(conn net.Conn) {
	if secured, ok := conn.(*tls.Conn); ok && secured.ConnectionState().NegotiatedProtocol == "h2" {
		return
	}
	_ = conn.Close()
}

// checkedBody is a request's body that is checked before it is read.
type checkedBody struct {
	io.ReadCloser
	check *writeCheck
}

// Read implements io.Reader.
func (b *checkedBody) Read(p []byte) (int, error) {
	if err := b.check.once(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p) //nolint:wrapcheck // io.EOF must stay as it is
}
