package coach

import (
	"slices"

	"coachline/models"
)

// keepsSlots reports whether the slots of the participant's schedules come. Where each
// is a decision point they also do for people who are paused or opted out, and are
// recorded; a study that is over has no more of them.
func (s Input) keepsSlots() bool {
	switch s.State.Status {
	case models.StatusActive:
		return true
	case models.StatusPaused, models.StatusOptedOut:
		return s.Rules.DecisionPoints && !s.Rules.Silent
	case models.StatusCompleted, models.StatusWithdrawn:
	}
	return false
}

// withoutSlots leaves the slots out of due times that are to be cleared, where they
// go on.
func (s Input) withoutSlots(kinds ...models.DueKind) []models.DueKind {
	if !s.Rules.DecisionPoints {
		return kinds
	}
	return slices.DeleteFunc(kinds, func(kind models.DueKind) bool { return kind == models.DueDailyPrompt })
}

// whyNoPrompt says why the coach sends no prompts now.
func (s Input) whyNoPrompt() string {
	switch {
	case s.State.Status == models.StatusPaused:
		return MissedPaused
	case s.State.Status == models.StatusOptedOut:
		return string(models.StatusOptedOut)
	case s.Rules.Silent:
		return MissedStudyOver
	}
	return models.MissedTakenOver
}

// dueOf returns when the slot of a schedule is due; false: it is not.
func (s Input) dueOf(id string) (models.Due, bool) {
	i := slices.IndexFunc(s.State.Due, func(due models.Due) bool { return due.Kind == models.DueDailyPrompt && due.Ref == id })
	if i < 0 {
		return models.Due{}, false
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
func (s Input) passSlots(p *plan, reason string, isPast func(models.Schedule) bool) (Input, error) {
	var missed []models.MissedPrompt
	s.State.Schedules = slices.Clone(s.State.Schedules)
	for i, schedule := range s.State.Schedules {
		if schedule.Next.Date == "" || !isPast(schedule) {
			continue
		}
		for !schedule.Next.SendAt.After(s.Now) {
			slot := schedule.Next
			missed = append(missed, models.MissedPrompt{ScheduleID: schedule.ID, Slot: slot, Reason: reason})
			schedule.LastDate = slot.Date
			var err error
			if schedule.Next, err = s.nextSlot(schedule, slot.TargetAt); err != nil {
				return s, err
			}
		}
		s.State.Schedules[i] = schedule
		p.putSchedule(schedule)
		p.setDue(models.DueDailyPrompt, schedule.ID, schedule.Next.SendAt)
	}
	slices.SortStableFunc(missed, func(a, b models.MissedPrompt) int { return a.Slot.SendAt.Compare(b.Slot.SendAt) })
	for _, m := range missed {
		p.addMissed(m.ScheduleID, m.Slot, m.Reason)
	}
	return s, nil
}

// passDueSlots records the slots that have passed while the coach sends no prompts,
// of the schedule that fired and of all others that are due.
func passDueSlots(s Input, p *plan, fired string) (models.Decision, error) {
	_, err := s.passSlots(p, s.whyNoPrompt(), func(schedule models.Schedule) bool {
		due, found := s.dueOf(schedule.ID)
		return schedule.ID == fired || found && !due.At.After(s.Now)
	})
	return p.toDecision(), err
}

// settleSlots records, before the status changes, the slots that passed under the one
// before: for an active participant those that an outage held up, and where no slots go
// on all that have come.
func (s Input) settleSlots(p *plan, to models.Status) (Input, error) {
	goOn := s.Rules.DecisionPoints && to != models.StatusCompleted && to != models.StatusWithdrawn
	isPast := func(schedule models.Schedule) bool {
		due, found := s.dueOf(schedule.ID)
		return found && !due.At.After(s.Now) && (!goOn || due.At.Add(lateness).Before(s.Now))
	}
	switch {
	case to == s.State.Status:
		return s, nil
	case s.canCoach() && !s.Rules.Silent:
		return s.passSlots(p, MissedOutage, isPast)
	case to == models.StatusActive && s.keepsSlots() && s.Rules.DecisionPoints:
		return s.passSlots(p, s.whyNoPrompt(), func(models.Schedule) bool { return true })
	case s.keepsSlots() && !goOn:
		return s.passSlots(p, s.whyNoPrompt(), isPast)
	}
	return s, nil
}
