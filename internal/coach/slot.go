package coach

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"coachline/models/wire"
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

// NextSlot returns the first slot of a schedule whose local date is later than
// LastDate and than that of LastAt, and whose target is later than After. Equal
// input gives an equal slot, in any process.
//
// A fixed target is the local time on the date; in a clock-change gap the
// first instant after it, of a repeated time the first occurrence. The slot
// keeps the date that was asked for even where the gap ends at midnight. SendAt
// is Prep earlier, but not before After: what is due in less than Prep goes out
// at once. It is never on a local date that has had a prompt, nor after the
// slot's date.
//
// A random target is one whole minute of the window outside quiet hours, drawn
// from participant, schedule and date. Of a window over midnight a date has two
// parts; a schedule keeps to one of them, drawn by their lengths, unless quiet
// hours leave nothing of it. A window that a gap swallows shrinks to the first
// instant after the gap, or to the last minute of the date.
//
// Errors: ErrNoSlot, or a description of what is wrong with the schedule.
func NextSlot(s wire.Schedule, p SlotParams) (wire.Slot, error) {
	if p.Zone == nil {
		return wire.Slot{}, errors.New("finding a slot: no zone")
	}
	if len(p.QuietZones) == 0 {
		p.QuietZones = []*time.Location{p.Zone}
	}
	target, err := targetRule(s, p)
	if err != nil {
		return wire.Slot{}, err
	}
	// A clock that is set back over midnight shows yesterday again.
	date := dateOf(p.After, p.Zone).addDays(-1)
	if s.LastDate != "" {
		last, err := parseDate(s.LastDate)
		if err != nil {
			return wire.Slot{}, fmt.Errorf("reading the last date of schedule %s: %w", s.ID, err)
		}
		if !date.midnight.After(last.midnight) {
			date = last.addDays(1)
		}
	}
	for range searchDays {
		at, ok := target(date)
		if ok && at.After(p.After) && date.existsIn(p.Zone) && !hadPrompt(s, dateOf(at, p.Zone), p.Zone) {
			return wire.Slot{Date: date.String(), TargetAt: at, SendAt: sendAt(s, p, date, at)}, nil
		}
		date = date.addDays(1)
	}
	return wire.Slot{}, ErrNoSlot
}

// hadPrompt reports whether the newest prompt of a schedule went out on a local
// date of the zone, or on a later one.
func hadPrompt(s wire.Schedule, d localDate, zone *time.Location) bool {
	return !s.LastAt.IsZero() && !dateOf(s.LastAt, zone).midnight.Before(d.midnight)
}

// sendAt returns when the prompt of a date goes out.
func sendAt(s wire.Schedule, p SlotParams, date localDate, target time.Time) time.Time {
	if s.Type != wire.ScheduleFixed {
		return target
	}
	send := target.Add(-max(p.Prep, 0))
	if hadPrompt(s, dateOf(send, p.Zone), p.Zone) {
		send = dateOf(target, p.Zone).instantOf(0, p.Zone)
	}
	if last := date.lastMinute(p.Zone); send.After(last) {
		send = last
	}
	if !send.After(p.After) {
		send = p.After
	}
	return send.UTC()
}

// targetRule returns how a schedule picks the instant of a date; false: none.
func targetRule(s wire.Schedule, p SlotParams) (func(localDate) (time.Time, bool), error) {
	switch s.Type {
	case wire.ScheduleFixed:
		clock, err := ParseClock(s.At)
		if err != nil {
			return nil, fmt.Errorf("reading schedule %s: %w", s.ID, err)
		}
		return func(d localDate) (time.Time, bool) { return d.instantOf(clock, p.Zone), true }, nil
	case wire.ScheduleRandom:
		from, err := ParseClock(s.From)
		if err != nil {
			return nil, fmt.Errorf("reading schedule %s: %w", s.ID, err)
		}
		to, err := ParseClock(s.To)
		if err != nil {
			return nil, fmt.Errorf("reading schedule %s: %w", s.ID, err)
		}
		parts := windowParts(p.ParticipantID+"\x00"+s.ID, from, to)
		return func(d localDate) (time.Time, bool) {
			for _, part := range parts {
				if at, ok := drawMinute(p.ParticipantID+"\x00"+s.ID+"\x00"+d.String(), p.allowedIn(part, d)); ok {
					return at, true
				}
			}
			return time.Time{}, false
		}, nil
	}
	return nil, fmt.Errorf("schedule %s has the unknown type %q", s.ID, s.Type)
}

// clockSpan is a stretch of the local day, from inclusive, to exclusive; to may
// be the end of the day.
type clockSpan struct{ from, to Clock }

