package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"coachline/chaos/harness"
	"coachline/internal/sim/twilio"
)

// text is one text of a person that was taken with 200.
type text struct {
	token, sid string
	// wish is the local time of the daily prompt that it asks for.
	wish string
	// isDanger: it says that the person is in danger.
	isDanger bool
}

// ending is how a person leaves during the storm.
type ending int

const (
	stays ending = iota
	removed
	stopped
)

// person is a simulated person with a phone. Only its own goroutine writes to
// it, and the judge reads it afterwards.
type person struct {
	sys    *system
	random *rand.Rand

	name, number, id string
	index            int
	texts            []text
	// operator are the bodies of the operator's messages that were queued.
	operator []string
	ending   ending
	// leaveAt is the number of faults after which the ending comes.
	leaveAt int
	left    bool
	// leftAt is when the stop was taken.
	leftAt time.Time
	wishes int
	// danger is what the person says when in danger, dangerTexts how often that was.
	danger      dangerLevel
	dangerTexts int
}

// enrol enrols all people before the storm.
func (s *system) enrol(ctx context.Context) ([]*person, error) {
	people := make([]*person, s.settings.Phones)
	for i := range people {
		random := s.settings.randomSource(uint64(i) + 1)
		p := &person{
			sys: s, random: random, index: i,
			name: fmt.Sprintf("p%02d", i), number: fmt.Sprintf("+120255501%02d", i),
			leaveAt: s.settings.Faults * (30 + random.IntN(60)) / 100, danger: dangerOf(i),
		}
		switch i % 6 {
		case 4:
			p.ending = removed
		case 5:
			p.ending = stopped
		}
		var view struct {
			ID string `json:"id"`
		}
		body := map[string]any{"phone_number": p.number, "name": p.name, "timezone": "UTC", "signup": true}
		if err := s.api.call(ctx, call{method: http.MethodPost, path: apiPath, body: body}, &view); err != nil {
			return nil, fmt.Errorf("enrolling %s: %w", p.name, err)
		}
		p.id = view.ID
		s.trace.Note("%s is %s", p.name, p.id)
		people[i] = p
	}
	return people, nil
}

// textUntil texts until the storm ends; what was begun is finished.
func (p *person) textUntil(ctx, storm context.Context) error {
	for !p.left {
		pace := p.sys.settings.Pace
		if !twilio.Pause(storm, pace/4+time.Duration(p.random.Int64N(int64(pace)*3/2))) {
			return nil
		}
		if err := p.takeAction(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// takeAction is one thing that the person does, or that is done for them.
func (p *person) takeAction(ctx context.Context) error {
	if p.ending != stays && p.sys.board.Total() >= p.leaveAt {
		return p.leave(ctx)
	}
	if p.danger != silent && p.dangerTexts < mostDangerTexts && p.random.IntN(4) == 0 {
		return p.sendDangerText(ctx)
	}
	switch dice := p.random.IntN(20); {
	case dice == 0:
		return p.hearFromOperator(ctx)
	case dice <= 2 && p.index%2 == 0 && p.wishes < 4:
		p.wishes++
		// Within the time of preparation, so it is due at once.
		at := time.Now().UTC().Add(time.Duration(2+3*p.wishes) * time.Minute).Format("15:04")
		return p.say(ctx, "daily "+at, at)
	case dice <= 5:
		for range 2 + p.random.IntN(2) {
			if err := p.say(ctx, "and one more", ""); err != nil {
				return err
			}
		}
		return nil
	}
	return p.say(ctx, "hello", "")
}

// say texts, as often as the carrier has to. Sometimes the carrier delivers a
// text twice, at once or again later.
func (p *person) say(ctx context.Context, body, wish string) error {
	n := len(p.texts) + 1
	one := text{token: fmt.Sprintf("m%04d", n), sid: p.sid(n), wish: wish, isDanger: body == p.danger.dangerText() && p.danger != silent}
	if err := p.post(ctx, one, p.name+" "+one.token+" "+body, p.random.IntN(12) == 0); err != nil {
		return err
	}
	p.texts = append(p.texts, one)
	if p.random.IntN(10) == 0 {
		again := p.texts[p.random.IntN(len(p.texts))]
		p.sys.trace.Note("%s: %s is delivered again", p.name, again.token)
		return p.post(ctx, again, p.name+" "+again.token+" again", false)
	}
	return nil
}

// post delivers one text; twice means two deliveries in the same moment.
func (p *person) post(ctx context.Context, one text, body string, twice bool) error {
	form := twilio.InboundForm(twilio.Inbound{AccountSID: harness.AccountSID, SID: one.sid, From: p.number, To: harness.OurNumber, Body: body})
	times := 1
	if twice {
		times = 2
	}
	problems := make([]error, times)
	var group sync.WaitGroup
	for i := range times {
		group.Go(func() { problems[i] = p.sys.carrier.Deliver(ctx, publicURL+"/twilio/inbound", form) })
	}
	group.Wait()
	p.sys.trace.Note("%s: %s taken", p.name, one.token)
	return errors.Join(problems...)
}

// hearFromOperator queues an operator's message, twice with the same key.
func (p *person) hearFromOperator(ctx context.Context) error {
	body := fmt.Sprintf("operator to %s, number %d", p.name, len(p.operator)+1)
	c := call{
		method: http.MethodPost, path: apiPath + "/" + p.id + "/messages",
		key: strings.ReplaceAll(body, " ", "-"), body: map[string]string{"body": body},
	}
	for range 2 {
		if err := p.sys.api.call(ctx, c, nil); err != nil {
			return err
		}
	}
	p.operator = append(p.operator, body)
	return nil
}

// leave is the person's ending: removed by an operator, or a STOP.
func (p *person) leave(ctx context.Context) error {
	p.left = true
	if p.ending == removed {
		err := p.sys.api.call(ctx, call{method: http.MethodDelete, path: apiPath + "/" + p.id}, nil)
		var no *refusedError
		if errors.As(err, &no) && no.status == http.StatusNotFound {
			err = nil // An answer was lost; the removal was not.
		}
		p.leftAt = time.Now()
		p.sys.trace.Note("%s removed", p.name)
		return err
	}
	one := text{token: "STOP", sid: p.stopSID()}
	err := p.post(ctx, one, "STOP", false)
	p.leftAt = time.Now()
	return err
}
