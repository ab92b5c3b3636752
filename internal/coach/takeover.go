package coach

import (
	"time"

	"coachline/models"
)

// takeOver has an operator write in the place of the coach until an instant, or
// moves that instant. Texts that were about to be answered enter the conversation
// and wait. Prompts stay due, and are recorded as missed.
func takeOver(s Input, until time.Time) models.Decision {
	p := s.newPlan()
	p.addEffect(models.Effect{Kind: models.EffectTakeOver, Until: until.UTC()})
	p.setDue(models.DueTakeOverEnd, "", until)
	p.clearDue(models.DueDebounce)
	if s.isActive() && len(s.State.Inbox.Items) > 0 {
		p.startTurn(models.TurnPlan{Kind: models.TurnMessage})
	}
	return p.toDecision()
}

// handBack has the coach write again, and answers the texts that came meanwhile
// where that is asked for.
func handBack(s Input, answer bool) (models.Decision, error) {
	p := s.newPlan()
	p.addEffect(models.Effect{Kind: models.EffectTakeOver})
	p.clearDue(models.DueTakeOverEnd)
	if !s.isActive() {
		return p.toDecision(), nil
	}
	s.State.TakenOverUntil = time.Time{}
	s.setGreeting(p)
	if answer {
		if err := s.answerWaiting(p); err != nil {
			return models.Decision{}, err
		}
	}
	return p.toDecision(), nil
}
