package harness

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The account that the product is told it has.
const (
	AccountSID = "AC0123456789abcdef0123456789abcdef"
	AuthToken  = "chaoschaoschaoschaoschaoschaos00"
	OurNumber  = "+15005550006"
)

const (
	apiVersion = "2010-04-01"
	// hangLimit is longer than the product waits for the carrier.
	hangLimit = 12 * time.Second
	// hookLimit bounds one webhook; the real carrier waits as long.
	hookLimit = 15 * time.Second
	lateBy    = 5 * time.Second
	// slowReport is longer than the product waits before it asks whether a text
	// arrived, so that the report does not save it from asking.
	slowReport = 35 * time.Second
	maxBody    = 1 << 20
)

// Sent is a text that the carrier took.
type Sent struct {
	SID   string
	Phone string
	Body  string
	// Outbox is our own id, from the address of the status callback.
	Outbox   string
	At       time.Time
	callback string
	number   int64
}

// Carrier is a Twilio-shaped carrier that remembers every text it took.
type Carrier struct {
	board *Board
	trace *Trace
	doors []string
	http  *http.Client
	next  atomic.Int64
	// reports counts the delivery reports that are not taken yet.
	reports atomic.Int64

	mu   sync.Mutex
	sent []Sent
}

// NewCarrier posts its webhooks to doors, the base addresses of the starters.
func NewCarrier(board *Board, trace *Trace, doors []string) *Carrier {
	return &Carrier{board: board, trace: trace, doors: doors, http: &http.Client{Timeout: hookLimit}}
}

// Sent lists the texts that were taken, in order.
func (c *Carrier) Sent() []Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

// Reporting is the number of texts whose reports are under way.
func (c *Carrier) Reporting() int { return int(c.reports.Load()) }

// Handler serves the Messages API under /{process}/.
func (c *Carrier) Handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{process}/"+apiVersion+"/Accounts/{account}/Messages.json",
		func(w http.ResponseWriter, r *http.Request) { c.take(ctx, w, r) })
	mux.HandleFunc("GET /{process}/"+apiVersion+"/Accounts/{account}/Messages.json", c.list)
	return mux
}

// take is the send of one text.
func (c *Carrier) take(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		Refuse(w, http.StatusBadRequest, 20001)
		return
	}
	// Each send makes its own connection, which may be slow.
	w.Header().Set("Connection", "close")
	process := r.PathValue("process")
	if c.board.Pass(r.Context(), BeforeAcceptance, process) {
		panic(http.ErrAbortHandler)
	}
	fault, spoilt := c.board.Take(TargetCarrier)
	if spoilt && refusedAs(w, r, fault) {
		return
	}
	text := c.keep(r.PostForm)
	c.trace.Note("carrier took %s for %s from %s: %.60q", text.Outbox, text.Phone, process, text.Body)
	c.reports.Add(1)
	pass := func(point Point) bool { return c.board.Pass(ctx, point, process) }
	if text.number%3 == 0 {
		// The report may overtake the answer.
		go c.report(ctx, text, 0)
		taking{text, fault}.reply(w, r, pass)
		return
	}
	heard := false
	defer func() {
		hold := time.Duration(0)
		if !heard && text.number%2 == 0 {
			hold = slowReport
		}
		go c.report(ctx, text, hold)
	}()
	heard = taking{text, fault}.reply(w, r, pass)
}

// taking is a send that was taken, and what goes wrong with its answer.
type taking struct {
	text  Sent
	fault Fault
}

// reply answers, or does not; true: the answer reached a process that lived to
// record it.
func (t taking) reply(w http.ResponseWriter, r *http.Request, pass func(Point) bool) (heard bool) {
	switch t.fault {
	case FaultTimeoutAfter:
		Pause(r.Context(), hangLimit)
		panic(http.ErrAbortHandler)
	case FaultResetAfter:
		Reset(w)
		return false
	case FaultGarbledAfter:
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "<html>")
		return false
	case FaultCodedAfter:
		Refuse(w, http.StatusInternalServerError, 20500)
		return false
	case FaultBusy, FaultError, FaultGateway, FaultReset, FaultHang, FaultMalformed, FaultLate, FaultTwice, FaultReversed,
		FaultCodedBefore, FaultSlow, FaultRefused:
	}
	if pass(AfterAcceptance) {
		panic(http.ErrAbortHandler)
	}
	WriteJSON(w, http.StatusCreated, t.text.Resource())
	_ = http.NewResponseController(w).Flush()
	return !pass(AfterAnswer)
}

// refusedAs serves the faults before acceptance; false: the fault is of
// another kind.
func refusedAs(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	switch fault {
	case FaultBusy:
		Refuse(w, http.StatusTooManyRequests, 20429)
	case FaultGateway:
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>")
	case FaultReset:
		Reset(w)
	case FaultHang:
		Pause(r.Context(), hangLimit)
		panic(http.ErrAbortHandler)
	case FaultCodedBefore:
		Refuse(w, http.StatusServiceUnavailable, 20503)
	case FaultError, FaultMalformed, FaultTimeoutAfter, FaultResetAfter, FaultGarbledAfter, FaultLate, FaultTwice, FaultReversed,
		FaultCodedAfter, FaultSlow, FaultRefused:
		return false
	}
	return true
}