// windowParts lists the parts that a random window has on each date, the one
// that is used first. Over midnight these are an evening and a morning; taking
// now one and now the other would give dates with two prompts and nights with
// two, so the seed decides.
func windowParts(seed string, from, to Clock) []clockSpan {
	if from < to {
		return []clockSpan{{from, to}}
	}
	evening, morning := clockSpan{from, minutesPerDay}, clockSpan{0, to}
	if to == 0 {
		return []clockSpan{evening}
	}
	length := uint64(minutesPerDay - from + to)
	if pickBelow(seed, length) < uint64(to) {
		return []clockSpan{morning, evening}
	}
	return []clockSpan{evening, morning}
}

// allowedIn lists what quiet hours leave of a part of a window on a date.
func (p SlotParams) allowedIn(part clockSpan, d localDate) []span {
	w := span{from: d.instantOf(part.from, p.Zone), to: d.instantOf(part.to, p.Zone)}
	if !w.from.Before(w.to) {
		w.to = w.from.Add(time.Minute)
	}
	spans := d.spansWithin(w, p.Zone)
	if len(spans) == 0 {
		last := d.lastMinute(p.Zone)
		spans = []span{{from: last, to: last.Add(time.Minute)}}
	}
	var allowed []span
	for _, s := range spans {
		allowed = append(allowed, p.Quiet.outsideAll(s, p.QuietZones)...)
	}
	return allowed
}

// pickBelow returns a number below limit that the seed decides.
func pickBelow(seed string, limit uint64) uint64 {
	sum := sha256.Sum256([]byte(seed))
	return binary.BigEndian.Uint64(sum[:8]) % limit
}

// drawMinute picks one whole minute of the spans, each as likely as any other.
func drawMinute(seed string, spans []span) (time.Time, bool) {
	var minutes uint64
	for _, s := range spans {
		minutes += s.wholeMinutes()
	}
	if minutes == 0 {
		return time.Time{}, false
	}
	pick := pickBelow(seed, minutes)
	for _, s := range spans {
		if n := s.wholeMinutes(); pick >= n {
			pick -= n
			continue
		}
		return s.from.Add(time.Duration(pick) * time.Minute).UTC(), true
	}
	return time.Time{}, false
}

func (s span) wholeMinutes() uint64 { return uint64(s.to.Sub(s.from) / time.Minute) }

// maxOpenings bounds how many ends of quiet hours a greeting is moved to; with
// more, quiet hours leave no minute of the day.
const maxOpenings = 1000

// Stagger plans the greetings of people who are enrolled together: each outside
// the person's quiet hours, and no more of them in a minute than a sender can
// send beside its replies. The same people in the same order get the same plan.
type Stagger struct {
	perMinute int
	// taken counts the greetings of a minute, and after leads from a full minute
	// to a later one that may have room.
	taken map[int64]int
	after map[int64]int64
}

// NewStagger plans at most perMinute greetings a minute, at least 1.
func NewStagger(perMinute int) *Stagger {
	return &Stagger{perMinute: max(perMinute, 1), taken: map[int64]int{}, after: map[int64]int64{}}
}

// Plan returns when the person is greeted: in the first minute from s.Now on that
// has room and is not quiet for them.
func (g *Stagger) Plan(s Input) (time.Time, error) {
	s.Now = ceilMinute(s.Now.UTC())
	for range maxOpenings {
		open, err := s.Opens()
		if err != nil {
			return time.Time{}, err
		}
		if open.After(s.Now) {
			s.Now = ceilMinute(open.UTC())
			continue
		}
		minute := s.Now.Unix() / 60
		if free := g.firstFree(minute); free > minute {
			s.Now = time.Unix(free*60, 0).UTC()
			continue
		}
		at := s.Now.Add(time.Minute * time.Duration(g.taken[minute]) / time.Duration(g.perMinute))
		g.take(minute)
		return at.Truncate(time.Microsecond), nil
	}
	return s.Now, nil
}

func (g *Stagger) take(minute int64) {
	g.taken[minute]++
	if g.taken[minute] == g.perMinute {
		g.after[minute] = minute + 1
	}
}

// firstFree returns the first minute from a minute on that has room. It shortens
// the way for the next call.
func (g *Stagger) firstFree(minute int64) int64 {
	free := minute
	for next, full := g.after[free]; full; next, full = g.after[free] {
		free = next
	}
	for minute != free {
		minute, g.after[minute] = g.after[minute], free
	}
	return free
}

// ceilMinute returns the first whole minute that is not before an instant.
func ceilMinute(t time.Time) time.Time {
	whole := t.Truncate(time.Minute)
	if whole.Before(t) {
		whole = whole.Add(time.Minute)
	}
	return whole
}
