package coach

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"coachline/models"
)

// ErrNoSlot says that a schedule has no instant at which it may go out; for a
// random one, all of its window lies in quiet hours.
var ErrNoSlot = errors.New("the schedule has no time at which it may go out")

// searchDays bounds the search for a slot. Dates without one come singly (a
// date that the zone skips, a window that a clock change swallows), so this
// many in a row mean that there is none.
const searchDays = 10

// SlotParams is what the next slot of a schedule depends on besides the
// schedule.
type SlotParams struct {
	ParticipantID string
	// After: the slot's target is later than this instant.
	After time.Time
	// Zone is the schedule's zone.
	Zone *time.Location
	// Prep is how long before its target a fixed prompt goes out, less than a
	// day; it does not apply to random schedules, whose window was named.
	Prep  time.Duration
	Quiet QuietHours
	// QuietZones is where quiet hours count: an instant is quiet when it is so
	// in any of them; empty means Zone.
	QuietZones []*time.Location
}

// NextSlot is the first slot of a schedule whose local date is later than
// LastDate and whose target is later than After. Equal input gives an equal
// slot, in any process.
//
// A fixed target is the local time on the date; in a clock-change gap the
// first instant after it, of a repeated time the first occurrence. The slot
// keeps the date that was asked for even where the gap ends at midnight. SendAt
// is Prep earlier, but not before After: what is due in less than Prep goes out
// at once.
//
// A random target is one whole minute of the window outside quiet hours, drawn
// from participant, schedule and date. A window that a gap swallows shrinks to
// the first instant after the gap.
//
// Errors: ErrNoSlot, or a description of what is wrong with the schedule.
func NextSlot(s models.Schedule, p SlotParams) (models.Slot, error) {
	if p.Zone == nil {
		return models.Slot{}, errors.New("finding a slot: no zone")
	}
	if len(p.QuietZones) == 0 {
		p.QuietZones = []*time.Location{p.Zone}
	}
	target, err := targetRule(s, p)
	if err != nil {
		return models.Slot{}, err
	}
	// Yesterday's window may reach into today.
	date := dateOf(p.After, p.Zone).plus(-1)
	if s.LastDate != "" {
		last, err := parseDate(s.LastDate)
		if err != nil {
			return models.Slot{}, fmt.Errorf("reading the last date of schedule %s: %w", s.ID, err)
		}
		if !date.midnight.After(last.midnight) {
			date = last.plus(1)
		}
	}
	for range searchDays {
		if at, ok := target(date); ok && at.After(p.After) && date.in(p.Zone) {
			return models.Slot{Date: date.String(), TargetAt: at, SendAt: sendAt(s, p, at)}, nil
		}
		date = date.plus(1)
	}
	return models.Slot{}, ErrNoSlot
}

func sendAt(s models.Schedule, p SlotParams, target time.Time) time.Time {
	if s.Type != models.ScheduleFixed || p.Prep <= 0 {
		return target
	}
	if early := target.Add(-p.Prep); early.After(p.After) {
		return early
	}
	return p.After.UTC()
}

// targetRule is how a schedule picks the instant of a date; false: none.
func targetRule(s models.Schedule, p SlotParams) (func(localDate) (time.Time, bool), error) {
	switch s.Type {
	case models.ScheduleFixed:
		clock, err := ParseClock(s.At)
		if err != nil {
			return nil, fmt.Errorf("reading schedule %s: %w", s.ID, err)
		}
		return func(d localDate) (time.Time, bool) { return d.at(clock, p.Zone), true }, nil
	case models.ScheduleRandom:
		from, err := ParseClock(s.From)
		if err != nil {
			return nil, fmt.Errorf("reading schedule %s: %w", s.ID, err)
		}
		to, err := ParseClock(s.To)
		if err != nil {
			return nil, fmt.Errorf("reading schedule %s: %w", s.ID, err)
		}
		return func(d localDate) (time.Time, bool) {
			end := d
			if to <= from {
				end = d.plus(1)
			}
			seed := p.ParticipantID + "\x00" + s.ID + "\x00" + d.String()
			return draw(seed, p.window(span{from: d.at(from, p.Zone), to: end.at(to, p.Zone)}))
		}, nil
	}
	return nil, fmt.Errorf("schedule %s has the unknown type %q", s.ID, s.Type)
}

// window is the part of a random window in which a prompt may go out.
func (p SlotParams) window(w span) []span {
	if !w.from.Before(w.to) {
		w.to = w.from.Add(time.Minute)
	}
	return p.Quiet.outsideAll(w, p.QuietZones)
}

// draw picks one whole minute of the spans, each as likely as any other.
func draw(seed string, spans []span) (time.Time, bool) {
	var minutes uint64
	for _, s := range spans {
		minutes += s.minutes()
	}
	if minutes == 0 {
		return time.Time{}, false
	}
	sum := sha256.Sum256([]byte(seed))
	pick := binary.BigEndian.Uint64(sum[:8]) % minutes
	for _, s := range spans {
		if n := s.minutes(); pick >= n {
			pick -= n
			continue
		}
		return s.from.Add(time.Duration(pick) * time.Minute).UTC(), true
	}
	return time.Time{}, false
}

func (s span) minutes() uint64 { return uint64(s.to.Sub(s.from) / time.Minute) }
