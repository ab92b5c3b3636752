package coach

import (
	"time"

	"coachline/models/wire"
)

// FirstGreeting returns when the greeting of a person who is enrolled alone and now goes
// out: now, outside quiet hours or if they have just signed up themselves, and otherwise
// at their share of the spread from the end of quiet hours, which ends for many. Files of
// people are spread by their Stagger.
func (s Input) FirstGreeting() (time.Time, error) {
	if s.State.SignedUp {
		return s.Now, nil
	}
	open, err := s.Opens()
	if err != nil || !open.After(s.Now) {
		return s.Now, err
	}
	return s.spreadFrom(open)
}

// handleEnrolment greets a new participant, or sets the time at which that is done. A
// person who signed up waits for the greeting as for a reply.
func handleEnrolment(s Input) (wire.Decision, error) {
	at := s.State.GreetingAt
	switch {
	case s.Rules.Silent:
		return wire.Decision{}, nil
	case at.IsZero(), s.State.SignedUp && s.Now.Sub(at) <= promptReply:
		return startTurn(s, wire.TurnPlan{Kind: wire.TurnGreeting}), nil
	case at.After(s.Now) && s.isActive():
		p := s.newPlan()
		p.setDue(wire.DueGreeting, "", at)
		return p.toDecision(), nil
	}
	return handleDueGreeting(s)
}

// greetingWaits reports whether the conversation has still to begin.
func (s Input) greetingWaits() bool { return !s.State.GreetingAt.IsZero() }

// handleDueGreeting begins the conversation, outside quiet hours. A reply that
// is about to be written does so too.
func handleDueGreeting(s Input) (wire.Decision, error) {
	if !s.canSpeakFirst() || !s.greetingWaits() {
		return wire.Decision{}, nil
	}
	quiet, err := s.Opens()
	if err != nil {
		return wire.Decision{}, err
	}
	p := s.newPlan()
	if quiet.After(s.Now) {
		at, err := s.spreadFrom(quiet)
		p.setDue(wire.DueGreeting, "", at)
		return p.toDecision(), err
	}
	p.startTurn(wire.TurnPlan{Kind: wire.TurnGreeting})
	return p.toDecision(), nil
}

// setGreeting sets the time of a greeting that is still to be sent.
func (s Input) setGreeting(p *plan) {
	if s.greetingWaits() {
		p.setDue(wire.DueGreeting, "", laterOf(s.State.GreetingAt, s.Now))
	}
}
