package coach

import (
	"slices"

	"coachline/models"
	"coachline/models/wire"
)

// keepsSlots reports whether the slots of the participant's schedules come. Where each
// is a decision point they also do for people who are paused or opted out, and are
// recorded; a study that is over has no more of them.
func (s Input) keepsSlots() bool {
	switch s.State.Status {
	case wire.StatusActive:
		return true
	case wire.StatusPaused, wire.StatusOptedOut:
		return s.Rules.DecisionPoints && !s.Rules.Silent
	case wire.StatusCompleted, wire.StatusWithdrawn:
	}
	return false
}

// withoutSlots leaves the slots out of due times that are to be cleared, where they
// go on.
func (s Input) withoutSlots(kinds ...wire.DueKind) []wire.DueKind {
	if !s.Rules.DecisionPoints {
		return kinds
	}
	return slices.DeleteFunc(kinds, func(kind wire.DueKind) bool { return kind == wire.DueDailyPrompt })
}

// whyNoPrompt says why the coach sends no prompts now.
func (s Input) whyNoPrompt() string {
	switch {
	case s.State.Status == wire.StatusPaused:
		return MissedPaused
	case s.State.Status == wire.StatusOptedOut:
		return string(wire.StatusOptedOut)
	case s.Rules.Silent:
		return MissedStudyOver
	}
	return models.MissedTakenOver
}

// dueOf returns when the slot of a schedule is due; false: it is not.
func (s Input) dueOf(id string) (wire.Due, bool) {
	i := slices.IndexFunc(s.State.Due, func(due wire.Due) bool { return due.Kind == wire.DueDailyPrompt && due.Ref == id })
	if i < 0 {
		return wire.Due{}, false
	}
	return s.State.Due[i], true
}

// isDueNow reports whether the slot of a schedule has come.
func (s Input) isDueNow(id string) bool {
	due, found := s.dueOf(id)
	return found && !due.At.After(s.Now)
}

// passSlots records every slot of the schedules that has passed, in the order of
// their times, and returns the situation in which each has its next slot.
func (s Input) passSlots(p *plan, reason string, isPast func(wire.Schedule) bool) (Input, error) {
	var missed []wire.MissedPrompt
	s.State.Schedules = slices.Clone(s.State.Schedules)
	for i, schedule := range s.State.Schedules {
		if schedule.Next.Date == "" || !isPast(schedule) {
			continue
		}
		for !schedule.Next.SendAt.After(s.Now) {
			slot := schedule.Next
			missed = append(missed, wire.MissedPrompt{ScheduleID: schedule.ID, Slot: slot, Reason: reason})
			schedule.LastDate = slot.Date
			var err error
			if schedule.Next, err = s.nextSlot(schedule, slot.TargetAt); err != nil {
				return s, err
			}
		}
		s.State.Schedules[i] = schedule
		p.putSchedule(schedule)
		p.setDue(wire.DueDailyPrompt, schedule.ID, schedule.Next.SendAt)
	}
	slices.SortStableFunc(missed, func(a, b wire.MissedPrompt) int { return a.Slot.SendAt.Compare(b.Slot.SendAt) })
	for _, m := range missed {
		p.addMissed(m.ScheduleID, m.Slot, m.Reason)
	}
	return s, nil
}

// passDueSlots records the slots that have passed while the coach sends no prompts,
// of the schedule that fired and of all others that are due.
func passDueSlots(s Input, p *plan, fired string) (wire.Decision, error) {
	_, err := s.passSlots(p, s.whyNoPrompt(), func(schedule wire.Schedule) bool {
		due, found := s.dueOf(schedule.ID)
		return schedule.ID == fired || found && !due.At.After(s.Now)
	})
	return p.toDecision(), err
}

// settleSlots records, before the status changes, the slots that passed under the one
// before: for an active participant those that an outage held up, and where no slots go
// on all that have come.
func (s Input) settleSlots(p *plan, to wire.Status) (Input, error) {
	goOn := s.Rules.DecisionPoints && to != wire.StatusCompleted && to != wire.StatusWithdrawn
	isPast := func(schedule wire.Schedule) bool {
		due, found := s.dueOf(schedule.ID)
		return found && !due.At.After(s.Now) && (!goOn || due.At.Add(lateness).Before(s.Now))
	}
	switch {
	case to == s.State.Status:
		return s, nil
	case s.canCoach() && !s.Rules.Silent:
		return s.passSlots(p, MissedOutage, isPast)
	case to == wire.StatusActive && s.keepsSlots() && s.Rules.DecisionPoints:
		return s.passSlots(p, s.whyNoPrompt(), func(wire.Schedule) bool { return true })
	case s.keepsSlots() && !goOn:
		return s.passSlots(p, s.whyNoPrompt(), isPast)
	}
	return s, nil
}
