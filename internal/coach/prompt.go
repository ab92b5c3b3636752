package coach

import (
	"fmt"
	"slices"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// lateness is how far behind its time a prompt may be and still count as on
// time.
const lateness = 2 * time.Minute

// Reasons of a missed prompt, as the prompts table and its readers know them.
const (
	MissedOutage     = "outage"
	MissedQuietHours = "quiet_hours"
	MissedPaused     = "paused"
	MissedStudyOver  = "study_over"
	// MissedMoved: another zone or time took the prompt's day away.
	MissedMoved      = "moved"
	MissedDailyLimit = "daily_limit"
	MissedBackedOff  = "backed_off"
)

// handleDuePrompt starts the prompt of a schedule whose slot has come, or came
// while no worker ran. At most one prompt goes out, that of the newest slot
// that is not too late; every older one is recorded as missed. The next slot is
// set before the turn starts, so that losing the turn cannot lose the next day.
//
// After an outage all participants' prompts fall due at one instant; they are
// spread over the minutes that follow like those of people who chose the same
// minute, so that a participant who writes meanwhile does not wait behind them.
func handleDuePrompt(s Input, due wire.Due) (wire.Decision, error) {
	id := due.Ref
	i := slices.IndexFunc(s.State.Schedules, func(schedule wire.Schedule) bool { return schedule.ID == id })
	if i < 0 {
		return wire.Decision{}, nil
	}
	p := s.newPlan()
	schedule := s.State.Schedules[i]
	if !s.canCoach() || s.Rules.Silent {
		return recordMissedInPause(s, p, schedule)
	}
	quiet, start, err := s.judgeNow()
	if err != nil {
		return wire.Decision{}, err
	}
	var asksLess bool
	for schedule.Next.Date != "" && !schedule.Next.SendAt.After(s.Now) {
		slot := schedule.Next
		following := schedule
		following.LastDate = slot.Date
		if following.Next, err = s.nextSlot(following, slot.TargetAt); err != nil {
			return wire.Decision{}, err
		}
		deadline, err := s.promptDeadline(schedule)
		if err != nil {
			return wire.Decision{}, err
		}
		reason := s.judgePrompt(schedule, following.Next, quiet, deadline)
		switch reason {
		case verdictSend:
			if later, err := s.promptSendAt(due, deadline, following.Next); err != nil || later.After(s.Now) {
				return p.putOff(schedule, later), err
			}
			if start.reason == "" {
				return sendPrompt(s, p, following, slot)
			}
			reason, asksLess = verdict(start.reason), start.asksLess
		case verdictDefer:
			later, err := s.deferPrompt(quiet, deadline, following.Next)
			return p.putOff(schedule, later), err
		}
		p.addMissed(id, slot, string(reason))
		schedule = following
	}
	out, err := setSlot(s, p, schedule)
	if asksLess {
		out.Effects = append(out.Effects, askLess())
	}
	return out, err
}

// putOff returns the decision that a schedule's due prompt waits until an instant.
func (p *plan) putOff(schedule wire.Schedule, until time.Time) wire.Decision {
	p.putSchedule(schedule)
	p.setDue(wire.DueDailyPrompt, schedule.ID, until)
	return p.toDecision()
}

// sendPrompt starts the turn of a slot. The schedule's next slot is found anew,
// because it depends on the date on which this prompt goes out.
func sendPrompt(s Input, p *plan, schedule wire.Schedule, slot wire.Slot) (wire.Decision, error) {
	midnight, err := s.endOfDate(schedule, slot)
	if err != nil {
		return wire.Decision{}, err
	}
	schedule.LastAt = s.Now.UTC()
	if schedule.Next, err = s.nextSlot(schedule, slot.TargetAt); err != nil {
		return wire.Decision{}, err
	}
	p.putSchedule(schedule)
	p.setDue(wire.DueDailyPrompt, schedule.ID, schedule.Next.SendAt)
	p.startTurn(wire.TurnPlan{
		Kind:       wire.TurnPrompt,
		PromptID:   models.PromptID(s.State.ParticipantID, schedule.ID, slot.Date),
		ScheduleID: schedule.ID,
		Slot:       slot,
		// The turn of a prompt chosen for midnight has the time that it needs.
		Until: laterOf(midnight, slot.SendAt.Add(lateness)),
	})
	return p.toDecision(), nil
}

// endOfDate returns the end of the local date of a slot's target.
func (s Input) endOfDate(schedule wire.Schedule, slot wire.Slot) (time.Time, error) {
	zone, err := s.loadZone(schedule.Zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("finding the date of a prompt of schedule %s: %w", schedule.ID, err)
	}
	return dateOf(slot.TargetAt, zone).addDays(1).instantOf(0, zone), nil
}

// verdict is what becomes of a due slot: sent, deferred, or the reason for
// which it is missed.
type verdict string

const (
	verdictSend  verdict = "send"
	verdictDefer verdict = "defer"
)

// judgePrompt judges the slot of a schedule that is due. A fixed prompt on time
// is exempt from quiet hours, because the person chose the time.
func (s Input) judgePrompt(schedule wire.Schedule, following wire.Slot, quiet, deadline time.Time) verdict {
	slot := schedule.Next
	switch late := s.Now.After(slot.SendAt.Add(lateness)); {
	case s.Now.After(deadline), !following.SendAt.After(s.Now):
		return MissedOutage
	case !quiet.After(s.Now), schedule.Type == wire.ScheduleFixed && !late:
		return verdictSend
	case quiet.After(deadline):
		return MissedQuietHours
	}
	return verdictDefer
}

// promptDeadline returns the last instant at which the prompt of a schedule's
// slot may go out: on the local date of its target, because the next date has a
// prompt of its own.
func (s Input) promptDeadline(schedule wire.Schedule) (time.Time, error) {
	slot := schedule.Next
	last := slot.TargetAt.Add(s.Rules.PromptGrace)
	switch {
	case s.Rules.PromptGrace <= 0:
		last = slot.SendAt.Add(lateness)
	case slot.SendAt.After(slot.TargetAt):
		last = slot.SendAt.Add(s.Rules.PromptGrace)
	}
	midnight, err := s.endOfDate(schedule, slot)
	return earlierOf(last, midnight.Add(-time.Second)), err
}

// deferPrompt returns when a prompt goes out that quiet hours or an outage held
// up: at the person's share of the spread from their end, where it is in time
// then.
func (s Input) deferPrompt(end, deadline time.Time, following wire.Slot) (time.Time, error) {
	at, err := s.spreadFrom(end)
	if at.After(deadline) || !following.SendAt.After(at) {
		return end, err
	}
	return at, err
}

// promptSendAt returns when a prompt goes out whose time came while no worker
// ran. Now: at once, because it is not late, there is no spread, or then it
// would be too late or in quiet hours.
func (s Input) promptSendAt(due wire.Due, deadline time.Time, following wire.Slot) (time.Time, error) {
	if !s.isHeldUp(due) {
		return s.Now, nil
	}
	return s.deferPrompt(s.Now, deadline, following)
}

// recordMissedInPause records the prompt of a participant who is not active,
// whose conversation an operator has taken over, or whose study is over. Without
// decision points pausing takes the due times away, so for it this is a last guard.
// For those who left for good there is nothing to set.
func recordMissedInPause(s Input, p *plan, schedule wire.Schedule) (wire.Decision, error) {
	if !s.State.Status.Coached() && !s.keepsSlots() {
		return wire.Decision{}, nil
	}
	if s.Rules.DecisionPoints && schedule.Next.Date != "" {
		return passDueSlots(s, p, schedule.ID)
	}
	if slot := schedule.Next; slot.Date != "" {
		p.addMissed(schedule.ID, slot, s.whyNoPrompt())
		schedule.LastDate = slot.Date
	}
	schedule.Next = wire.Slot{}
	return setSlot(s, p, schedule)
}

// setSlot sets the slot that a schedule has, or the next one from now.
func setSlot(s Input, p *plan, schedule wire.Schedule) (wire.Decision, error) {
	if schedule.Next.Date == "" {
		var err error
		if schedule.Next, err = s.nextSlot(schedule, s.Now); err != nil {
			return wire.Decision{}, err
		}
	}
	p.putSchedule(schedule)
	p.setDue(wire.DueDailyPrompt, schedule.ID, schedule.Next.SendAt)
	return p.toDecision(), nil
}

// addMissed records a prompt that was not sent, and why.
func (p *plan) addMissed(id string, slot wire.Slot, reason string) {
	p.addEffect(wire.Effect{
		Kind:   wire.EffectMissPrompt,
		Missed: &wire.MissedPrompt{ScheduleID: id, Slot: slot, Reason: reason},
	})
}

// handlePromptSent records that the carrier took a prompt. It voids what
// depended on the one before; a text that came in meanwhile has answered it
// already.
func handlePromptSent(s Input, ev wire.Event) wire.Decision {
	p := s.newPlan()
	p.clearDue(wire.DueReminder, wire.DueAutoFeedback, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup)
	if s.hasTextAfter(ev.At) || !s.isActive() {
		p.clearPending(s.State)
		return p.toDecision()
	}
	id := ev.Plan.PromptID
	p.addEffect(wire.Effect{
		Kind:    wire.EffectSetPending,
		Pending: &wire.PendingPrompt{PromptID: id, SentAt: ev.At.UTC()},
	})
	p.setDueAfter(wire.DueReminder, id, ev.At, s.Rules.ReminderDelay)
	p.setDueAfter(wire.DueAutoFeedback, id, ev.At, s.Rules.AutoFeedbackDelay)
	return p.toDecision()
}

// hasTextAfter reports whether a text waits that came in after an instant.
func (s Input) hasTextAfter(at time.Time) bool {
	return slices.ContainsFunc(s.State.Inbox.Items, func(item wire.InboxItem) bool { return item.ReceivedAt.After(at) })
}

// handleDueReminder sends one reminder of a prompt without an answer. In quiet
// hours it waits for their end, unless the next prompt comes first; then it is
// dropped, and an answer still counts.
func handleDueReminder(s Input, promptID string) (wire.Decision, error) {
	pending := s.State.Pending
	if pending == nil || pending.PromptID != promptID || !s.canSpeakFirst() || s.Rules.NoReminders {
		return wire.Decision{}, nil
	}
	p := s.newPlan()
	quiet, err := s.Opens()
	if err != nil {
		return wire.Decision{}, err
	}
	left, err := s.leaveOutFollowUp(p, promptID, quiet)
	if err != nil || left {
		return p.toDecision(), err
	}
	if quiet.After(s.Now) {
		later, err := s.spreadFrom(quiet)
		overtaken := slices.ContainsFunc(s.State.Due, func(due wire.Due) bool {
			return due.Kind == wire.DueDailyPrompt && !due.At.After(later)
		})
		if !overtaken {
			p.setDue(wire.DueReminder, promptID, later)
		}
		return p.toDecision(), err
	}
	p.clearPending(s.State)
	s.leaveOutOthers(p, promptID, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup)
	p.startTurn(wire.TurnPlan{Kind: wire.TurnReminder, PromptID: promptID})
	return p.toDecision(), nil
}
