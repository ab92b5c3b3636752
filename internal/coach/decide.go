package coach

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coachline/models/wire"
)

// Decide says what follows from an event. The effects are to be applied in
// their order; a turn always comes after the effects that must hold even if the
// turn is lost. The due time that fired (EventDue) is taken out of the state by
// the caller beforehand. After the end nothing follows from anything.
//
// Deciding twice from the same situation gives the same decision, so a retry
// is safe. An error means that state or event break their own rules (an unknown
// kind, a zone that is gone) and no retry will help; what a model or an
// operator asked wrongly is Decision.Refused instead.
func Decide(s Input, ev wire.Event) (wire.Decision, error) {
	if s.State.Ended {
		return decideAfterEnd(ev.Kind), nil
	}
	decision, err := dispatchEvent(s, ev)
	if err != nil {
		return decision, err
	}
	decision.Effects, err = s.countInitiated(ev, s.rescheduleCheckIn(ev, decision.Effects))
	return decision, err
}

// dispatchEvent returns the decision without what every contact brings along.
//
//nolint:cyclop,funlen // one line per kind of event, dispatch and nothing else
func dispatchEvent(s Input, ev wire.Event) (wire.Decision, error) {
	switch ev.Kind {
	case wire.EventEnrolled:
		return handleEnrolment(s)
	case wire.EventTexts:
		return handleTexts(s), nil
	case wire.EventDue:
		return handleDue(s, ev.Due)
	case wire.EventPromptSent:
		return handlePromptSent(s, ev), nil
	case wire.EventPromptFailed:
		// Tomorrow's slot was set when the turn began, and nothing waits for
		// an answer to a prompt that was not delivered.
		return wire.Decision{}, nil
	case wire.EventStatus:
		return changeStatus(s, ev)
	case wire.EventPaused:
		return pauseParticipant(s, ev.At)
	case wire.EventMode:
		return setOperatorMode(s, ev.Mode), nil
	case wire.EventZone:
		return moveZone(s, ev.Zone, ev.ZoneAssumed)
	case wire.EventSend:
		p := s.newPlan()
		p.startTurn(wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: ev.OutboxID})
		return p.toDecision(), nil
	case wire.EventUnenrolled:
		return endParticipation(s)
	case wire.EventScheduleTool:
		return changeSchedules(s, ev.Schedule)
	case wire.EventTransitionAsk:
		return planTransition(s, ev.Mode, ev.Delay)
	case wire.EventHelp:
		return startTurn(s, wire.TurnPlan{Kind: wire.TurnHelp}), nil
	case wire.EventRestored:
		return handleRestored(s)
	case wire.EventTakenOver:
		return takeOver(s, ev.At), nil
	case wire.EventHandedBack:
		return handBack(s, ev.Answer)
	case wire.EventCheckInSent:
		return handleCheckInSent(s, ev.At)
	case wire.EventAskLessSent:
		return wire.Decision{}, nil // it is counted
	case wire.EventSubagentAsk:
		return startSubagent(s, ev.Plan.Subagent)
	case wire.EventSubagentDone:
		return handleSubagentDone(s, ev.Plan.Subagent)
	}
	return wire.Decision{}, fmt.Errorf("deciding: unknown event %q", ev.Kind)
}

// startTurn starts a turn, unless the person opted out.
func startTurn(s Input, turn wire.TurnPlan) wire.Decision {
	p := s.newPlan()
	if s.State.Status != wire.StatusOptedOut {
		p.startTurn(turn)
	}
	return p.toDecision()
}

// handleDue dispatches a due time that passed.
func handleDue(s Input, due wire.Due) (wire.Decision, error) {
	if s.isHeldUp(due) && isSpread(due.Kind) {
		p := s.newPlan()
		p.setDueAfter(due.Kind, due.Ref, s.Now, s.spreadOffset())
		return p.toDecision(), nil
	}
	switch due.Kind {
	case wire.DueGreeting:
		return handleDueGreeting(s)
	case wire.DueDailyPrompt:
		return handleDuePrompt(s, due)
	case wire.DueReminder:
		return handleDueReminder(s, due.Ref)
	case wire.DueAutoFeedback:
		return handleDueAutoFeedback(s, due.Ref), nil
	case wire.DueFeedbackTimeout:
		return handleDueFeedback(s, due, wire.TurnFeedbackQuestion)
	case wire.DueFeedbackFollowup:
		return handleDueFeedback(s, due, wire.TurnFeedbackFollowup)
	case wire.DueDelayedTransition:
		p := s.newPlan()
		s.enterMode(p, wire.Mode(due.Ref))
		return p.toDecision(), nil
	case wire.DueDebounce:
		return handleDueDebounce(s), nil
	case wire.DueCheckIn:
		return handleDueCheckIn(s)
	case wire.DueResult:
		return sendResult(s, due.Ref)
	case wire.DueTakeOverEnd, wire.DuePauseEnd:
		// The tables end it, and a notice tells of that.
		return wire.Decision{}, nil
	}
	return wire.Decision{}, fmt.Errorf("deciding: unknown due time %q", due.Kind)
}

