package rig

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"coachline/internal/sim/twilio"
	"coachline/internal/wait"
)

// Carrier is the stand-in of Twilio. It remembers up to which text each phone was
// answered.
type Carrier struct {
	// reports: the carrier tells what became of each text.
	reports bool
	network *twilio.Server
	taken   atomic.Int64
	other   atomic.Int64
	delay   atomic.Int64

	mu      sync.Mutex
	waiting map[string][]*Wait
}

// Wait is one expected text.
type Wait struct {
	least int
	got   chan time.Time
}

func newCarrier(reports bool) (*Carrier, error) {
	c := &Carrier{reports: reports, waiting: map[string][]*Wait{}}
	var err error
	c.network, err = twilio.New(twilio.Config{
		AccountSID: accountSID, AuthToken: authToken, From: ourNumber, OnSend: c.serveSend, HTTPClient: newClient(),
	})
	if err != nil {
		return nil, fmt.Errorf("building the carrier: %w", err)
	}
	return c, nil
}

// SetDelay is how long texts that come from now on wait for an answer once they
// were taken.
func (c *Carrier) SetDelay(d time.Duration) { c.delay.Store(int64(d)) }

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

func (c *Carrier) serveSend(_ http.ResponseWriter, r *http.Request, send *twilio.Send) {
	at := time.Now()
	message, accepted := send.Accept()
	if !accepted {
		return
	}
	c.taken.Add(1)
	c.noteArrival(message.To, message.Body, at)
	_ = wait.For(r.Context(), time.Duration(c.delay.Load())) // the caller may be gone
	send.Answer()
	if c.reports {
		send.Report(twilio.Report{States: []string{"delivered"}})
	}
}

// noteArrival wakes those who wait for the text.
func (c *Carrier) noteArrival(phone, body string, at time.Time) {
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
