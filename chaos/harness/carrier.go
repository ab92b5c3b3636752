package harness

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"coachline/internal/sim/twilio"
)

// The account that the product is told it has.
const (
	AccountSID = "AC0123456789abcdef0123456789abcdef"
	AuthToken  = "chaoschaoschaoschaoschaoschaos00"
	OurNumber  = "+15005550006"
)

const (
	// hangLimit is longer than the product waits for the carrier.
	hangLimit = 12 * time.Second
	// webhookLimit bounds one webhook; the real carrier waits as long.
	webhookLimit = 15 * time.Second
	// keepTrying is longer than any run: a webhook is repeated until a starter
	// takes it.
	keepTrying = 24 * time.Hour
	lateBy     = 5 * time.Second
	// slowReport is longer than the product waits before it asks whether a text
	// arrived, so that the report does not save it from asking.
	slowReport = 35 * time.Second
	maxBody    = 1 << 20
)

// Sent is a text that the carrier accepted.
type Sent struct {
	SID   string
	Phone string
	Body  string
	// Outbox is our own id, from the address of the status callback.
	Outbox string
	At     time.Time
}

// SentOf is a message of the stand-in with the id of its outbox row.
func SentOf(m twilio.Message) Sent {
	sent := Sent{SID: m.SID, Phone: m.To, Body: m.Body, At: m.At}
	if u, err := url.Parse(m.Callback); err == nil {
		sent.Outbox = u.Query().Get("outbox")
	}
	return sent
}

// Carrier is the stand-in of Twilio whose sends, lists and delivery reports fail
// as the board says.
type Carrier struct {
	board    *Board
	trace    *Trace
	network  *twilio.Server
	accepted atomic.Int64
}

// NewCarrier posts its webhooks to the starters at these base addresses in turn.
func NewCarrier(board *Board, trace *Trace, starters []string) (*Carrier, error) {
	c := &Carrier{board: board, trace: trace}
	var err error
	c.network, err = twilio.New(twilio.Config{
		AccountSID: AccountSID, AuthToken: AuthToken, From: OurNumber, OnSend: c.serveSend, OnList: c.serveList, KeepTrying: keepTrying,
		Logger:     slog.New(slog.NewTextHandler(traceWriter{trace}, nil)),
		HTTPClient: &http.Client{Timeout: webhookLimit, Transport: &rotation{addresses: starters}},
	})
	if err != nil {
		return nil, fmt.Errorf("building the carrier: %w", err)
	}
	return c, nil
}

// rotation sends requests for the public address to the starters in turn, so
// that a repeated webhook reaches another one.
type rotation struct {
	addresses []string
	next      atomic.Uint64
}

// RoundTrip implements http.RoundTripper.
func (r *rotation) RoundTrip(req *http.Request) (*http.Response, error) {
	base, err := url.Parse(r.addresses[(r.next.Add(1)-1)%uint64(len(r.addresses))])
	if err != nil {
		return nil, fmt.Errorf("reading a starter's address: %w", err)
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = base.Scheme, base.Host, ""
	return http.DefaultTransport.RoundTrip(req) //nolint:wrapcheck // the client wraps it
}

// traceWriter writes the stand-in's log lines into the trace.
type traceWriter struct{ trace *Trace }

// Write implements io.Writer.
func (t traceWriter) Write(line []byte) (int, error) {
	t.trace.Note("carrier: %s", line)
	return len(line), nil
}

// Sent lists the texts that were accepted, in order.
func (c *Carrier) Sent() []Sent {
	var sent []Sent
	for _, m := range c.network.Sent("") {
		sent = append(sent, SentOf(m))
	}
	return sent
}

// Reporting is the number of texts whose reports are not taken yet.
func (c *Carrier) Reporting() int { return c.network.Unreported() }

// Deliver posts a webhook until one of the starters takes it. It fails when ctx
// ends, the carrier closes, or the form is refused for good.
func (c *Carrier) Deliver(ctx context.Context, address string, form url.Values) error {
	return c.network.Deliver(ctx, address, form) //nolint:wrapcheck // names the text
}

// Close ends the webhooks that are under way.
func (c *Carrier) Close() error { return c.network.Close() } //nolint:wrapcheck // says what it closes

// processKey is the context's key of the process that asks.
type processKey struct{}

func processOf(r *http.Request) string {
	name, _ := r.Context().Value(processKey{}).(string)
	return name
}

// serveProcesses serves a stand-in at paths that begin with the name of the
// process that asks.
func serveProcesses(pattern string, standIn http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		process := r.PathValue("process")
		r = r.WithContext(context.WithValue(r.Context(), processKey{}, process))
		http.StripPrefix("/"+process, standIn).ServeHTTP(w, r)
	})
	return mux
}

