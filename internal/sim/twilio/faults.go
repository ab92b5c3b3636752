package twilio

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// target is what a fault hits. For carrier, lookup and model a call is one
// HTTP request to us; for callback it is one text with all its status
// callbacks; for inbound one text of a phone with its webhook.
type target string

const (
	targetCarrier  target = "carrier" // sending
	targetLookup   target = "lookup"  // reading texts back
	targetModel    target = "model"
	targetCallback target = "callback"
	targetInbound  target = "inbound"
)

// kind is how a call goes wrong.
type kind string

const (
	kindTimeoutAfter kind = "timeout_after_accept" // done, and never answered
	kindTimeout      kind = "timeout"              // not done, cut after the delay
	kindHang         kind = "hang"                 // not done, held until the caller gives up
	kindReset        kind = "reset"                // connection reset; callback: never posted
	kindHTTP         kind = "http"                 // refused with status and code
	kindLate         kind = "late"                 // done, answered or posted after the delay
	kindMalformed    kind = "malformed"            // done, unreadable answer; webhooks: wrong signature
	kindTwice        kind = "twice"                // every webhook posted twice
	kindOutOfOrder   kind = "out_of_order"         // status callbacks in reverse order
	kindLost         kind = "undelivered"          // taken and lost on the way, with code or 30003
)

const (
	timeoutDelay = 30 * time.Second
	lateDelay    = 2 * time.Second
	maxCount     = 1000
	maxFired     = 500
)

func kindsOf(t target) []kind {
	calls := []kind{kindTimeout, kindHang, kindReset, kindHTTP, kindLate, kindMalformed}
	switch t {
	case targetCarrier, targetModel:
		return append(calls, kindTimeoutAfter)
	case targetLookup:
		return calls
	case targetCallback:
		return []kind{kindLate, kindTwice, kindOutOfOrder, kindMalformed, kindReset, kindLost}
	case targetInbound:
		return []kind{kindLate, kindTwice, kindMalformed}
	}
	return nil
}

// fault is an order to let the next Count calls go wrong.
type fault struct {
	Target target `json:"target"`
	Kind   kind   `json:"kind"`
	Count  int    `json:"count"`
	// Status and Code: what http answers, and the status of malformed.
	Status int `json:"status,omitempty"`
	Code   int `json:"code,omitempty"`
	// RetryAfter is in seconds, DelayMS in milliseconds.
	RetryAfter int `json:"retry_after,omitempty"`
	DelayMS    int `json:"delay_ms,omitempty"`
	// To limits the fault to one phone.
	To string `json:"to,omitempty"`
}

func (f fault) delay(otherwise time.Duration) time.Duration {
	if f.DelayMS > 0 {
		return time.Duration(f.DelayMS) * time.Millisecond
	}
	return otherwise
}

// setDefaults fills in what was left out; a field's name and a problem when the
// order makes no sense.
func (f *fault) setDefaults() (field, problem string) {
	if f.Count == 0 {
		f.Count = 1
	}
	if f.Status == 0 {
		f.Status = f.usualStatus()
	}
	if field, problem = f.checkPlace(); field != "" {
		return field, problem
	}
	return f.checkNumbers()
}

func (f *fault) checkPlace() (field, problem string) {
	kinds := kindsOf(f.Target)
	switch {
	case kinds == nil:
		return "target", "want one of carrier, lookup, model, callback, inbound"
	case !slices.Contains(kinds, f.Kind):
		return "kind", "want one of " + listKinds(kinds) + " for target " + string(f.Target)
	case f.To == "":
		return "", ""
	case f.Target == targetModel || f.Target == targetLookup:
		return "to", "a call of " + string(f.Target) + " belongs to no phone"
	case !e164.MatchString(f.To):
		return "to", "want a number with + and country code"
	}
	return "", ""
}

func (f *fault) checkNumbers() (field, problem string) {
	lowest := http.StatusOK
	if f.Kind == kindHTTP {
		lowest = http.StatusBadRequest
	}
	switch {
	case f.Count < 1 || f.Count > maxCount:
		return "count", "want 1 to " + strconv.Itoa(maxCount)
	case f.Status != 0 && (f.Status < lowest || f.Status > 599):
		return "status", "want an HTTP status from " + strconv.Itoa(lowest) + " to 599"
	case f.RetryAfter < 0:
		return "retry_after", "want seconds, 0 or more"
	case f.DelayMS < 0:
		return "delay_ms", "want milliseconds, 0 or more"
	}
	return "", ""
}