func (c *Carrier) keep(form url.Values) Sent {
	number := c.next.Add(1)
	text := Sent{
		SID: fmt.Sprintf("SM%032x", number), number: number, Phone: form.Get("To"), Body: form.Get("Body"),
		callback: form.Get("StatusCallback"), At: time.Now(),
	}
	if u, err := url.Parse(text.callback); err == nil {
		text.Outbox = u.Query().Get("outbox")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, text)
	return text
}

// Resource is Twilio's shape of a text.
func (s Sent) Resource() map[string]any {
	return map[string]any{
		"account_sid": AccountSID, "api_version": apiVersion, "sid": s.SID, "body": s.Body,
		"direction": "outbound-api", "from": OurNumber, "to": s.Phone, "status": "queued",
		"num_segments": "1", "num_media": "0", "error_code": nil, "error_message": nil,
		"date_created": s.At.UTC().Format(time.RFC1123Z), "date_updated": s.At.UTC().Format(time.RFC1123Z), "date_sent": nil,
	}
}

// list is the look-up of the texts to a phone, newest first.
func (c *Carrier) list(w http.ResponseWriter, r *http.Request) {
	if fault, spoilt := c.board.Take(TargetLookup); spoilt {
		if fault == FaultReset {
			Reset(w)
			return
		}
		Refuse(w, http.StatusServiceUnavailable, 20503)
		return
	}
	to, found := r.URL.Query().Get("To"), []map[string]any{}
	for _, text := range slices.Backward(c.Sent()) {
		if to == "" || text.Phone == to {
			found = append(found, text.Resource())
		}
	}
	c.trace.Note("carrier was asked by %s what it sent to %s: %d texts", r.PathValue("process"), to, len(found))
	WriteJSON(w, http.StatusOK, map[string]any{
		"messages": found, "page": 0, "page_size": len(found), "next_page_uri": nil, "previous_page_uri": nil,
	})
}

// report posts what became of a text.
func (c *Carrier) report(ctx context.Context, text Sent, hold time.Duration) {
	defer c.reports.Add(-1)
	if !Pause(ctx, hold) {
		return
	}
	states := []string{"queued", "sent", "delivered"}
	fault, spoilt := c.board.Take(TargetCallback)
	if spoilt && fault == FaultLate && !Pause(ctx, lateBy) {
		return
	}
	if fault == FaultReversed {
		slices.Reverse(states)
	}
	if text.callback == "" {
		return
	}
	for _, state := range states {
		form := url.Values{
			"MessageSid": {text.SID}, "SmsSid": {text.SID}, "MessageStatus": {state}, "SmsStatus": {state},
			"AccountSid": {AccountSID}, "ApiVersion": {apiVersion}, "From": {OurNumber}, "To": {text.Phone},
		}
		times := 1
		if fault == FaultTwice {
			times = 2
		}
		for range times {
			if c.Post(ctx, text.callback, form) != nil {
				return
			}
		}
	}
}

// Post delivers a webhook, again and again until one of the starters takes it.
// It fails when ctx ends or the form is refused for good.
func (c *Carrier) Post(ctx context.Context, address string, form url.Values) error {
	wait := 50 * time.Millisecond
	for try := 0; ; try++ {
		code, err := c.post(ctx, c.doors[try%len(c.doors)], address, form)
		switch {
		case err == nil && code < http.StatusMultipleChoices:
			return nil
		case err == nil && code < http.StatusInternalServerError:
			c.trace.Note("webhook of %s refused with %d", form.Get("MessageSid"), code)
			return fmt.Errorf("webhook of %s refused with %d", form.Get("MessageSid"), code)
		}
		if !Pause(ctx, wait) {
			return ctx.Err()
		}
		wait = min(2*wait, time.Second)
	}
}

// post signs the public address and sends the request to one starter.
func (c *Carrier) post(ctx context.Context, door, address string, form url.Values) (int, error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, fmt.Errorf("reading a webhook's address: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, door+u.RequestURI(), strings.NewReader(form.Encode()))
	if err != nil {
		return 0, fmt.Errorf("building a webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	req.Header.Set("X-Twilio-Signature", Sign(address, form))
	res, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("posting a webhook: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxBody))
	return res.StatusCode, nil
}

// Sign computes the carrier's signature: the address and each field's name and
// value, names sorted, without separators.
func Sign(address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(AuthToken))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		mac.Write([]byte(name + form.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Refuse answers with an error in the shape of Twilio.
func Refuse(w http.ResponseWriter, status, code int) {
	WriteJSON(w, status, map[string]any{"code": code, "message": "refused", "status": status, "more_info": "https://www.twilio.com/docs/errors/" + strconv.Itoa(code)})
}

// WriteJSON answers with a status and a JSON body.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
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