// Handler serves the Messages API under /{process}/.
func (c *Carrier) Handler() http.Handler {
	return serveProcesses("/{process}/2010-04-01/", c.network.Handler())
}

// serveSend is the send of one text.
func (c *Carrier) serveSend(w http.ResponseWriter, r *http.Request, send *twilio.Send) {
	// Each send makes its own connection, which may be slow.
	w.Header().Set("Connection", "close")
	process := processOf(r)
	if c.board.Pass(r.Context(), BeforeAcceptance, process) {
		panic(http.ErrAbortHandler)
	}
	fault, faulty := c.board.Take(TargetCarrier)
	if faulty && refuseSend(w, r, fault) {
		return
	}
	message, accepted := send.Accept()
	if !accepted {
		return
	}
	text := SentOf(message)
	c.trace.Note("carrier took %s for %s from %s: %.60q", text.Outbox, text.Phone, process, text.Body)
	number := c.accepted.Add(1)
	answer := func() bool {
		if loseAnswer(w, r, fault) {
			return false
		}
		// The process that asked may be killed, and its request with it.
		ctx := context.WithoutCancel(r.Context())
		if c.board.Pass(ctx, AfterAcceptance, process) {
			panic(http.ErrAbortHandler)
		}
		send.Answer()
		_ = http.NewResponseController(w).Flush()
		return !c.board.Pass(ctx, AfterAnswer, process)
	}
	if number%3 == 0 {
		// The report may overtake the answer.
		send.Report(c.report(0))
		answer()
		return
	}
	answered := false
	defer func() {
		hold := time.Duration(0)
		if !answered && number%2 == 0 {
			hold = slowReport
		}
		send.Report(c.report(hold))
	}()
	answered = answer()
}

// report is the delivery report of the next text, with the fault that waits for
// one.
func (c *Carrier) report(hold time.Duration) twilio.Report {
	report := twilio.Report{After: hold, States: []string{"queued", "sent", "delivered"}}
	switch fault, _ := c.board.Take(TargetCallback); fault {
	case FaultLate:
		report.After += lateBy
	case FaultReversed:
		slices.Reverse(report.States)
	case FaultTwice:
		report.Twice = true
	case FaultBusy, FaultError, FaultGateway, FaultReset, FaultHang, FaultMalformed, FaultTimeoutAfter, FaultResetAfter,
		FaultGarbledAfter, FaultCodedBefore, FaultCodedAfter, FaultSlow, FaultRefused:
	}
	return report
}

// loseAnswer serves the faults after acceptance; false: the text is to be
// answered.
func loseAnswer(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	switch fault {
	case FaultTimeoutAfter:
		twilio.Pause(r.Context(), hangLimit)
		panic(http.ErrAbortHandler)
	case FaultResetAfter:
		twilio.Reset(w)
	case FaultGarbledAfter:
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "<html>")
	case FaultCodedAfter:
		twilio.Refuse(w, http.StatusInternalServerError, 20500)
	case FaultBusy, FaultError, FaultGateway, FaultReset, FaultHang, FaultMalformed, FaultLate, FaultTwice, FaultReversed,
		FaultCodedBefore, FaultSlow, FaultRefused:
		return false
	default: // No fault.
		return false
	}
	return true
}

// refuseSend serves the faults before acceptance; false: the fault is of another
// kind.
func refuseSend(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	switch fault {
	case FaultBusy:
		twilio.Refuse(w, http.StatusTooManyRequests, 20429)
	case FaultGateway:
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>")
	case FaultReset:
		twilio.Reset(w)
	case FaultHang:
		twilio.Pause(r.Context(), hangLimit)
		panic(http.ErrAbortHandler)
	case FaultCodedBefore:
		twilio.Refuse(w, http.StatusServiceUnavailable, 20503)
	case FaultError, FaultMalformed, FaultTimeoutAfter, FaultResetAfter, FaultGarbledAfter, FaultLate, FaultTwice, FaultReversed,
		FaultCodedAfter, FaultSlow, FaultRefused:
		return false
	}
	return true
}

// serveList is the list of the texts to a phone.
func (c *Carrier) serveList(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	fault, faulty := c.board.Take(TargetLookup)
	switch {
	case faulty && fault == FaultReset:
		twilio.Reset(w)
		return
	case faulty:
		twilio.Refuse(w, http.StatusServiceUnavailable, 20503)
		return
	}
	c.trace.Note("carrier was asked by %s what it sent to %s", processOf(r), r.URL.Query().Get("To"))
	next(w, r)
}