func (f *fault) usualStatus() int {
	switch {
	case f.Kind == kindHTTP:
		return httpStatus(f.Code)
	case f.Kind == kindMalformed && f.Target == targetModel:
		return http.StatusOK
	case f.Kind == kindMalformed && (f.Target == targetCarrier || f.Target == targetLookup):
		return http.StatusBadGateway
	}
	return 0
}

func listKinds(kinds []kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// firing is a fault that hit a call.
type firing struct {
	Target target    `json:"target"`
	Kind   kind      `json:"kind"`
	Phone  string    `json:"phone,omitempty"`
	At     time.Time `json:"at"`
}

type faults struct {
	mu    sync.Mutex
	now   func() time.Time
	armed []fault
	fired []firing
}

func newFaults(now func() time.Time) *faults { return &faults{now: now} }

// takeFault uses up the oldest fault that matches a call; number is empty where the
// call belongs to no phone.
func (fs *faults) takeFault(t target, number string) (fault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	at := slices.IndexFunc(fs.armed, func(f fault) bool { return f.Target == t && (f.To == "" || f.To == number) })
	if at < 0 {
		return fault{}, false
	}
	f := fs.armed[at]
	if fs.armed[at].Count--; fs.armed[at].Count == 0 {
		fs.armed = slices.Delete(fs.armed, at, at+1)
	}
	fs.fired = append(fs.fired, firing{Target: t, Kind: f.Kind, Phone: number, At: fs.now().UTC()})
	if len(fs.fired) > maxFired {
		fs.fired = fs.fired[1:]
	}
	return f, true
}

func (s *Server) armFault(w http.ResponseWriter, r *http.Request) {
	var f fault
	if !readJSON(w, r, &f) {
		return
	}
	if field, problem := f.setDefaults(); field != "" {
		badField(w, field, problem)
		return
	}
	s.faults.mu.Lock()
	s.faults.armed = append(s.faults.armed, f)
	s.faults.mu.Unlock()
	writeJSON(w, http.StatusCreated, f)
}

// listFaults shows what is armed, with the calls that are left, and what fired.
func (s *Server) listFaults(w http.ResponseWriter, _ *http.Request) {
	s.faults.mu.Lock()
	armed := append([]fault{}, s.faults.armed...)
	fired := append([]firing{}, s.faults.fired...)
	s.faults.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"armed": armed, "fired": fired})
}

func (s *Server) clearFaults(w http.ResponseWriter, _ *http.Request) {
	s.faults.mu.Lock()
	s.faults.armed, s.faults.fired = nil, nil
	s.faults.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// answer holds what a handler wrote until it may be sent.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) } //nolint:wrapcheck // never fails

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) { a.code = code }

func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body.Bytes())
}

// serveFault serves a call as the fault says; refuse writes the service's own shape
// of an error.
func (s *Server) serveFault(f fault, refuse func(http.ResponseWriter, fault), next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		held := &answer{header: http.Header{}, code: http.StatusOK}
		switch f.Kind {
		case kindHTTP:
			if f.RetryAfter > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
			}
			refuse(w, f)
		case kindLate:
			next(held, r)
			Pause(s.closing, f.delay(lateDelay))
			held.send(w)
		case kindMalformed:
			next(held, r)
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(f.Status)
			_, _ = io.WriteString(w, "<html><body><h1>Bad gateway</h1></body>")
		case kindTimeoutAfter:
			next(held, r)
			s.hold(r.Context(), f.delay(timeoutDelay))
			panic(http.ErrAbortHandler)
		case kindTimeout:
			s.hold(r.Context(), f.delay(timeoutDelay))
			panic(http.ErrAbortHandler)
		case kindHang:
			s.hold(r.Context(), f.delay(0))
			panic(http.ErrAbortHandler)
		case kindReset:
			Reset(w)
		case kindTwice, kindOutOfOrder, kindLost:
			next(w, r) // For webhooks only; never armed for a call to us.
		}
	}
}

// hold waits until the caller gives up, the server closes, or the limit is
// over; a limit of 0 is none.
func (s *Server) hold(caller context.Context, limit time.Duration) {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	if limit > 0 {
		Pause(ctx, limit)
		return
	}
	<-ctx.Done()
}

// Reset closes the connection so that the caller sees a reset and no end.
func Reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
