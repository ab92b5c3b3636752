package coach

import (
	"fmt"
	"strings"
	"time"
)

// QuietHours is the part of the local day in which nothing is started, From
// inclusive, To exclusive; From after To spans midnight. The zero value, like
// any other with equal ends, means no quiet hours. State adds the hours of a state of the
// United States; empty: none.
type QuietHours struct {
	From, To Clock
	State    string
}

// stateHours are when a state allows texts, where that is stricter than federal law, by
// weekday: Texas and Rhode Island have shorter days at the end of the week.
var stateHours = map[string]struct{ weekday, saturday, sunday hours }{
	"CT": {hours{9 * 60, 20 * 60}, hours{9 * 60, 20 * 60}, hours{9 * 60, 20 * 60}},
	"FL": {hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}},
	"MD": {hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}},
	"MS": {hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}},
	"NJ": {hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}},
	"OK": {hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}, hours{8 * 60, 20 * 60}},
	"RI": {hours{9 * 60, 18 * 60}, hours{10 * 60, 17 * 60}, hours{10 * 60, 17 * 60}},
	"TX": {hours{9 * 60, 21 * 60}, hours{9 * 60, 21 * 60}, hours{12 * 60, 21 * 60}},
}

// hours is the part of a day in which texts are allowed, from inclusive, to exclusive.
type hours struct{ from, to Clock }

// In returns the rules for a person with a number of a state: its hours count beside those
// of the rules, where there are any.
func (r Rules) In(state string) Rules {
	if _, hasHours := stateHours[state]; hasHours && r.Quiet.From != r.Quiet.To {
		r.Quiet.State = state
	}
	return r
}

// stateHoursOn returns when the state allows texts on a weekday; ok is false where it has no
// hours of its own.
func (q QuietHours) stateHoursOn(day time.Weekday) (open hours, ok bool) {
	all, ok := stateHours[q.State]
	switch day { //nolint:exhaustive // the others are weekdays
	case time.Saturday:
		return all.saturday, ok
	case time.Sunday:
		return all.sunday, ok
	}
	return all.weekday, ok
}

// isClosed reports whether the state allows no texts at a wall time.
func (q QuietHours) isClosed(local time.Time) bool {
	open, ok := q.stateHoursOn(local.Weekday())
	return ok && (clockOf(local) < open.from || clockOf(local) >= open.to)
}

// ParseQuietHours reads "HH:MM-HH:MM"; the empty text means none. Equal ends
// are refused because they could mean none as well as the whole day.
func ParseQuietHours(text string) (QuietHours, error) {
	if text == "" {
		return QuietHours{}, nil
	}
	first, last, found := strings.Cut(text, "-")
	if !found {
		return QuietHours{}, fmt.Errorf("%s is not a span: use HH:MM-HH:MM, or nothing for no quiet hours", quoteValue(text))
	}
	from, err := ParseClock(strings.TrimSpace(first))
	if err != nil {
		return QuietHours{}, err
	}
	to, err := ParseClock(strings.TrimSpace(last))
	if err != nil {
		return QuietHours{}, err
	}
	if from == to {
		return QuietHours{}, fmt.Errorf("%s has equal ends: leave it empty for no quiet hours", quoteValue(text))
	}
	return QuietHours{From: from, To: to}, nil
}

// String returns the form that ParseQuietHours reads; empty for none.
func (q QuietHours) String() string {
	if q.From == q.To {
		return ""
	}
	return q.From.String() + "-" + q.To.String()
}

// Contains reports whether the wall time that local shows in its own location
// is quiet.
func (q QuietHours) Contains(local time.Time) bool {
	return q.ContainsClock(clockOf(local)) || q.isClosed(local)
}

// ContainsClock reports whether a wall time is in the quiet hours.
func (q QuietHours) ContainsClock(c Clock) bool {
	if q.From <= q.To {
		return q.From <= c && c < q.To
	}
	return c >= q.From || c < q.To
}