// isHeldUp reports whether the time came while no worker ran, so that what
// follows may be spread. An outage ends for all participants at one instant.
func (s Input) isHeldUp(due wire.Due) bool {
	return !due.At.IsZero() && s.Now.After(due.At.Add(lateness)) && s.spreadOffset() > 0
}

// isSpread reports whether what follows a due time comes at the person's own
// offset from now where it was held up. Daily prompts have a rule of their own
// (promptSendAt), since they can come too late.
func isSpread(kind wire.DueKind) bool {
	switch kind {
	case wire.DueReminder, wire.DueAutoFeedback, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup, wire.DueCheckIn, wire.DueGreeting:
		return true
	case wire.DueDailyPrompt, wire.DueDelayedTransition, wire.DueDebounce, wire.DueResult, wire.DueTakeOverEnd, wire.DuePauseEnd:
	}
	return false
}

// rescheduleCheckIn puts the check-in a whole interval behind a contact,
// regardless of who began it: a text that came, a turn that says something, a
// prompt or check-in that the carrier took. Coming into coaching counts as one.
// The due time stands before the effects, because a turn comes last.
func (s Input) rescheduleCheckIn(ev wire.Event, effects []wire.Effect) []wire.Effect {
	status, at := s.State.Status, s.Now
	contact := ev.Kind == wire.EventTexts || ev.Kind == wire.EventRestored || ev.Kind == wire.EventHandedBack
	if ev.Kind == wire.EventPromptSent || ev.Kind == wire.EventCheckInSent {
		contact, at = true, ev.At
	}
	for _, effect := range effects {
		if effect.Kind == wire.EffectSetStatus {
			status = effect.Status
		}
		contact = contact || effect.Kind == wire.EffectSetStatus || effect.Kind == wire.EffectStartTurn
	}
	if s.Rules.CheckIn <= 0 || !contact || status != wire.StatusActive {
		return effects
	}
	p := s.newPlan()
	p.setDueAfter(wire.DueCheckIn, "", at, s.Rules.CheckIn)
	return append(p.effects, effects...)
}

// handleDueCheckIn starts a check-in after a whole interval without contact.
// While a prompt waits for an answer nothing is done; the contact that ends the
// wait sets the next check. Quiet hours, and a day that has had its check-ins,
// put it off to the first instant at which it may go out.
func handleDueCheckIn(s Input) (wire.Decision, error) {
	if s.Rules.CheckIn <= 0 || !s.canSpeakFirst() || s.State.Pending != nil {
		return wire.Decision{}, nil
	}
	zones, err := s.quietZones()
	if err != nil {
		return wire.Decision{}, fmt.Errorf("finding the participant's quiet hours: %w", err)
	}
	home, err := s.loadZone("")
	if err != nil {
		return wire.Decision{}, fmt.Errorf("finding the participant's day: %w", err)
	}
	start, err := s.judgeStart()
	if err != nil {
		return wire.Decision{}, err
	}
	at, today := s.Now, dateOf(s.Now, home)
	done := s.State.CheckIns
	switch {
	case start.reason == MissedBackedOff && !start.asksLess:
		at = start.again.instantOf(0, home)
	case done.Date == today.String() && done.Sent >= s.Rules.CheckInCap, s.isUsedUp(s.sentOn(today) + s.promptsAhead(today, home)):
		at = today.addDays(1).instantOf(0, home)
	}
	p := s.newPlan()
	if at = s.Rules.Quiet.endIn(at, zones); at.After(s.Now) {
		p.setDue(wire.DueCheckIn, "", at)
		return p.toDecision(), nil
	}
	if start.asksLess {
		p.addEffect(askLess())
		return p.toDecision(), nil
	}
	p.startTurn(wire.TurnPlan{Kind: wire.TurnCheckIn, Until: s.Rules.Quiet.startIn(s.Now, zones)})
	return p.toDecision(), nil
}

// handleCheckInSent counts a check-in that the carrier took. Those that were
// not written leave no trace here.
func handleCheckInSent(s Input, at time.Time) (wire.Decision, error) {
	home, err := s.loadZone("")
	if err != nil {
		return wire.Decision{}, fmt.Errorf("finding the participant's day: %w", err)
	}
	count := wire.CheckIns{Date: dateOf(at, home).String(), Sent: 1}
	if before := s.State.CheckIns; before.Date == count.Date {
		count.Sent += before.Sent
	}
	return wire.Decision{Effects: []wire.Effect{{Kind: wire.EffectCountCheckIn, CheckIns: count}}}, nil
}

