package coach

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Clock is a local wall time in minutes after midnight, 0 to 1439.
type Clock int

const minutesPerDay = 24 * 60

// ParseClock reads "HH:MM", 00:00 to 23:59, two digits each.
func ParseClock(text string) (Clock, error) {
	if len(text) == 5 && text[2] == ':' {
		hour, hourErr := strconv.ParseUint(text[:2], 10, 8)
		minute, minuteErr := strconv.ParseUint(text[3:], 10, 8)
		if hourErr == nil && minuteErr == nil && hour <= 23 && minute <= 59 {
			return Clock(hour*60 + minute), nil
		}
	}
	return 0, fmt.Errorf("%s is not a time: use HH:MM from 00:00 to 23:59", quoteValue(text))
}

// String returns the "HH:MM" form that ParseClock reads.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// clockOf returns the wall time that local shows in its own location.
func clockOf(local time.Time) Clock { return Clock(local.Hour()*60 + local.Minute()) }

// firstInstantAt returns the first instant, not before from, at which a wall
// clock of the zone shows wall (coded as the UTC instant that shows the same) or later. One rule
// settles both clock changes: a time inside a gap is reached at the first
// instant after the gap, a repeated time at its first occurrence.
func firstInstantAt(from, wall time.Time, zone *time.Location) time.Time {
	for at := from.In(zone); ; {
		_, offset := at.Zone()
		candidate := wall.Add(-time.Duration(offset) * time.Second)
		if candidate.Before(at) {
			candidate = at
		}
		_, end := at.ZoneBounds()
		if end.IsZero() || candidate.Before(end) {
			return candidate.UTC()
		}
		at = end
	}
}

// localDate is a date of a calendar, coded as its midnight in UTC; whether a
// zone has it is a question of its own.
type localDate struct{ midnight time.Time }

func dateOf(at time.Time, zone *time.Location) localDate {
	year, month, day := at.In(zone).Date()
	return localDate{time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

func parseDate(text string) (localDate, error) {
	midnight, err := time.Parse(time.DateOnly, text)
	return localDate{midnight}, err
}

func (d localDate) String() string { return d.midnight.Format(time.DateOnly) }

// addDays returns the date a number of days later.
func (d localDate) addDays(days int) localDate { return localDate{d.midnight.AddDate(0, 0, days)} }

// instantOf returns the instant of a wall time on the date, by the rule of
// firstInstantAt.
func (d localDate) instantOf(c Clock, zone *time.Location) time.Time {
	wall := d.midnight.Add(time.Duration(c) * time.Minute)
	// No offset is beyond 16 hours, so the reading is still ahead a day and a
	// half before.
	return firstInstantAt(wall.Add(-36*time.Hour), wall, zone)
}

// lastMinute returns the beginning of the last minute before the next date
// begins.
func (d localDate) lastMinute(zone *time.Location) time.Time {
	return d.addDays(1).instantOf(0, zone).Add(-time.Minute)
}

// spansWithin lists the parts of a span in which the zone shows the date, in
// order. A clock that is set back over midnight shows it twice.
func (d localDate) spansWithin(s span, zone *time.Location) []span {
	var parts []span
	for at := s.from; at.Before(s.to); {
		local := at.In(zone)
		_, end := local.ZoneBounds()
		if end.IsZero() || end.After(s.to) {
			end = s.to
		}
		_, offset := local.Zone()
		begin := d.midnight.Add(-time.Duration(offset) * time.Second)
		part := span{from: laterOf(at, begin), to: earlierOf(end, begin.Add(minutesPerDay*time.Minute))}
		if part.from.Before(part.to) {
			parts = append(parts, part)
		}
		at = end
	}
	return parts
}

// laterOf returns the later of two instants.
func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earlierOf returns the earlier of two instants.
func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// existsIn reports whether the zone has the date: a move across the date line
// skips one (Samoa had no 30 December 2011).
func (d localDate) existsIn(zone *time.Location) bool { return dateOf(d.instantOf(0, zone), zone) == d }

// placeOf names the zone of a place for names that say none: offsets without the
// rules for clock changes of anywhere, and old names.
var placeOf = map[string]string{
	"EST": "America/New_York", "EST5EDT": "America/New_York", "CST6CDT": "America/Chicago", "MST": "America/Denver",
	"MST7MDT": "America/Denver", "PST8PDT": "America/Los_Angeles", "HST": "Pacific/Honolulu", "Navajo": "America/Denver",
	"CET": "Europe/Berlin", "MET": "Europe/Berlin", "EET": "Europe/Athens", "WET": "Europe/Lisbon",
	"GMT": "Europe/London", "GB": "Europe/London", "GB-Eire": "Europe/London", "Eire": "Europe/Dublin", "Greenwich": "Europe/London",
	"Cuba": "America/Havana", "Egypt": "Africa/Cairo", "Hongkong": "Asia/Hong_Kong", "Iceland": "Atlantic/Reykjavik",
	"Iran": "Asia/Tehran", "Israel": "Asia/Jerusalem", "Jamaica": "America/Jamaica", "Japan": "Asia/Tokyo",
	"Kwajalein": "Pacific/Kwajalein", "Libya": "Africa/Tripoli", "NZ": "Pacific/Auckland", "NZ-CHAT": "Pacific/Chatham",
	"PRC": "Asia/Shanghai", "Poland": "Europe/Warsaw", "Portugal": "Europe/Lisbon", "ROC": "Asia/Taipei", "ROK": "Asia/Seoul",
	"Singapore": "Asia/Singapore", "Turkey": "Europe/Istanbul", "W-SU": "Europe/Moscow",
}

// CheckZoneName refuses names that are no zone of a place: clocks change by the
// rules of a place, and a name such as EST has those of none. UTC is allowed,
// because a programme may have it as its default. The error says what to use
// instead and does not repeat the name. Names that were accepted before go on to
// work (Input.loadZone).
func CheckZoneName(name string, zones Zones) error {
	if name == "" || strings.EqualFold(name, "Local") {
		return errors.New("must be an IANA zone name such as Europe/Berlin")
	}
	_, err := zones(name)
	switch place, known := placeOf[name]; {
	case known:
		return fmt.Errorf("names no place, whose clock changes would count; use %s", place)
	case err == nil && (name == time.UTC.String() || strings.Contains(name, "/") && !strings.HasPrefix(name, "Etc/")):
		return nil
	case err == nil:
		return errors.New("names no place, whose clock changes would count; use the IANA zone name of a place such as Europe/Berlin, or UTC")
	}
	return errors.New("unknown zone; use an IANA zone name such as Europe/Berlin")
}
