package coach

import (
	"slices"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// StatusChange says whether an operator may change a status: between active and
// paused, and from anywhere to completed, withdrawn or opted_out, where a person
// asked for it by another way. Coming back from an opt-out is the person's own;
// no event takes them back into coaching from completed or withdrawn, because
// that would also be a way around an opt-out. The error is a *models.FieldError whose text is safe to show. A
// status that stays is always allowed.
func StatusChange(from, to wire.Status) error {
	if !slices.Contains(wire.Statuses(), to) {
		return models.BadField("status", "%s is not a status; allowed: %s", quoteValue(string(to)), joinNames(wire.Statuses()))
	}
	if from == to {
		return nil
	}
	switch to {
	case wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut:
		return nil
	case wire.StatusActive, wire.StatusPaused:
		switch from {
		case wire.StatusActive, wire.StatusPaused:
			return nil
		case wire.StatusOptedOut:
			return models.BadField("status", "the participant opted out; only the participant can come back, by texting START")
		case wire.StatusCompleted, wire.StatusWithdrawn:
			return models.BadField("status", "a participant who is %s cannot become %s; remove and enrol again", from, to)
		}
	}
	return models.BadField("status", "cannot change from %s to %s", quoteValue(string(from)), to)
}

// changeStatus applies a new status. The caller has checked who may do it. A
// person who opted out or came back by a text of their own is told so, also
// when the workflow hears of it only after the next change; the rows of the
// texts show who has been told already.
func changeStatus(s Input, ev wire.Event) (wire.Decision, error) {
	p := s.newPlan()
	s, err := s.settleSlots(p, ev.Status)
	if err != nil {
		return wire.Decision{}, err
	}
	switch to := ev.Status; to {
	case wire.StatusActive:
		if err := s.activateParticipant(p, ev.Answer); err != nil {
			return wire.Decision{}, err
		}
	case s.State.Status: // nothing changes but what is confirmed below
	case wire.StatusPaused:
		p.addEffect(wire.Effect{Kind: wire.EffectSetStatus, Status: to})
		// A delayed transition sends nothing and stays.
		p.clearDue(s.withoutSlots(wire.DueDebounce, wire.DueDailyPrompt, wire.DueReminder, wire.DueAutoFeedback,
			wire.DueFeedbackTimeout, wire.DueFeedbackFollowup, wire.DueCheckIn, wire.DueGreeting)...)
	case wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut:
		p.addEffect(wire.Effect{Kind: wire.EffectSetStatus, Status: to})
		if to == wire.StatusOptedOut {
			p.clearDue(s.withoutSlots(everyDue()...)...)
		} else {
			p.clearDue(everyDue()...)
		}
		p.clearPending(s.State)
	default:
		return refuseAsk("%s is not a status; allowed: %s", quoteValue(string(to)), joinNames(wire.Statuses())), nil
	}
	switch {
	case ev.Confirm:
		p.startTurn(wire.TurnPlan{Kind: wire.TurnConsent})
	case s.isActive() && ev.Status != wire.StatusActive && len(s.State.Inbox.Items) > 0:
		// A burst that was about to be answered enters the conversation all the
		// same; a confirmation takes it along.
		p.startTurn(wire.TurnPlan{Kind: wire.TurnMessage})
	}
	return p.toDecision(), nil
}

// pauseParticipant pauses the participant until an instant, or moves that instant; zero is
// until they are resumed.
func pauseParticipant(s Input, until time.Time) (wire.Decision, error) {
	out, err := changeStatus(s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused})
	if err != nil {
		return wire.Decision{}, err
	}
	p := s.newPlan()
	p.clearDue(wire.DuePauseEnd)
	if !until.IsZero() {
		p.setDue(wire.DuePauseEnd, "", s.endFrom(until))
	}
	out.Effects = append(p.effects, out.Effects...)
	return out, nil
}

// activateParticipant resumes a participant who was not active, and starts the
// reply to the texts of the pause if the operator asked for it.
func (s Input) activateParticipant(p *plan, answer bool) error {
	if s.State.Status != wire.StatusActive {
		p.clearDue(wire.DuePauseEnd)
		if err := s.resumeSchedules(p); err != nil {
			return err
		}
	}
	if !answer {
		return nil
	}
	return s.answerWaiting(p)
}

// promptReply is how old the newest of the texts may be for a reply to go out in
// quiet hours (47 CFR 64.1200(c)(1) is about what the caller starts).
const promptReply = 10 * time.Minute

