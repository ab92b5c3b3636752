package coach

import (
	"time"

	"coachline/models/wire"
)

// handleTexts decides what follows when something came in. What waited for
// silence is canceled; the answer waits for the end of the burst. Without
// coaching the texts are stored and not answered.
func handleTexts(s Input) wire.Decision {
	p := s.newPlan()
	p.clearDue(wire.DueReminder, wire.DueAutoFeedback, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup)
	p.clearPending(s.State)
	switch at, waits := s.burstEnds(); {
	case len(s.State.Inbox.Items) == 0:
	case !s.canCoach():
		p.clearDue(wire.DueDebounce)
		p.startTurn(wire.TurnPlan{Kind: wire.TurnMessage})
	case waits:
		p.setDue(wire.DueDebounce, "", at)
	default:
		p.clearDue(wire.DueDebounce)
		s.startReply(p)
	}
	return p.toDecision()
}

// burstEnds returns when the texts that wait are to be answered; false: now.
func (s Input) burstEnds() (time.Time, bool) {
	if s.Rules.Debounce <= 0 || len(s.State.Inbox.Items) == 0 {
		return time.Time{}, false
	}
	items := s.State.Inbox.Items
	at := s.Now.Add(items[len(items)-1].Shape.Quiet(s.Rules.Debounce))
	if s.Rules.DebounceMax > 0 {
		for _, item := range items {
			if last := item.ReceivedAt.Add(s.Rules.DebounceMax); last.Before(at) {
				at = last
			}
		}
	}
	return at, at.After(s.Now)
}

// handleDueDebounce starts the reply at the end of a burst.
func handleDueDebounce(s Input) wire.Decision {
	p := s.newPlan()
	if s.canCoach() && len(s.State.Inbox.Items) > 0 {
		s.startReply(p)
	}
	return p.toDecision()
}

// startReply answers the texts that wait. To a person who has not been greeted
// the reply says who writes, and the greeting is not sent any more.
func (s Input) startReply(p *plan) {
	p.clearDue(wire.DueGreeting)
	p.startTurn(wire.TurnPlan{Kind: wire.TurnReply, Introduce: s.greetingWaits()})
}