// End returns the first instant, not before local, that is not quiet in local's
// location; local itself when it is not quiet.
func (q QuietHours) End(local time.Time) time.Time {
	zone := local.Location()
	// Once is enough unless the clock jumps over the end into the next quiet
	// hours, as when a zone skips a day, or the state allows nothing yet.
	for q.Contains(local) {
		date := dateOf(local, zone)
		ends := q.To
		if !q.ContainsClock(clockOf(local)) {
			open, _ := q.stateHoursOn(local.Weekday())
			if clockOf(local) >= open.to {
				open, _ = q.stateHoursOn(date.addDays(1).midnight.Weekday())
				date = date.addDays(1)
			}
			ends = open.from
		} else if q.To <= clockOf(local) {
			date = date.addDays(1)
		}
		wall := date.midnight.Add(time.Duration(ends) * time.Minute)
		local = firstInstantAt(local, wall, zone).In(zone)
	}
	return local
}

// span is a stretch of time, from inclusive, to exclusive.
type span struct{ from, to time.Time }

// spansOutside lists the parts of a span that are not quiet in a zone, in
// order.
func (q QuietHours) spansOutside(s span, zone *time.Location) []span {
	var parts []span
	for at := s.from.In(zone); at.Before(s.to); {
		if q.Contains(at) {
			at = q.End(at)
			continue
		}
		stop := q.nextStart(at)
		if stop.IsZero() || stop.After(s.to) {
			stop = s.to.In(zone)
		}
		parts = append(parts, span{from: at, to: stop})
		at = stop
	}
	return parts
}

// endIn returns the first instant, not before at, that is quiet in none of the
// zones. Quiet hours that leave no such instant give one that is quiet all the
// same, days later: a caller that asks again waits again, and nothing is
// started.
func (q QuietHours) endIn(at time.Time, zones []*time.Location) time.Time {
	for range searchDays * len(zones) {
		before := at
		for _, zone := range zones {
			at = q.End(at.In(zone))
		}
		if at.Equal(before) {
			break
		}
	}
	return at.UTC()
}

// startIn returns the first instant after at, which is quiet in none of the
// zones, that may be quiet in one; a day later at most.
func (q QuietHours) startIn(at time.Time, zones []*time.Location) time.Time {
	end := at
	for _, part := range q.outsideAll(span{from: at, to: at.Add(24 * time.Hour)}, zones) {
		if part.from.After(end) {
			break
		}
		end = part.to
	}
	return end.UTC()
}

// outsideAll lists the parts of a span that are quiet in none of the zones, in
// order.
func (q QuietHours) outsideAll(s span, zones []*time.Location) []span {
	parts := []span{s}
	for _, zone := range zones {
		var left []span
		for _, part := range parts {
			left = append(left, q.spansOutside(part, zone)...)
		}
		parts = left
	}
	return parts
}

// nextStart returns the first instant after local, which is not quiet, at which
// quiet hours may begin: their start, or a change of the clock before it. Zero:
// never.
func (q QuietHours) nextStart(local time.Time) time.Time {
	if q.From == q.To {
		return time.Time{}
	}
	_, offset := local.Zone()
	zone := local.Location()
	date := dateOf(local, zone)
	if q.From <= clockOf(local) {
		date = date.addDays(1)
	}
	start := date.midnight.Add(time.Duration(q.From)*time.Minute - time.Duration(offset)*time.Second).In(zone)
	if open, ok := q.stateHoursOn(local.Weekday()); ok {
		closing := dateOf(local, zone).midnight.Add(time.Duration(open.to)*time.Minute - time.Duration(offset)*time.Second).In(zone)
		if closing.Before(start) {
			start = closing
		}
	}
	if _, end := local.ZoneBounds(); !end.IsZero() && end.Before(start) {
		return end
	}
	return start
}

// RegionZones names the IANA zones in which a person of a region may be when
// the zone is unknown; nil where the programme's own zone is the best guess.
// For US these are the zones of the fifty states, whose clocks span five hours
// or six: what is quiet in none of them is quiet for no person there. The
// region is a two-letter code in capitals.
func RegionZones(region string) []string {
	if region != "US" {
		return nil
	}
	return []string{
		"America/New_York", "America/Chicago", "America/Denver", "America/Phoenix",
		"America/Los_Angeles", "America/Anchorage", "America/Adak", "Pacific/Honolulu",
	}
}