// answerWaiting starts the reply to texts that came during a pause. In quiet
// hours it waits for their end, unless the newest text has just come.
func (s Input) answerWaiting(p *plan) error {
	if len(s.State.Inbox.Items) == 0 {
		return nil
	}
	if s.isTakenOver() {
		p.startTurn(wire.TurnPlan{Kind: wire.TurnMessage})
		return nil
	}
	open, err := s.Opens()
	if err != nil {
		return err
	}
	if open.After(s.Now) && s.Now.Sub(s.State.Inbox.NewestAt()) > promptReply {
		at, err := s.spreadFrom(open)
		p.setDue(wire.DueDebounce, "", at)
		return err
	}
	p.clearDue(wire.DueDebounce)
	s.startReply(p)
	return nil
}

// handleRestored arms what a terminated workflow had armed: the daily prompts, and a
// greeting that was still to be sent. Its reminders and questions belonged to a
// prompt of then.
func handleRestored(s Input) (wire.Decision, error) {
	p := s.newPlan()
	if s.isTakenOver() {
		p.setDue(wire.DueTakeOverEnd, "", s.endFrom(s.State.TakenOverUntil))
	}
	if s.isActive() {
		s.setGreeting(p)
	}
	if s.keepsSlots() {
		if err := s.nextSlots(p); err != nil {
			return wire.Decision{}, err
		}
	}
	return p.toDecision(), nil
}

// resumeSchedules takes the next slot of every schedule; what passed meanwhile
// is not made up for.
func (s Input) resumeSchedules(p *plan) error {
	p.addEffect(wire.Effect{Kind: wire.EffectSetStatus, Status: wire.StatusActive})
	s.setGreeting(p)
	return s.nextSlots(p)
}

func (s Input) nextSlots(p *plan) error {
	for _, schedule := range s.State.Schedules {
		schedule.Next = wire.Slot{}
		if _, err := setSlot(s, p, schedule); err != nil {
			return err
		}
	}
	return nil
}

// moveZone moves the schedules without a zone of their own along. LastDate
// stays, so no local date gets a second prompt. Where only it became known that
// the zone is the person's own, or that it is not, slots stay as they are: quiet
// hours are checked again when they fall due. What has come before the move is acted on
// first.
func moveZone(s Input, name string, assumed bool) (wire.Decision, error) {
	if _, err := s.zoneNamed(name); err != nil {
		return refuseAsk("%v", err), nil
	}
	if name == s.State.Zone && assumed == s.State.ZoneAssumed {
		return wire.Decision{}, nil
	}
	p := s.newPlan()
	p.addEffect(wire.Effect{Kind: wire.EffectSetZone, Zone: name, ZoneAssumed: assumed})
	if name == s.State.Zone {
		return p.toDecision(), nil
	}
	moves := func(schedule wire.Schedule) bool { return schedule.Zone == "" }
	then, err := s.passDue(p, moves)
	if err != nil {
		return wire.Decision{}, err
	}
	then.State.Zone, then.State.ZoneAssumed = name, assumed
	for _, was := range then.State.Schedules {
		if !moves(was) || slices.Contains(then.held, was.ID) {
			continue
		}
		schedule := was
		if schedule.Next, err = then.nextSlot(was, s.Now); err != nil {
			return wire.Decision{}, err
		}
		if schedule.Next.TargetAt.Equal(was.Next.TargetAt) && schedule.Next.Date == was.Next.Date {
			continue // the same instant, also where it was put off
		}
		p.putSchedule(then.recordMoved(p, was, schedule))
		if s.keepsSlots() {
			p.setDue(wire.DueDailyPrompt, schedule.ID, schedule.Next.SendAt)
		}
	}
	return wire.Decision{Effects: then.finish(p.effects)}, nil
}

// endParticipation ends the participation: nothing is due any more, what had come is
// recorded, one notice goes out.
func endParticipation(s Input) (wire.Decision, error) {
	p := s.newPlan()
	s, err := s.settleSlots(p, wire.StatusWithdrawn)
	if err != nil {
		return wire.Decision{}, err
	}
	p.clearDue(everyDue()...)
	p.clearDue(wire.DueTakeOverEnd)
	p.clearPending(s.State)
	p.addEffect(wire.Effect{Kind: wire.EffectSetStatus, Status: wire.StatusWithdrawn})
	p.startTurn(wire.TurnPlan{Kind: wire.TurnNotice})
	p.addEffect(wire.Effect{Kind: wire.EffectEnd})
	return p.toDecision(), nil
}

// everyDue lists what is due for the coach; the end of a take-over is not.
func everyDue() []wire.DueKind {
	return []wire.DueKind{
		wire.DueDailyPrompt, wire.DueReminder, wire.DueAutoFeedback, wire.DueFeedbackTimeout,
		wire.DueFeedbackFollowup, wire.DueDelayedTransition, wire.DueDebounce, wire.DueCheckIn, wire.DueGreeting, wire.DueResult,
		wire.DuePauseEnd,
	}
}
