// Package coach holds the coaching rules as pure functions: what follows from
// an event (Decide), when a schedule is next due (NextSlot), what a profile
// becomes (MergeProfile). Clocks, zones and settings are parameters; workflow
// code applies the effects.
package coach

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"coachline/models/wire"
)

// Rules are the programme's settings; a duration of 0 turns its rule off.
type Rules struct {
	// PrepTime is how long before its target a fixed prompt goes out.
	PrepTime time.Duration
	// PromptSpread spreads the prompts of people who chose the same minute:
	// each person's go out up to this much nearer to the target than PrepTime
	// says, by the same amount every day, and never after the target. What an
	// outage or quiet hours held up goes out over as long from their end.
	PromptSpread time.Duration
	// PromptGrace is how long after its target a prompt may still go out; at 0
	// one that is more than two minutes late is missed.
	PromptGrace time.Duration
	// ReminderDelay, AutoFeedbackDelay: from the carrier's acceptance of a
	// prompt to its reminder, to the switch into feedback.
	ReminderDelay     time.Duration
	AutoFeedbackDelay time.Duration
	// FeedbackTimeout: from the switch to the question; FeedbackFollowup: from
	// the question to the follow-up.
	FeedbackTimeout  time.Duration
	FeedbackFollowup time.Duration
	// CheckIn: from the last contact to the check whether to write; CheckInCap
	// bounds what goes out on a local date.
	CheckIn    time.Duration
	CheckInCap int
	// MaxInitiated bounds what we start on a local date of the person; 0: nothing does,
	// and each follow-up of a prompt has its own time. BackOff: people who do not answer
	// are texted less often.
	MaxInitiated int
	BackOff      bool
	// Debounce is the silence that ends a burst of texts, DebounceMax the
	// longest that its first text waits (0: no limit).
	Debounce    time.Duration
	DebounceMax time.Duration
	Quiet       QuietHours
	// Band is where quiet hours count for people whose zone is assumed: in all
	// of these zones (RegionZones). Empty: in the assumed zone.
	Band []*time.Location
	// NoReminders also drops the reminders that are due already.
	NoReminders bool
	// Silent starts nothing: the study is over, or has not begun. Replies go on.
	Silent bool
	// DecisionPoints: each slot of a prompt is recorded, also those of people who are
	// paused or opted out.
	DecisionPoints bool
}

// prepFor returns how long before its target a participant's fixed prompt goes
// out.
func (r Rules) prepFor(participantID string) time.Duration {
	return r.PrepTime - r.spreadOffset(participantID)
}

// spreadOffset returns the participant's offset in the spread, the same every
// day.
func (r Rules) spreadOffset(participantID string) time.Duration {
	spread := min(r.PromptSpread, r.PrepTime)
	if spread <= 0 {
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(participantID)) // never fails
	return time.Duration(hash.Sum64() % uint64(spread))
}

// Zones resolves an IANA zone name; an error means that there is no such zone.
type Zones func(name string) (*time.Location, error)

// Input is everything a decision is made from besides the event. Decide
// reads State and never changes it. What is asked of it is a method; what answers an
// event with a decision is a function.
type Input struct {
	State wire.ParticipantState
	Now   time.Time
	Rules Rules
	Zones Zones
}

// loadZone resolves the zone of a name, or of the participant when it is empty.
func (s Input) loadZone(name string) (*time.Location, error) {
	if name == "" {
		name = s.State.Zone
	}
	return s.zoneNamed(name)
}

func (s Input) zoneNamed(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%s is not a time zone: use an IANA name such as America/New_York", quoteValue(name))
	}
	zone, err := s.Zones(name)
	if err != nil {
		return nil, fmt.Errorf("%s is not a known time zone: use an IANA name such as America/New_York", quoteValue(name))
	}
	return zone, nil
}

// Opens returns the end of the participant's quiet hours; Now or earlier means
// that it is not quiet.
func (s Input) Opens() (time.Time, error) {
	zones, err := s.quietZones()
	if err != nil {
		return time.Time{}, fmt.Errorf("finding the participant's quiet hours: %w", err)
	}
	return s.Rules.Quiet.endIn(s.Now, zones), nil
}

func (s Input) spreadOffset() time.Duration { return s.Rules.spreadOffset(s.State.ParticipantID) }

// spreadFrom returns when what was held up until an instant goes out: at the
// person's share of the spread from then on, since outages and quiet hours end
// for many at one instant; or at once, where it would be quiet again by then.
func (s Input) spreadFrom(end time.Time) (time.Time, error) {
	s.Now = end.Add(s.spreadOffset())
	open, err := s.Opens()
	if err != nil || open.After(s.Now) {
		return end, err
	}
	return s.Now, nil
}

// endShare is the part of the spread over which pauses and take-overs of one instant end:
// half a minute of ten.
const endShare = 20

// endFrom returns when a pause or take-over until an instant ends for this person: a
// little later, since an operator gives many the same instant.
func (s Input) endFrom(until time.Time) time.Time { return until.Add(s.spreadOffset() / endShare) }

