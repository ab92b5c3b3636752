package coach

import (
	"time"

	"coachline/models/wire"
)

// takeOver has an operator write in the place of the coach until an instant, or
// moves that instant. Texts that were about to be answered enter the conversation
// and wait. Prompts stay due, and are recorded as missed.
func takeOver(s Input, until time.Time) wire.Decision {
	p := s.newPlan()
	p.addEffect(wire.Effect{Kind: wire.EffectTakeOver, Until: until.UTC()})
	p.setDue(wire.DueTakeOverEnd, "", s.endFrom(until))
	p.clearDue(wire.DueDebounce)
	if s.isActive() && len(s.State.Inbox.Items) > 0 {
		p.startTurn(wire.TurnPlan{Kind: wire.TurnMessage})
	}
	return p.toDecision()
}

// handBack has the coach write again, and answers the texts that came meanwhile
// where that is asked for.
func handBack(s Input, answer bool) (wire.Decision, error) {
	p := s.newPlan()
	p.addEffect(wire.Effect{Kind: wire.EffectTakeOver})
	p.clearDue(wire.DueTakeOverEnd)
	if !s.isActive() {
		return p.toDecision(), nil
	}
	s.State.TakenOverUntil = time.Time{}
	s.setGreeting(p)
	if answer {
		if err := s.answerWaiting(p); err != nil {
			return wire.Decision{}, err
		}
	}
	return p.toDecision(), nil
}
