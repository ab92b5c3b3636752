package coach

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/wrap"
	"coachline/models/wire"
)

// MaxSchedules is how many schedules one participant may have.
const MaxSchedules = 5

// changeSchedules answers the scheduler tool: a Note that states what now
// holds, or Refused and no effect.
func changeSchedules(s Input, ask *wire.ScheduleAsk) (wire.Decision, error) {
	if ask == nil {
		return wire.Decision{}, errors.New("deciding: the scheduler event has no request")
	}
	switch ask.Action {
	case wire.ScheduleCreate:
		return createSchedule(s, *ask)
	case wire.ScheduleList:
		return listSchedules(s)
	case wire.ScheduleDelete:
		return deleteSchedule(s, ask.ID)
	case wire.ScheduleReplace:
		if ask.ByOperator {
			return replaceSchedule(s, *ask)
		}
	case wire.ScheduleMove:
		if ask.ByOperator {
			return moveNext(s, *ask)
		}
	}
	return refuseAsk("action %s is not known; allowed: %s, %s, %s", quoteValue(string(ask.Action)),
		wire.ScheduleCreate, wire.ScheduleList, wire.ScheduleDelete), nil
}

func createSchedule(s Input, ask wire.ScheduleAsk) (wire.Decision, error) {
	if ask.NewID == "" {
		return wire.Decision{}, errors.New("deciding: the new schedule has no id")
	}
	wanted, refusal := s.scheduleOf(ask)
	if refusal != "" {
		return wire.Decision{Refused: refusal}, nil
	}
	if i := slices.IndexFunc(s.State.Schedules, func(had wire.Schedule) bool { return isSameSchedule(had, wanted) }); i >= 0 {
		return scheduleNote(s, "already exists", s.State.Schedules[i])
	}
	if near := s.scheduleNear(wanted); near.ID != "" && !ask.ByOperator {
		return refuseAsk("there is %s at %s already, within %d minutes; delete it first where this one is to take its place", near.ID, near.At, int(scheduleGap.Minutes())), nil
	}
	if len(s.State.Schedules) >= MaxSchedules {
		return refuseAsk("there are %d schedules already, the most allowed; delete one first: %s", MaxSchedules, s.scheduleIDs()), nil
	}
	return placeSchedule(s, "created", wanted, ask)
}

// scheduleGap is how far apart fixed schedules are that a model makes.
const scheduleGap = 30 * time.Minute

// scheduleNear returns a fixed schedule within scheduleGap of another in the same zone.
func (s Input) scheduleNear(wanted wire.Schedule) wire.Schedule {
	at, err := ParseClock(wanted.At)
	if wanted.Type != wire.ScheduleFixed || err != nil {
		return wire.Schedule{}
	}
	for _, had := range s.State.Schedules {
		other, err := ParseClock(had.At)
		if had.Type != wire.ScheduleFixed || had.Zone != wanted.Zone || err != nil {
			continue
		}
		apart := (int(at) - int(other) + minutesPerDay) % minutesPerDay
		if min(apart, minutesPerDay-apart) < int(scheduleGap.Minutes()) {
			return had
		}
	}
	return wire.Schedule{}
}

// placeSchedule finds the next slot of a schedule and puts it into force.
func placeSchedule(s Input, status string, wanted wire.Schedule, ask wire.ScheduleAsk) (wire.Decision, error) {
	after := s.Now
	if ask.NotBefore.After(after) {
		after = ask.NotBefore
	}
	var err error
	wanted.Next, err = s.nextAllowed(wanted, after, s.Rules.Quiet)
	if errors.Is(err, ErrNoSlot) && s.isZoneUnknown() {
		return refuseAsk("the window %s-%s lies wholly in the quiet hours %s, which count in every zone of the region because the person's own zone is not known; "+
			"choose another window, or a fixed time", wanted.From, wanted.To, s.Rules.Quiet), nil
	}
	if errors.Is(err, ErrNoSlot) {
		return refuseAsk("the window %s-%s lies wholly in the quiet hours %s, when no prompt may go out; choose a window that reaches beyond them",
			wanted.From, wanted.To, s.Rules.Quiet), nil
	}
	if err != nil {
		return wire.Decision{}, err
	}
	if ask.ByOperator {
		if refusal, err := s.refuseQuiet("at", wanted.Next.SendAt, wanted); err != nil || refusal != "" {
			return wire.Decision{Refused: refusal}, err
		}
	}
	decision, err := scheduleNote(s, status, wanted)
	if err != nil {
		return wire.Decision{}, err
	}
	p := s.newPlan()
	p.putSchedule(wanted)
	if s.keepsSlots() {
		p.setDue(wire.DueDailyPrompt, wanted.ID, wanted.Next.SendAt)
	}
	decision.Effects = p.effects
	return decision, nil
}

