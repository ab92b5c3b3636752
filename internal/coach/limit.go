package coach

import (
	"fmt"
	"slices"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// The back-off counts local dates on which we wrote and heard nothing. After slowAfter
// of them we write every second day; after askAfter we ask whether to write less, and
// then write once a week.
const (
	slowAfter = 3
	askAfter  = 7
	slowDays  = 2
	weekDays  = 7
)

// Reasons for which a prompt has no more follow-ups, beside those of missed prompts.
const (
	LeftOutOneFollowUp = "one_follow_up"
	LeftOutNextDay     = "next_day"
)

// startVerdict says whether we may start a text.
type startVerdict struct {
	reason string // why not; empty: we may
	// asksLess: the question whether to write less goes out in its place.
	asksLess bool
	// again is the first date on which we may, where the reason is the back-off.
	again localDate
}

// isLimited reports whether anything bounds how often we start a text.
func (s Input) isLimited() bool { return s.Rules.MaxInitiated > 0 || s.Rules.BackOff }

// judgeNow returns the end of quiet hours, and whether we may start a text.
func (s Input) judgeNow() (time.Time, startVerdict, error) {
	quiet, err := s.Opens()
	if err != nil {
		return quiet, startVerdict{}, err
	}
	start, err := s.judgeStart()
	return quiet, start, err
}

// judgeStart judges a prompt or check-in that is due now.
func (s Input) judgeStart() (startVerdict, error) {
	if !s.isLimited() {
		return startVerdict{}, nil
	}
	home, err := s.loadZone("")
	if err != nil {
		return startVerdict{}, fmt.Errorf("finding the participant's day: %w", err)
	}
	today := dateOf(s.Now, home)
	again, err := s.backOffEnds(today)
	switch {
	case err != nil:
		return startVerdict{}, err
	case again.midnight.After(today.midnight):
		return startVerdict{reason: MissedBackedOff, again: again}, nil
	case s.isUsedUp(s.sentOn(today)):
		return startVerdict{reason: MissedDailyLimit}, nil
	case s.Rules.BackOff && !s.State.Initiated.Asked && s.unansweredBefore(today) >= askAfter:
		return startVerdict{reason: MissedBackedOff, asksLess: true}, nil
	}
	return startVerdict{}, nil
}

// backOffEnds returns the first date from today on which the back-off lets us start a
// text. The prompts of one date belong together, until there is one text a week.
func (s Input) backOffEnds(today localDate) (localDate, error) {
	count, before, days := s.State.Initiated, s.unansweredBefore(today), slowDays
	switch {
	case !s.Rules.BackOff || before < slowAfter:
		return today, nil
	case before < askAfter && count.LastDate == today.String():
		return today, nil
	case count.Asked:
		days = weekDays
	}
	last, err := parseDate(count.LastDate)
	if err != nil {
		return today, fmt.Errorf("finding the day of the newest unanswered text: %w", err)
	}
	if first := last.addDays(days); first.midnight.After(today.midnight) {
		return first, nil
	}
	return today, nil
}

// unansweredBefore counts the dates before today on which we wrote and heard nothing.
func (s Input) unansweredBefore(today localDate) int {
	count := s.State.Initiated
	if count.LastDate >= today.String() {
		return count.Unanswered - 1
	}
	return count.Unanswered
}

// sentOn returns how many texts we started on a date.
func (s Input) sentOn(date localDate) int {
	if count := s.State.Initiated; count.Date == date.String() {
		return count.Sent
	}
	return 0
}

// isUsedUp reports whether a number of texts is all that a date may have.
func (s Input) isUsedUp(sent int) bool {
	return s.Rules.MaxInitiated > 0 && sent >= s.Rules.MaxInitiated
}

// promptsAhead counts the prompts that are still to come on a date: what is left of
// the day's texts is for them first.
func (s Input) promptsAhead(date localDate, home *time.Location) int {
	ahead := 0
	for _, schedule := range s.State.Schedules {
		if next := schedule.Next; next.Date != "" && next.SendAt.After(s.Now) && dateOf(next.SendAt, home) == date {
			ahead++
		}
	}
	return ahead
}

// hasOneFollowUp reports whether only the first follow-up of a prompt that is due goes
// out.
func (s Input) hasOneFollowUp(promptID string) bool {
	return s.Rules.MaxInitiated > 0 && promptID != ""
}

// leaveOutFollowUp reports whether a reminder, question or follow-up that could go out
// from an instant on is left out, and records why.
func (s Input) leaveOutFollowUp(p *plan, promptID string, from time.Time) (bool, error) {
	reason, err := s.whyNoFollowUp(promptID, laterOf(from, s.Now))
	p.addLeftOut(promptID, reason)
	return reason != "", err
}

func (s Input) whyNoFollowUp(promptID string, at time.Time) (string, error) {
	if !s.isLimited() {
		return "", nil
	}
	home, err := s.loadZone("")
	if err != nil {
		return "", fmt.Errorf("finding the participant's day: %w", err)
	}
	day, pending := dateOf(at, home), s.State.Pending
	switch one := s.hasOneFollowUp(promptID); {
	case one && (pending == nil || pending.PromptID != promptID):
		return LeftOutOneFollowUp, nil
	case one && dateOf(pending.SentAt, home) != day:
		return LeftOutNextDay, nil
	case s.Rules.BackOff && s.unansweredBefore(day) >= askAfter:
		return MissedBackedOff, nil
	case s.isUsedUp(s.sentOn(day) + s.promptsAhead(day, home)):
		return MissedDailyLimit, nil
	}
	return "", nil
}

// leaveOutOthers leaves out what was still to follow a prompt that has its follow-up.
func (s Input) leaveOutOthers(p *plan, promptID string, kinds ...wire.DueKind) {
	isOther := func(due wire.Due) bool { return due.Ref == promptID && slices.Contains(kinds, due.Kind) }
	if s.hasOneFollowUp(promptID) && slices.ContainsFunc(s.State.Due, isOther) {
		p.clearDue(kinds...)
		p.addLeftOut(promptID, LeftOutOneFollowUp)
	}
}

// addLeftOut records why a prompt has no more follow-ups; no prompt and no reason
// record nothing.
func (p *plan) addLeftOut(promptID, reason string) {
	if promptID != "" && reason != "" {
		p.addEffect(wire.Effect{Kind: wire.EffectLeaveOut, LeftOut: &wire.LeftOut{PromptID: promptID, Reason: reason}})
	}
}

// askLess is the turn that asks whether to write less.
func askLess() wire.Effect {
	return wire.Effect{Kind: wire.EffectStartTurn, Turn: &wire.TurnPlan{Kind: wire.TurnAskLess}}
}

// countInitiated counts what the effects start, and what is heard or not heard of it.
// Prompts and their follow-ups count when they are started, so that no second one
// starts beside a send that takes long; a prompt that failed and a check-in that was
// not written do not count.
func (s Input) countInitiated(ev wire.Event, effects []wire.Effect) ([]wire.Effect, error) {
	if !s.isLimited() {
		return effects, nil
	}
	home, err := s.loadZone("")
	if err != nil {
		return nil, fmt.Errorf("finding the participant's day: %w", err)
	}
	before := s.State.Initiated
	s.State.Initiated = s.countEvent(ev, home)
	for _, effect := range effects {
		if effect.Kind == wire.EffectStartTurn && models.IsRationed(effect.Turn.Kind) && effect.Turn.Kind != wire.TurnCheckIn {
			s.State.Initiated = s.addSent(dateOf(s.Now, home))
		}
	}
	if s.State.Initiated == before {
		return effects, nil
	}
	return append([]wire.Effect{{Kind: wire.EffectCountInitiated, Initiated: s.State.Initiated}}, effects...), nil
}

func (s Input) countEvent(ev wire.Event, home *time.Location) wire.Initiated {
	count := s.State.Initiated
	switch {
	case ev.Kind == wire.EventTexts, ev.Kind == wire.EventHelp, ev.Kind == wire.EventStatus && ev.Confirm:
		return wire.Initiated{Date: count.Date, Sent: count.Sent}
	case ev.Kind == wire.EventPromptFailed && s.sentOn(dateOf(s.Now, home)) > 0:
		count.Sent--
		return count
	case ev.Kind == wire.EventCheckInSent:
		count = s.addSent(dateOf(ev.At, home))
	case ev.Kind != wire.EventPromptSent && ev.Kind != wire.EventAskLessSent:
		return count
	}
	if s.hasTextAfter(ev.At) {
		return count
	}
	if date := dateOf(ev.At, home).String(); date > count.LastDate {
		count.Unanswered, count.LastDate = count.Unanswered+1, date
	}
	count.Asked = count.Asked || ev.Kind == wire.EventAskLessSent
	return count
}

// addSent returns the count with one more text on a date.
func (s Input) addSent(date localDate) wire.Initiated {
	count := s.State.Initiated
	count.Date, count.Sent = date.String(), s.sentOn(date)+1
	return count
}
