package rig

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Carrier is a Twilio-shaped carrier that takes every text and remembers up to
// which text each phone was answered.
type Carrier struct {
	// reports: the carrier tells what became of each text.
	reports bool
	phones  *phones
	taken   atomic.Int64
	other   atomic.Int64
	group   sync.WaitGroup

	mu      sync.Mutex
	waiting map[string][]*Wait
}

// Wait is one expected text.
type Wait struct {
	least int
	got   chan time.Time
}

func newCarrier(reports bool, p *phones) *Carrier {
	return &Carrier{reports: reports, phones: p, waiting: map[string][]*Wait{}}
}

// Taken counts the texts that were posted.
func (c *Carrier) Taken() int { return int(c.taken.Load()) }

// Other counts the posted texts that the model did not write: fixed texts and
// fallbacks.
func (c *Carrier) Other() int { return int(c.other.Load()) }

// Expect waits for a text to a phone that answers its nth text or a later one;
// 0 takes any text of the model.
func (c *Carrier) Expect(phone string, least int) *Wait {
	w := &Wait{least: least, got: make(chan time.Time, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[phone] = append(c.waiting[phone], w)
	return w
}

// At is when the carrier had the text; an error when ctx ends first.
func (w *Wait) At(ctx context.Context) (time.Time, error) {
	select {
	case at := <-w.got:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("waiting for an answer to text %d: %w", w.least, context.Cause(ctx))
	}
}

// ServeHTTP implements http.Handler: the send of one text.
func (c *Carrier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	number := c.taken.Add(1)
	sid := fmt.Sprintf("SM%032x", number)
	c.arrived(r.PostForm.Get("To"), r.PostForm.Get("Body"), at)
	reply(w, http.StatusCreated, map[string]any{
		"account_sid": accountSID, "api_version": "2010-04-01", "sid": sid, "body": r.PostForm.Get("Body"),
		"direction": "outbound-api", "from": ourNumber, "to": r.PostForm.Get("To"), "status": "queued",
		"num_segments": "1", "num_media": "0", "error_code": nil, "error_message": nil,
		"date_created": at.UTC().Format(time.RFC1123Z), "date_updated": at.UTC().Format(time.RFC1123Z), "date_sent": nil,
	})
	if callback := r.PostForm.Get("StatusCallback"); c.reports && callback != "" {
		ctx := context.WithoutCancel(r.Context())
		c.group.Go(func() {
			// Best effort, like the carrier's own.
			_ = c.phones.post(ctx, callback, url.Values{"MessageSid": {sid}, "AccountSid": {accountSID}, "MessageStatus": {"delivered"}})
		})
	}
}

func (c *Carrier) arrived(phone, body string, at time.Time) {
	n, ours := heardIn(body)
	if !ours {
		c.other.Add(1)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []*Wait
	for _, w := range c.waiting[phone] {
		if n >= w.least {
			w.got <- at
			continue
		}
		left = append(left, w)
	}
	if len(left) == 0 {
		delete(c.waiting, phone)
		return
	}
	c.waiting[phone] = left
}
