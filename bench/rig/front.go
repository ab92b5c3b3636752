package rig

import (
	"context"
	"net/http"
	"sync"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// httpAPI is the HTTP side of an installation.
type httpAPI struct {
	base   string
	phones *phones
	people *people
}

// people are the participants' ids by phone.
type people struct {
	mu  sync.Mutex
	ids map[string]string
}

func newFront(base string, p *phones) httpAPI {
	return httpAPI{base: base, phones: p, people: &people{ids: map[string]string{}}}
}

// isReady reports whether the installation answers.
func (f httpAPI) isReady(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+"/readyz", nil)
	return err == nil && f.phones.do(req) == nil
}

// Enrol enrols a phone; the greeting goes out by itself.
func (f httpAPI) Enrol(ctx context.Context, phone string) error {
	var out struct {
		Result struct {
			ID string `json:"id"`
		} `json:"result"`
	}
	err := f.phones.send(ctx, f.base+"/conversation/participants", map[string]any{"phone_number": phone, "name": "Ann", "timezone": "UTC", "signup": true}, &out)
	if err != nil {
		return err
	}
	f.people.set(phone, out.Result.ID)
	return nil
}

// SetStatus pauses or resumes an enrolled phone; texts that waited are answered.
func (f httpAPI) SetStatus(ctx context.Context, phone string, status wire.Status) error {
	change := map[string]any{"status": status}
	if status == wire.StatusActive {
		change["waiting_messages"] = "answer"
	}
	return f.phones.change(ctx, f.base+"/conversation/participants/"+f.people.get(phone), change)
}

// Hold leaves prompts out until an instant.
func (f httpAPI) Hold(ctx context.Context, until time.Time) error {
	return f.phones.send(ctx, f.base+"/holds", map[string]any{"until": until}, nil)
}

// Text delivers a text as the carrier does, and returns with the webhook's
// answer.
func (f httpAPI) Text(ctx context.Context, phone, body string) error {
	return f.phones.text(ctx, f.base+"/twilio/inbound", phone, body)
}

// WorkflowID is the workflow of an enrolled phone.
func (f httpAPI) WorkflowID(phone string) string {
	return models.WorkflowID(f.people.get(phone))
}

func (p *people) get(phone string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[phone]
}

func (p *people) set(phone, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[phone] = id
}
