package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"coachline/internal/sim/twilio"
)

// scenario is one kind of turn: what happens, and what has to come of it.
type scenario struct {
	name string
	// settings are the product's, over those of every scenario.
	settings []string
	thinking time.Duration // of the model
	// listLag is how late the carrier's list shows a text; 0 is the usual one.
	listLag time.Duration
	// act makes it happen. It may wait for the carrier to take texts.
	act func(*turn) error
	// want is what the person has on the phone in the end.
	want expectation
}

// expectation is judged for each run.
type expectation struct {
	replies   int // texts of the person, each answered once and in order
	prompts   int
	reminders int
	operator  int
	help      int
	safety    int
	schedules int
	goal      bool // the profile was saved once
	stopped   bool // one confirmation, and nothing after the STOP was taken
}

// turn is one run of a scenario for one person.
type turn struct {
	*installation
	number  string // of the phone
	id      string
	texts   int
	stopAt  time.Time // when a STOP was taken
	missing string    // what act waited for in vain
}

// waitLimit bounds the wait for one text.
const waitLimit = 4 * time.Minute

// enrol signs a new person up and waits for the greeting.
func (l *installation) enrol() (*turn, error) {
	l.mu.Lock()
	l.people++
	t := &turn{installation: l, number: fmt.Sprintf("+1202555%04d", 100+l.people)}
	name := fmt.Sprintf("p%d", l.people)
	l.mu.Unlock()
	var view struct {
		Result struct {
			ID string `json:"id"`
		} `json:"result"`
	}
	body := map[string]any{"phone_number": t.number, "name": name, "timezone": "UTC", "signup": true}
	if err := t.callAPI(http.MethodPost, "/conversation/participants", "", body, &view); err != nil {
		return nil, err
	}
	t.id = view.Result.ID
	if !t.waitFor("greeting", 1) {
		return nil, errors.New("no greeting")
	}
	return t, t.settle()
}

// callAPI calls the product as an operator does, until it is answered.
func (t *turn) callAPI(method, path, key string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("writing a request: %w", err)
	}
	return t.repeat(func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, method, publicURL+path, bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("building a request: %w", err)
		}
		req.Header.Set("Content-Type", "application/json")
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		return req, nil
	}, func(answer []byte) error {
		if out == nil {
			return nil
		}
		return json.Unmarshal(answer, out)
	})
}

// say has the person text; it returns when the text was taken.
func (t *turn) say(body string) error {
	t.texts++
	return t.sendText(fmt.Sprintf("m%04d %s", t.texts, body), t.texts)
}

func (t *turn) sendText(body string, number int) error {
	return t.carrier.Deliver(t.ctx, publicURL+"/twilio/inbound", twilio.InboundForm(twilio.Inbound{
		AccountSID: accountSID, SID: fmt.Sprintf("SM%s%021d", t.number[1:], number), From: t.number, To: ourNumber, Body: body,
	}))
}

// sentTexts are the texts that the carrier accepted for the person's phone.
func (t *turn) sentTexts() []sentText {
	var sent []sentText
	for _, m := range t.carrier.Sent(t.number) {
		sent = append(sent, toSent(m))
	}
	return sent
}

// countKinds counts the texts on the phone by the kind of their rows.
func (t *turn) countKinds() map[string]int {
	counts := map[string]int{}
	for _, text := range t.sentTexts() {
		var kind string
		if err := t.scan(&kind, `SELECT kind FROM outbox WHERE id = ?`, text.Outbox); err != nil {
			kind = "without a row"
		}
		counts[kind]++
	}
	return counts
}

// waitFor waits for the nth text of a kind; false: it never came.
func (t *turn) waitFor(kind string, n int) bool {
	ctx, cancel := context.WithTimeout(t.ctx, waitLimit)
	defer cancel()
	for again := true; again; again = twilio.Pause(ctx, lookEvery) {
		counts := t.countKinds()
		if counts[kind] >= n {
			return true
		}
		if rows, err := t.outbox(); err == nil && isNudgeLost(kind, rows, counts[kind]) {
			return true // nothing of the kind will come any more
		}
	}
	t.missing = fmt.Sprintf("%s number %d", kind, n)
	return false
}

func scenarios() []*scenario {
	return []*scenario{
		{
			name: "reply", want: expectation{replies: 1},
			act: func(t *turn) error { return t.say("hello") },
		},
		{
			name: "tools", want: expectation{replies: 1, schedules: 1, goal: true},
			act: func(t *turn) error { return t.say("daily " + clockIn(12*time.Hour) + " goal walking") },
		},
		{
			name: "prompt", want: expectation{replies: 1, schedules: 1, prompts: 1, reminders: 1},
			act: func(t *turn) error {
				if err := t.say("daily " + clockIn(3*time.Minute)); err != nil {
					return err
				}
				t.waitFor("prompt", 1)
				t.waitFor("reminder", 1)
				return nil
			},
		},
		{
			name: "stop", want: expectation{stopped: true}, thinking: time.Second,
			act: stopDuringCall,
		},
		{
			name: "continue", want: expectation{replies: 2}, settings: []string{"COACH_CONTINUE_AS_NEW_EVENTS=10"},
			act: func(t *turn) error {
				for n := range 2 {
					if err := t.say("hello"); err != nil {
						return err
					}
					t.waitFor("reply", n+1)
				}
				return nil
			},
		},
		{
			name: "operator", want: expectation{operator: 1, help: 1}, settings: []string{"COACH_CONTINUE_AS_NEW_EVENTS=10"},
			act: func(t *turn) error {
				err := t.callAPI(http.MethodPost, "/conversation/participants/"+t.id+"/messages", "key-"+t.id, map[string]string{"body": "from the operator"}, nil)
				if err != nil {
					return err
				}
				t.waitFor("operator", 1)
				return t.sendText("HELP", 9000)
			},
		},
	}
}

// clockIn is a local time of day at the least that far away.
func clockIn(d time.Duration) string {
	return time.Now().UTC().Add(d + time.Minute).Format("15:04")
}

// stopDuringCall texts, and opts out while the model is asked.
func stopDuringCall(t *turn) error {
	var failed error
	var group sync.WaitGroup
	group.Add(1)
	t.onModelCall(func() {
		go func() {
			defer group.Done()
			failed = t.sendText("STOP", 9999)
			t.stopAt = time.Now()
		}()
	})
	if err := t.say("hello"); err != nil {
		return err
	}
	group.Wait()
	t.waitFor("consent", 1)
	return failed
}
