package twilio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Message is a text that the network accepted from the app.
type Message struct {
	SID, To, Body string
	// Callback is the address of its delivery reports.
	Callback string
	At       time.Time
}

func (t text) message() Message {
	return Message{SID: t.SID, To: t.Phone, Body: t.Body, Callback: t.Callback, At: t.CreatedAt}
}

// Report says how the delivery of a text is reported.
type Report struct {
	// After passes before the first state is reported.
	After time.Duration
	// States are reported one after the other; nil is queued, sent, delivered.
	States []string
	// Twice posts every state twice.
	Twice bool
}

// Send is one request to send. OnSend calls Accept, Answer and Report in this
// order, each once, or leaves out the later ones.
type Send struct {
	server *Server
	w      http.ResponseWriter
	form   url.Values
	text   text
}

// To is the number that the text goes to.
func (s *Send) To() string { return s.form.Get("To") }

// Accept takes the text. False: Twilio would refuse the request, and the refusal
// has been answered.
func (s *Send) Accept() (Message, bool) {
	form := s.form
	ask := sending{
		to: form.Get("To"), from: form.Get("From"), service: form.Get("MessagingServiceSid"),
		body: form.Get("Body"), callback: form.Get("StatusCallback"), validity: form.Get("ValidityPeriod"),
	}
	if bad := s.server.check(ask); bad != nil {
		bad.writeTo(s.w, httpStatus(bad.code))
		return Message{}, false
	}
	t := text{Phone: ask.to, Direction: toPhone, Body: ask.body, Status: statusQueued, Callback: ask.callback}
	if ask.service != "" {
		t.Service, t.Status = ask.service, statusAccepted
	}
	if t.Callback == "" {
		t.Callback = s.server.cfg.StatusURL
	}
	var err error
	if s.text, err = s.server.network.add(t, s.server.cfg.Forget); err != nil {
		s.server.cfg.Logger.Error("simulator cannot keep a text", "error", err)
		Refuse(s.w, http.StatusInternalServerError, codeInternal)
		return Message{}, false
	}
	return s.text.message(), true
}

// Answer tells the app that the text was accepted.
func (s *Send) Answer() { writeJSON(s.w, http.StatusCreated, s.server.resource(s.text)) }

// Report reports the delivery of the accepted text. It returns at once.
func (s *Send) Report(r Report) { s.server.courier.startReport(s.text, r) }

func (s *Server) serveSend(w http.ResponseWriter, r *http.Request) {
	send := &Send{server: s, w: w, form: r.PostForm}
	if s.cfg.OnSend != nil {
		s.cfg.OnSend(w, r, send)
		return
	}
	if _, accepted := send.Accept(); accepted {
		send.Report(Report{})
		send.Answer()
	}
}

func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	if s.cfg.OnList != nil {
		s.cfg.OnList(w, r, s.listMessages)
		return
	}
	s.listMessages(w, r)
}

// Sent lists the texts that were accepted, in order; to limits the list to one
// phone unless it is empty.
func (s *Server) Sent(to string) []Message {
	texts := s.network.listTexts(func(t text) bool { return t.Direction == toPhone && (to == "" || t.Phone == to) })
	sent := make([]Message, len(texts))
	for i, t := range texts {
		sent[i] = t.message()
	}
	return sent
}

// Unreported counts the accepted texts whose last state the app has not taken.
func (s *Server) Unreported() int {
	return len(s.network.listTexts(func(t text) bool { return t.Direction == toPhone && !t.Settled }))
}

// errUntaken is a webhook that the app refused, or did not take in time.
var errUntaken = errors.New("the app did not take the webhook")

// Deliver posts a signed webhook until the app takes it. It fails when the app
// refuses it, does not take it within KeepTrying, ctx ends, or the server closes.
func (s *Server) Deliver(ctx context.Context, address string, form url.Values) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	if s.courier.deliver(ctx, webhook{address: address, form: form, key: s.cfg.AuthToken}) != taken {
		return fmt.Errorf("delivering %s: %w", form.Get("MessageSid"), errUntaken)
	}
	return nil
}

// Refuse answers in Twilio's shape of an error.
func Refuse(w http.ResponseWriter, status, code int) {
	refusal{code, message(code)}.writeTo(w, status)
}
