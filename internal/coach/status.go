package coach

import (
	"slices"
	"time"

	"coachline/models"
)

// StatusChange says whether an operator may change a status: between active and
// paused, and from anywhere to completed, withdrawn or opted_out, where a person
// asked for it by another way. Coming back from an opt-out is the person's own;
// no event takes them back into coaching from completed or withdrawn, because
// that would also be a way around an opt-out. The error is a *models.FieldError whose text is safe to show. A
// status that stays is always allowed.
func StatusChange(from, to models.Status) error {
	if !slices.Contains(models.Statuses(), to) {
		return models.BadField("status", "%s is not a status; allowed: %s", quoteValue(string(to)), joinNames(models.Statuses()))
	}
	if from == to {
		return nil
	}
	switch to {
	case models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut:
		return nil
	case models.StatusActive, models.StatusPaused:
		switch from {
		case models.StatusActive, models.StatusPaused:
			return nil
		case models.StatusOptedOut:
			return models.BadField("status", "the participant opted out; only the participant can come back, by texting START")
		case models.StatusCompleted, models.StatusWithdrawn:
			return models.BadField("status", "a participant who is %s cannot become %s; remove and enrol again", from, to)
		}
	}
	return models.BadField("status", "cannot change from %s to %s", quoteValue(string(from)), to)
}

// changeStatus applies a new status. The caller has checked who may do it. A
// person who opted out or came back by a text of their own is told so, also
// when the workflow hears of it only after the next change; the rows of the
// texts show who has been told already.
func changeStatus(s Input, ev models.Event) (models.Decision, error) {
	p := s.newPlan()
	s, err := s.settleSlots(p, ev.Status)
	if err != nil {
		return models.Decision{}, err
	}
	switch to := ev.Status; to {
	case models.StatusActive:
		if err := s.activateParticipant(p, ev.Answer); err != nil {
			return models.Decision{}, err
		}
	case s.State.Status: // nothing changes but what is confirmed below
	case models.StatusPaused:
		p.addEffect(models.Effect{Kind: models.EffectSetStatus, Status: to})
		// A delayed transition sends nothing and stays.
		p.clearDue(s.withoutSlots(models.DueDebounce, models.DueDailyPrompt, models.DueReminder, models.DueAutoFeedback,
			models.DueFeedbackTimeout, models.DueFeedbackFollowup, models.DueCheckIn, models.DueGreeting)...)
	case models.StatusCompleted, models.StatusWithdrawn, models.StatusOptedOut:
		p.addEffect(models.Effect{Kind: models.EffectSetStatus, Status: to})
		if to == models.StatusOptedOut {
			p.clearDue(s.withoutSlots(everyDue()...)...)
		} else {
			p.clearDue(everyDue()...)
		}
		p.clearPending(s.State)
	default:
		return refuseAsk("%s is not a status; allowed: %s", quoteValue(string(to)), joinNames(models.Statuses())), nil
	}
	switch {
	case ev.Confirm:
		p.startTurn(models.TurnPlan{Kind: models.TurnConsent})
	case s.isActive() && ev.Status != models.StatusActive && len(s.State.Inbox.Items) > 0:
		// A burst that was about to be answered enters the conversation all the
		// same; a confirmation takes it along.
		p.startTurn(models.TurnPlan{Kind: models.TurnMessage})
	}
	return p.toDecision(), nil
}

// pauseParticipant pauses the participant until an instant, or moves that instant; zero is
// until they are resumed.
func pauseParticipant(s Input, until time.Time) (models.Decision, error) {
	out, err := changeStatus(s, models.Event{Kind: models.EventStatus, Status: models.StatusPaused})
	if err != nil {
		return models.Decision{}, err
	}
	p := s.newPlan()
	p.clearDue(models.DuePauseEnd)
	if !until.IsZero() {
		p.setDue(models.DuePauseEnd, "", until)
	}
	out.Effects = append(p.effects, out.Effects...)
	return out, nil
}

