package coach

import (
	"fmt"
	"slices"
	"time"

	"coachline/models/wire"
)

// replaceSchedule gives a schedule other times. It keeps its id and the dates that
// have had a prompt, so no date gets a second one. What has come before is acted on
// first.
func replaceSchedule(s Input, ask wire.ScheduleAsk) (wire.Decision, error) {
	i := s.indexOf(ask.ID)
	if i < 0 {
		return refuseAsk("%s; %s", unknownID(ask.ID), s.scheduleIDs()), nil
	}
	if was := s.State.Schedules[i]; ask.Based != nil && !hasSameTimes(was, *ask.Based) {
		return refuseAsk(wire.ScheduleChanged), nil
	}
	ask.NewID = ask.ID
	wanted, refusal := s.scheduleOf(ask)
	if refusal != "" {
		return wire.Decision{Refused: refusal}, nil
	}
	isOther := func(had wire.Schedule) bool { return had.ID != ask.ID && isSameSchedule(had, wanted) }
	if slices.ContainsFunc(s.State.Schedules, isOther) {
		return refuseAsk("%s: there is a schedule at that time already", fieldOfTime(wanted)), nil
	}
	p := s.newPlan()
	then, err := s.passDue(p, func(had wire.Schedule) bool { return had.ID == ask.ID })
	if err != nil {
		return wire.Decision{}, err
	}
	was := then.State.Schedules[i]
	if slices.Contains(then.held, was.ID) {
		p.addMissed(was.ID, was.Next, MissedMoved)
		was.LastDate, was.Next = was.Next.Date, wire.Slot{}
	}
	wanted.LastDate, wanted.LastAt = was.LastDate, was.LastAt
	out, err := placeSchedule(then.Input, "changed", wanted, ask)
	if err != nil || out.Refused != "" {
		return out, err
	}
	for j, effect := range out.Effects {
		if effect.Kind == wire.EffectPutSchedule {
			placed := s.recordMoved(p, was, *effect.Schedule)
			out.Effects[j].Schedule = &placed
		}
	}
	out.Effects = then.finish(append(p.effects, out.Effects...))
	return out, nil
}

// moveNext moves the next prompt of a schedule alone; those after it keep their
// times. It is not moved into quiet hours, onto a date that has had its prompt, or
// beyond the prompt that follows it.
func moveNext(s Input, ask wire.ScheduleAsk) (wire.Decision, error) {
	i := s.indexOf(ask.ID)
	if i < 0 {
		return refuseAsk("%s; %s", unknownID(ask.ID), s.scheduleIDs()), nil
	}
	schedule, to := s.State.Schedules[i], ask.MoveTo.UTC().Truncate(time.Minute)
	if !s.isActive() || schedule.Next.Date == "" {
		return refuseAsk("to: no prompt is planned, because the participant is %s", s.State.Status), nil
	}
	if !to.After(s.Now) {
		return refuseAsk("to: must be in the future"), nil
	}
	if refusal, err := s.refuseQuiet("to", to, schedule); err != nil || refusal != "" {
		return wire.Decision{Refused: refusal}, err
	}
	following := schedule
	following.LastDate = schedule.Next.Date
	after, err := s.nextSlot(following, schedule.Next.TargetAt)
	if err != nil {
		return wire.Decision{}, err
	}
	zone, err := s.loadZone(schedule.Zone)
	if err != nil {
		return wire.Decision{}, fmt.Errorf("moving a prompt of schedule %s: %w", schedule.ID, err)
	}
	switch {
	case !to.Before(after.SendAt):
		return refuseAsk("to: must be before the prompt that follows, at %s", after.SendAt.In(zone).Format(time.RFC3339)), nil
	case hadPrompt(schedule, dateOf(to, zone), zone):
		return refuseAsk("to: the prompt of that date has gone out; choose a later date"), nil
	}
	schedule.Next.TargetAt, schedule.Next.SendAt = to, to
	decision, err := scheduleNote(s, "moved", schedule)
	if err != nil {
		return wire.Decision{}, err
	}
	p := s.newPlan()
	p.putSchedule(schedule)
	p.setDue(wire.DueDailyPrompt, schedule.ID, to)
	decision.Effects = p.effects
	return decision, nil
}

// indexOf finds a schedule by its id; -1 where there is none.
func (s Input) indexOf(id string) int {
	return slices.IndexFunc(s.State.Schedules, func(had wire.Schedule) bool { return had.ID == id })
}

// fieldOfTime names the field that holds a schedule's time.
func fieldOfTime(schedule wire.Schedule) string {
	if schedule.Type == wire.ScheduleRandom {
		return "from"
	}
	return "at"
}

// refuseQuiet refuses an instant in the person's quiet hours, in the words of the
// field that asked for it; empty: it is not quiet then.
func (s Input) refuseQuiet(field string, at time.Time, schedule wire.Schedule) (string, error) {
	zones, err := s.quietZones()
	if err != nil {
		return "", fmt.Errorf("finding the participant's quiet hours: %w", err)
	}
	if !s.Rules.Quiet.endIn(at, zones).After(at) {
		return "", nil
	}
	zone, err := s.loadZone(schedule.Zone)
	if err != nil {
		return "", fmt.Errorf("finding the zone of schedule %s: %w", schedule.ID, err)
	}
	where := "the person's quiet hours"
	if s.isZoneUnknown() {
		where = "the quiet hours of every zone of the region, which count because the person's own zone is not known,"
	}
	if s.Rules.Quiet.isClosed(at.In(zones[0])) {
		where = "the hours in which the law of " + s.Rules.Quiet.State + " allows no texts, beside"
	}
	return fmt.Sprintf("%s: the prompt would go out at %s, within %s %s; only the person can choose such a time",
		field, at.In(zone).Format("15:04 MST"), where, s.Rules.Quiet), nil
}