// isSameSchedule reports whether two schedules are one: an equal id is the same
// call once more, equal values are the same wish.
func isSameSchedule(a, b wire.Schedule) bool {
	return a.ID == b.ID || hasSameTimes(a, b)
}

func hasSameTimes(a, b wire.Schedule) bool {
	return a.Type == b.Type && a.At == b.At && a.From == b.From && a.To == b.To && a.Zone == b.Zone
}

// scheduleOf turns a request into a schedule without a slot; a refusal tells the
// model what to do instead.
func (s Input) scheduleOf(ask wire.ScheduleAsk) (schedule wire.Schedule, refusal string) {
	schedule = wire.Schedule{ID: ask.NewID, Type: ask.Type, At: ask.At, From: ask.From, To: ask.To}
	if ask.Zone != "" && ask.Zone != s.State.Zone {
		if err := CheckZoneName(ask.Zone, s.Zones); err != nil {
			return schedule, "timezone: " + quoteValue(ask.Zone) + " " + err.Error()
		}
		// The participant's own zone is not written down: the schedule is to
		// move along with the person.
		schedule.Zone = ask.Zone
	}
	in := fieldsOf(ask)
	switch ask.Type {
	case wire.ScheduleFixed:
		if ask.From != "" || ask.To != "" {
			return schedule, "a fixed schedule has a " + in.at + ", no " + in.from + " or " + in.to
		}
		return schedule, badClock(in.at, ask.At)
	case wire.ScheduleRandom:
		if ask.At != "" {
			return schedule, "a random schedule has a " + in.from + " and a " + in.to + ", no " + in.at
		}
		return schedule, badWindow(in, ask.From, ask.To)
	}
	return schedule, fmt.Sprintf("type %s is not known; allowed: %s, %s", quoteValue(string(ask.Type)), wire.ScheduleFixed, wire.ScheduleRandom)
}

// scheduleFields are the names under which who asks gives the times.
type scheduleFields struct{ at, from, to string }

// fieldsOf returns the names of the tool's arguments, or of the API's fields.
func fieldsOf(ask wire.ScheduleAsk) scheduleFields {
	if ask.ByOperator {
		return scheduleFields{at: "at", from: "from", to: "to"}
	}
	return scheduleFields{at: "fixed_time", from: "random_start_time", to: "random_end_time"}
}

// badWindow says what is wrong with the ends of a random window; empty:
// nothing.
func badWindow(in scheduleFields, from, to string) string {
	var wrong []string
	for _, text := range []string{badClock(in.from, from), badClock(in.to, to)} {
		if text != "" {
			wrong = append(wrong, text)
		}
	}
	if len(wrong) == 0 && from == to {
		return in.from + " and " + in.to + " are equal; the window between them is empty"
	}
	return strings.Join(wrong, "; ")
}

func badClock(field, text string) string {
	if text == "" {
		return field + " is missing: use HH:MM, the participant's local time"
	}
	if _, err := ParseClock(text); err != nil {
		return field + ": " + err.Error()
	}
	return ""
}

func deleteSchedule(s Input, id string) (wire.Decision, error) {
	if !slices.ContainsFunc(s.State.Schedules, func(had wire.Schedule) bool { return had.ID == id }) {
		return refuseAsk("%s; %s%s", unknownID(id), s.scheduleIDs(), s.timeHint(id)), nil
	}
	note, err := json.Marshal(struct {
		OK     bool   `json:"ok"`
		Status string `json:"status"`
		ID     string `json:"id"`
	}{true, "deleted", id})
	if err != nil {
		return wire.Decision{}, fmt.Errorf("writing the tool result: %w", err)
	}
	p := s.newPlan()
	if _, err := s.passSlots(p, MissedMoved, func(had wire.Schedule) bool { return had.ID == id && s.isDueNow(id) }); err != nil {
		return wire.Decision{}, err
	}
	p.addEffect(wire.Effect{Kind: wire.EffectDropSchedule, Schedule: &wire.Schedule{ID: id}})
	p.addEffect(wire.Effect{Kind: wire.EffectClearDue, Due: wire.Due{Kind: wire.DueDailyPrompt, Ref: id}})
	return wire.Decision{Effects: p.effects, Note: string(note)}, nil
}