// activateParticipant resumes a participant who was not active, and starts the
// reply to the texts of the pause if the operator asked for it.
func (s Input) activateParticipant(p *plan, answer bool) error {
	if s.State.Status != models.StatusActive {
		p.clearDue(models.DuePauseEnd)
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
		p.startTurn(models.TurnPlan{Kind: models.TurnMessage})
		return nil
	}
	open, err := s.Opens()
	if err != nil {
		return err
	}
	if open.After(s.Now) && s.Now.Sub(s.State.Inbox.NewestAt()) > promptReply {
		at, err := s.spreadFrom(open)
		p.setDue(models.DueDebounce, "", at)
		return err
	}
	p.clearDue(models.DueDebounce)
	s.startReply(p)
	return nil
}

// handleRestored arms what a terminated workflow had armed: the daily prompts, and a
// greeting that was still to be sent. Its reminders and questions belonged to a
// prompt of then.
func handleRestored(s Input) (models.Decision, error) {
	p := s.newPlan()
	if s.isTakenOver() {
		p.setDue(models.DueTakeOverEnd, "", s.State.TakenOverUntil)
	}
	if s.isActive() {
		s.setGreeting(p)
	}
	if s.keepsSlots() {
		if err := s.nextSlots(p); err != nil {
			return models.Decision{}, err
		}
	}
	return p.toDecision(), nil
}

// resumeSchedules takes the next slot of every schedule; what passed meanwhile
// is not made up for.
func (s Input) resumeSchedules(p *plan) error {
	p.addEffect(models.Effect{Kind: models.EffectSetStatus, Status: models.StatusActive})
	s.setGreeting(p)
	return s.nextSlots(p)
}

func (s Input) nextSlots(p *plan) error {
	for _, schedule := range s.State.Schedules {
		schedule.Next = models.Slot{}
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
func moveZone(s Input, name string, assumed bool) (models.Decision, error) {
	if _, err := s.zoneNamed(name); err != nil {
		return refuseAsk("%v", err), nil
	}
	if name == s.State.Zone && assumed == s.State.ZoneAssumed {
		return models.Decision{}, nil
	}
	p := s.newPlan()
	p.addEffect(models.Effect{Kind: models.EffectSetZone, Zone: name, ZoneAssumed: assumed})
	if name == s.State.Zone {
		return p.toDecision(), nil
	}
	moves := func(schedule models.Schedule) bool { return schedule.Zone == "" }
	then, err := s.passDue(p, moves)
	if err != nil {
		return models.Decision{}, err
	}
	then.State.Zone, then.State.ZoneAssumed = name, assumed
	for _, was := range then.State.Schedules {
		if !moves(was) || slices.Contains(then.held, was.ID) {
			continue
		}
		schedule := was
		if schedule.Next, err = then.nextSlot(was, s.Now); err != nil {
			return models.Decision{}, err
		}
		if schedule.Next.TargetAt.Equal(was.Next.TargetAt) && schedule.Next.Date == was.Next.Date {
			continue // the same instant, also where it was put off
		}
		p.putSchedule(then.recordMoved(p, was, schedule))
		if s.keepsSlots() {
			p.setDue(models.DueDailyPrompt, schedule.ID, schedule.Next.SendAt)
		}
	}
	return models.Decision{Effects: then.finish(p.effects)}, nil
}

// endParticipation ends the participation: nothing is due any more, one notice
// goes out.
func endParticipation(s Input) models.Decision {
	p := s.newPlan()
	p.clearDue(everyDue()...)
	p.clearDue(models.DueTakeOverEnd)
	p.clearPending(s.State)
	p.addEffect(models.Effect{Kind: models.EffectSetStatus, Status: models.StatusWithdrawn})
	p.startTurn(models.TurnPlan{Kind: models.TurnNotice})
	p.addEffect(models.Effect{Kind: models.EffectEnd})
	return p.toDecision()
}

// everyDue lists what is due for the coach; the end of a take-over is not.
func everyDue() []models.DueKind {
	return []models.DueKind{
		models.DueDailyPrompt, models.DueReminder, models.DueAutoFeedback, models.DueFeedbackTimeout,
		models.DueFeedbackFollowup, models.DueDelayedTransition, models.DueDebounce, models.DueCheckIn, models.DueGreeting, models.DueResult,
		models.DuePauseEnd,
	}
}