// quietZones returns where the participant's quiet hours count.
func (s Input) quietZones() ([]*time.Location, error) {
	home, err := s.loadZone("")
	switch {
	case err != nil:
		return nil, err
	case !s.isZoneUnknown():
		return []*time.Location{home}, nil
	case home == time.UTC || home.String() == time.UTC.String():
		// The default of a programme that names no zone says nothing.
		return s.Rules.Band, nil
	}
	// A programme elsewhere may have left the region as it was.
	return append([]*time.Location{home}, s.Rules.Band...), nil
}

// isZoneUnknown reports whether it is unknown where the person is, so that
// quiet hours count everywhere.
func (s Input) isZoneUnknown() bool { return s.State.ZoneAssumed && len(s.Rules.Band) > 0 }

// nextSlot returns the first slot of a schedule after an instant. A window that
// later settings put wholly into quiet hours keeps its instant: the prompt is
// then recorded as missed day by day instead of vanishing.
func (s Input) nextSlot(schedule wire.Schedule, after time.Time) (wire.Slot, error) {
	slot, err := s.nextAllowed(schedule, after, s.Rules.Quiet)
	if errors.Is(err, ErrNoSlot) {
		return s.nextAllowed(schedule, after, QuietHours{})
	}
	return slot, err
}

func (s Input) nextAllowed(schedule wire.Schedule, after time.Time, quiet QuietHours) (wire.Slot, error) {
	zone, err := s.loadZone(schedule.Zone)
	if err != nil {
		return wire.Slot{}, fmt.Errorf("finding the next slot of schedule %s: %w", schedule.ID, err)
	}
	quietZones, err := s.quietZones()
	if err != nil {
		return wire.Slot{}, fmt.Errorf("finding the next slot of schedule %s: %w", schedule.ID, err)
	}
	return NextSlot(schedule, SlotParams{
		ParticipantID: s.State.ParticipantID,
		After:         after,
		Zone:          zone,
		Prep:          s.Rules.prepFor(s.State.ParticipantID),
		Quiet:         quiet,
		QuietZones:    quietZones,
	})
}

func (s Input) isActive() bool { return s.State.Status == wire.StatusActive }

// isTakenOver reports whether an operator writes in the place of the coach.
func (s Input) isTakenOver() bool { return !s.State.TakenOverUntil.IsZero() }

// canCoach reports whether the coach may write at all.
func (s Input) canCoach() bool { return s.isActive() && !s.isTakenOver() }

// canSpeakFirst reports whether the participant does not wait for an answer, so
// that we may speak first.
func (s Input) canSpeakFirst() bool {
	return s.canCoach() && !s.Rules.Silent && len(s.State.Inbox.Items) == 0
}

// plan collects the effects of one decision.
type plan struct {
	due     []wire.Due
	effects []wire.Effect
}

// newPlan returns a plan without effects.
func (s Input) newPlan() *plan { return &plan{due: s.State.Due} }

func (p *plan) addEffect(effect wire.Effect) { p.effects = append(p.effects, effect) }

func (p *plan) setDue(kind wire.DueKind, ref string, at time.Time) {
	p.addEffect(wire.Effect{Kind: wire.EffectSetDue, Due: wire.Due{Kind: kind, At: at.UTC(), Ref: ref}})
}

// setDueAfter sets a due time a delay from now; a delay of 0 means that the
// rule is off.
func (p *plan) setDueAfter(kind wire.DueKind, ref string, now time.Time, delay time.Duration) {
	if delay > 0 {
		p.setDue(kind, ref, now.Add(delay))
	}
}

// clearDue removes every due time of the kinds, where the state has any.
func (p *plan) clearDue(kinds ...wire.DueKind) {
	for _, kind := range kinds {
		if slices.ContainsFunc(p.due, func(d wire.Due) bool { return d.Kind == kind }) {
			p.addEffect(wire.Effect{Kind: wire.EffectClearDue, Due: wire.Due{Kind: kind}})
		}
	}
}

func (p *plan) putSchedule(schedule wire.Schedule) {
	p.addEffect(wire.Effect{Kind: wire.EffectPutSchedule, Schedule: &schedule})
}

func (p *plan) clearPending(state wire.ParticipantState) {
	if state.Pending != nil {
		p.addEffect(wire.Effect{Kind: wire.EffectClearPending})
	}
}

func (p *plan) startTurn(turn wire.TurnPlan) {
	p.addEffect(wire.Effect{Kind: wire.EffectStartTurn, Turn: &turn})
}

func (p *plan) toDecision() wire.Decision { return wire.Decision{Effects: p.effects} }

// quoteValue shows a value that came from outside in a message, cut to a length
// that cannot drown the message.
func quoteValue(value string) string {
	const limit = 60
	if runes := []rune(value); len(runes) > limit {
		value = string(runes[:limit]) + "..."
	}
	return strconv.Quote(value)
}
