package coach

import (
	"encoding/json"
	"fmt"
	"time"

	"coachline/models/wire"
)

// planTransition answers the transition_state tool. Every transition becomes a
// due time, an immediate one a time that has passed already, so that the mode
// changes between turns only; the newest one replaces any other.
func planTransition(s Input, target wire.Mode, delay time.Duration) (wire.Decision, error) {
	if !target.Known() {
		return refuseAsk("target_state %s is not a state; allowed: %s, %s", quoteValue(string(target)), wire.ModeIntake, wire.ModeFeedback), nil
	}
	if delay < 0 {
		return refuseAsk("delay_minutes must be 0 or more"), nil
	}
	at := s.Now.Add(delay)
	applies := "after this turn"
	if delay > 0 {
		zone, err := s.loadZone("")
		if err != nil {
			return wire.Decision{}, fmt.Errorf("telling when the transition applies: %w", err)
		}
		applies = "at " + at.In(zone).Format(time.RFC3339)
	}
	note, err := json.Marshal(struct {
		OK      bool      `json:"ok"`
		Target  wire.Mode `json:"target_state"`
		Applies string    `json:"applies"`
	}{true, target, applies})
	if err != nil {
		return wire.Decision{}, fmt.Errorf("writing the tool result: %w", err)
	}
	p := s.newPlan()
	p.clearDue(wire.DueDelayedTransition)
	p.setDue(wire.DueDelayedTransition, string(target), at)
	return wire.Decision{Effects: p.effects, Note: string(note)}, nil
}

// setOperatorMode replaces what the model had planned by an operator's setting.
func setOperatorMode(s Input, mode wire.Mode) wire.Decision {
	if !mode.Known() {
		return refuseAsk("target_state %s is not a state; allowed: %s, %s", quoteValue(string(mode)), wire.ModeIntake, wire.ModeFeedback)
	}
	p := s.newPlan()
	p.clearDue(wire.DueDelayedTransition)
	s.enterMode(p, mode)
	return p.toDecision()
}

// enterMode changes the mode; entering the mode that holds already changes
// nothing, not even what it waits for.
func (s Input) enterMode(p *plan, mode wire.Mode) {
	if mode == s.State.Mode {
		return
	}
	switch mode {
	case wire.ModeIntake:
		p.addEffect(wire.Effect{Kind: wire.EffectSetMode, Mode: mode})
		p.clearDue(wire.DueFeedbackTimeout, wire.DueFeedbackFollowup)
	case wire.ModeFeedback:
		p.addEffect(wire.Effect{Kind: wire.EffectSetMode, Mode: mode})
		var promptID string
		if s.State.Pending != nil {
			promptID = s.State.Pending.PromptID
		}
		s.awaitFeedback(p, promptID)
	}
}

// awaitFeedback starts the wait for the person's word on a prompt. Without
// coaching nothing waits: the question could not be asked.
func (s Input) awaitFeedback(p *plan, promptID string) {
	p.clearDue(wire.DueFeedbackTimeout, wire.DueFeedbackFollowup)
	if s.isActive() {
		p.setDueAfter(wire.DueFeedbackTimeout, promptID, s.Now, s.Rules.FeedbackTimeout)
	}
}

// handleDueAutoFeedback enters feedback when a prompt has no answer so far (an
// answer would have cleared this due time), so the next text is taken as
// feedback.
func handleDueAutoFeedback(s Input, promptID string) wire.Decision {
	voided := s.State.Pending != nil && s.State.Pending.PromptID != promptID
	if voided || !s.canSpeakFirst() {
		return wire.Decision{}
	}
	p := s.newPlan()
	if s.State.Mode != wire.ModeFeedback {
		p.addEffect(wire.Effect{Kind: wire.EffectSetMode, Mode: wire.ModeFeedback})
	}
	s.awaitFeedback(p, promptID)
	return p.toDecision()
}

// handleDueFeedback breaks the silence in feedback. One question, one follow-up
// later, then nothing; in quiet hours either waits for their end.
func handleDueFeedback(s Input, due wire.Due, kind wire.TurnKind) (wire.Decision, error) {
	if s.State.Mode != wire.ModeFeedback || !s.canSpeakFirst() {
		return wire.Decision{}, nil
	}
	quiet, err := s.Opens()
	if err != nil {
		return wire.Decision{}, err
	}
	p := s.newPlan()
	left, err := s.leaveOutFollowUp(p, due.Ref, quiet)
	if err != nil || left {
		return p.toDecision(), err
	}
	if quiet.After(s.Now) {
		later, err := s.spreadFrom(quiet)
		p.setDue(due.Kind, due.Ref, later)
		return p.toDecision(), err
	}
	switch {
	case s.hasOneFollowUp(due.Ref):
		p.clearPending(s.State)
		s.leaveOutOthers(p, due.Ref, wire.DueReminder)
	case due.Kind == wire.DueFeedbackTimeout:
		p.setDueAfter(wire.DueFeedbackFollowup, due.Ref, s.Now, s.Rules.FeedbackFollowup)
	}
	p.startTurn(wire.TurnPlan{Kind: kind, PromptID: due.Ref})
	return p.toDecision(), nil
}
