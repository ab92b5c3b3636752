package coach

import (
	"slices"

	"coachline/models/wire"
)

// passed is a situation in which the slots that had come before a change are acted on.
type passed struct {
	Input
	// turn is the prompt that goes out; it comes after the other effects.
	turn *wire.Effect
	// held are the schedules whose slot has come and goes out later.
	held []string
}

// passDue acts on the slots of some schedules that have come and that no worker has
// acted on, as when they fall due: the newest within its grace is sent, the others are
// recorded. A change of zone or times would find other slots and lose them.
func (s Input) passDue(p *plan, isAffected func(wire.Schedule) bool) (passed, error) {
	out := passed{Input: s}
	out.State.Schedules, out.State.Due = slices.Clone(s.State.Schedules), slices.Clone(s.State.Due)
	for _, schedule := range s.State.Schedules {
		due, found := out.dueOf(schedule.ID)
		if !isAffected(schedule) || !found || due.At.After(s.Now) || schedule.Next.Date == "" {
			continue
		}
		decision, err := handleDuePrompt(out.Input, due)
		if err != nil {
			return out, err
		}
		for _, effect := range decision.Effects {
			out.applySlot(p, effect)
		}
		if i := out.indexOf(schedule.ID); !out.State.Schedules[i].Next.SendAt.After(s.Now) {
			out.held = append(out.held, schedule.ID)
		}
	}
	return out, nil
}

// applySlot adds an effect to the plan and has what follows see it.
func (s *passed) applySlot(p *plan, effect wire.Effect) {
	switch effect.Kind { //nolint:exhaustive // a due prompt has no other effects that matter here
	case wire.EffectStartTurn:
		if s.turn != nil {
			// One prompt is enough at a time.
			p.addMissed(effect.Turn.ScheduleID, effect.Turn.Slot, MissedMoved)
			return
		}
		s.turn = &effect
		return
	case wire.EffectPutSchedule:
		s.State.Schedules[s.indexOf(effect.Schedule.ID)] = *effect.Schedule
	case wire.EffectSetDue:
		s.State.Due = slices.DeleteFunc(s.State.Due, func(due wire.Due) bool { return due.Kind == effect.Due.Kind && due.Ref == effect.Due.Ref })
		s.State.Due = append(s.State.Due, effect.Due)
	}
	p.addEffect(effect)
}

// finish returns the decision with the prompt that goes out.
func (s *passed) finish(effects []wire.Effect) []wire.Effect {
	if s.turn != nil {
		effects = append(effects, *s.turn)
	}
	return effects
}

// recordMoved records the slot that a schedule had where its new one is of a later date,
// and returns the schedule with that date as done.
func (s Input) recordMoved(p *plan, was, schedule wire.Schedule) wire.Schedule {
	if was.Next.Date > was.LastDate && s.keepsSlots() && schedule.Next.Date > was.Next.Date {
		p.addMissed(was.ID, was.Next, MissedMoved)
		schedule.LastDate = max(schedule.LastDate, was.Next.Date)
	}
	return schedule
}