// decideAfterEnd returns the decision after the end: silence, and for a tool
// call of a turn in flight the truth.
func decideAfterEnd(kind wire.EventKind) wire.Decision {
	if kind == wire.EventScheduleTool || kind == wire.EventTransitionAsk || kind == wire.EventSubagentAsk {
		return refuseAsk("the participant has left the programme; nothing can be changed")
	}
	return wire.Decision{}
}

// startSubagent starts a subagent. A call that waits for the result is answered
// by the subagent itself; the model is told of the others that nothing is known
// yet, so that it claims nothing.
func startSubagent(s Input, sub wire.Subagent) (wire.Decision, error) {
	started, refusal := s.admitSubagent(sub)
	if refusal != "" {
		return refuseAsk("%s", refusal), nil
	}
	p := s.newPlan()
	p.addEffect(wire.Effect{Kind: wire.EffectSetSubagents, Subagents: started})
	p.addEffect(wire.Effect{Kind: wire.EffectStartSubagent, Turn: &wire.TurnPlan{Kind: wire.TurnSubagent, Subagent: sub}})
	out := p.toDecision()
	if sub.Wait {
		return out, nil
	}
	fate := "is kept for the team and not sent"
	if sub.Tell {
		fate = "is texted to the person when it is ready"
	}
	note, err := json.Marshal(struct {
		OK   bool   `json:"ok"`
		ID   string `json:"id"`
		Note string `json:"note"`
	}{true, sub.TurnID, "The task has been given away. The result " + fate + ". It is not known now: claim nothing of it."})
	out.Note = string(note)
	return out, err
}

// Bounds of a person's subagents. One that was not heard of for subagentSpan is over.
const (
	subagentsAtOnce = 2
	subagentsPerDay = 5
	subagentSpan    = 20 * time.Minute
)

// admitSubagent returns the list of started subagents with one more, or why it is not
// started. A turn waits for its own, so that one is over when another is asked for.
func (s Input) admitSubagent(sub wire.Subagent) (started []wire.SubagentStart, refusal string) {
	running := 0
	for _, one := range s.State.Subagents {
		age := s.Now.Sub(one.At)
		if age >= 24*time.Hour {
			continue
		}
		started = append(started, one)
		if !one.Over && age < subagentSpan {
			running++
		}
	}
	switch {
	case running >= subagentsAtOnce:
		return nil, fmt.Sprintf("%d helpers are at work for this person already; wait for their results, or answer without", running)
	case len(started) >= subagentsPerDay:
		return nil, fmt.Sprintf("this person has had %d helpers within a day, which is all there are; answer without", len(started))
	}
	return append(started, wire.SubagentStart{TurnID: sub.TurnID, At: s.Now, Over: sub.Wait}), ""
}

// handleSubagentDone notes that a subagent is over, and sends its result where it was
// to be sent; otherwise it is kept in its rows.
func handleSubagentDone(s Input, sub wire.Subagent) (wire.Decision, error) {
	var out wire.Decision
	if sub.Tell && !sub.Failed {
		var err error
		if out, err = sendResult(s, sub.TurnID); err != nil {
			return out, err
		}
	}
	started := slices.Clone(s.State.Subagents)
	i := slices.IndexFunc(started, func(one wire.SubagentStart) bool { return one.TurnID == sub.TurnID })
	if i >= 0 {
		started[i].Over = true
		out.Effects = append(out.Effects, wire.Effect{Kind: wire.EffectSetSubagents, Subagents: started})
	}
	return out, nil
}

// sendResult sends a subagent's result to people in coaching. It is something
// that we start, so in quiet hours it waits for their end.
func sendResult(s Input, turnID string) (wire.Decision, error) {
	if !s.isActive() {
		return wire.Decision{}, nil
	}
	quiet, err := s.Opens()
	if err != nil {
		return wire.Decision{}, err
	}
	p := s.newPlan()
	if s.isTakenOver() {
		quiet = laterOf(quiet, s.State.TakenOverUntil)
	}
	if quiet.After(s.Now) {
		p.setDue(wire.DueResult, turnID, quiet)
		return p.toDecision(), nil
	}
	p.startTurn(wire.TurnPlan{Kind: wire.TurnResult, Subagent: wire.Subagent{TurnID: turnID}})
	return p.toDecision(), nil
}

// refuseAsk returns the decision that refuses a call with a reason and no
// effect.
func refuseAsk(format string, args ...any) wire.Decision {
	return wire.Decision{Refused: fmt.Sprintf(format, args...)}
}