func unknownID(id string) string {
	if id == "" {
		return "schedule_id is missing"
	}
	return "there is no schedule " + quoteValue(id)
}

func (s Input) scheduleIDs() string {
	if len(s.State.Schedules) == 0 {
		return "there are no schedules"
	}
	ids := make([]string, len(s.State.Schedules))
	for i, schedule := range s.State.Schedules {
		ids[i] = schedule.ID
	}
	return "existing ids: " + strings.Join(ids, ", ")
}

// timeHint helps a model that gave a time for an id; empty for other texts.
func (s Input) timeHint(id string) string {
	compact := strings.ToUpper(strings.ReplaceAll(id, " ", ""))
	for _, layout := range []string{"15:04", "3:04PM", "3PM"} {
		parsed, err := time.Parse(layout, compact)
		if err != nil {
			continue
		}
		at := clockOf(parsed).String()
		i := slices.IndexFunc(s.State.Schedules, func(had wire.Schedule) bool { return had.At == at || had.From == at })
		if i < 0 {
			return fmt.Sprintf("; %s is a time, not an id, and no schedule is at that time", quoteValue(id))
		}
		return fmt.Sprintf("; %s is a time, not an id: the schedule at that time is %s", quoteValue(id), s.State.Schedules[i].ID)
	}
	return ""
}

// scheduleView is what the model is told of a schedule; instants are local to
// the schedule's zone.
type scheduleView struct {
	ID      string            `json:"id"`
	Type    wire.ScheduleType `json:"type"`
	Time    string            `json:"time,omitempty"`
	From    string            `json:"from,omitempty"`
	To      string            `json:"to,omitempty"`
	Zone    string            `json:"zone"`
	NextRun string            `json:"next_run,omitempty"`
	Weekday string            `json:"weekday,omitempty"`
	// SendAt is when the text goes out; quiet hours may have put it off.
	SendAt string `json:"send_at,omitempty"`
	Held   string `json:"held,omitempty"`
}

// viewSchedule returns a schedule as the model reads it.
func (s Input) viewSchedule(schedule wire.Schedule) (scheduleView, error) {
	zone, err := s.loadZone(schedule.Zone)
	if err != nil {
		return scheduleView{}, fmt.Errorf("describing schedule %s: %w", schedule.ID, err)
	}
	v := scheduleView{
		ID: schedule.ID, Type: schedule.Type, Time: schedule.At, From: schedule.From, To: schedule.To, Zone: zone.String(),
	}
	if !s.isActive() {
		v.Held = "no prompts go out while the participant is " + string(s.State.Status)
		return v, nil
	}
	if s.isTakenOver() {
		v.Held = "no prompts go out while a person of the team writes in the place of the coach"
		return v, nil
	}
	target, send := schedule.Next.TargetAt, schedule.Next.SendAt
	for _, due := range s.State.Due {
		if due.Kind == wire.DueDailyPrompt && due.Ref == schedule.ID {
			send = due.At
		}
	}
	v.NextRun = target.In(zone).Format(time.RFC3339)
	v.Weekday = target.In(zone).Weekday().String()
	v.SendAt = send.In(zone).Format(time.RFC3339)
	return v, nil
}

func scheduleNote(s Input, status string, schedule wire.Schedule) (wire.Decision, error) {
	view, err := s.viewSchedule(schedule)
	if err != nil {
		return wire.Decision{}, err
	}
	note, err := json.Marshal(struct {
		OK     bool   `json:"ok"`
		Status string `json:"status"`
		scheduleView
	}{true, status, view})
	return wire.Decision{Note: string(note)}, wrap.Error(err, "writing the tool result")
}

func listSchedules(s Input) (wire.Decision, error) {
	views := make([]scheduleView, 0, len(s.State.Schedules))
	for _, schedule := range s.State.Schedules {
		view, err := s.viewSchedule(schedule)
		if err != nil {
			return wire.Decision{}, err
		}
		views = append(views, view)
	}
	note, err := json.Marshal(struct {
		OK        bool           `json:"ok"`
		Schedules []scheduleView `json:"schedules"`
	}{true, views})
	return wire.Decision{Note: string(note)}, wrap.Error(err, "writing the tool result")
}
