package coach

import (
	"slices"
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// testZones have clock changes of every kind: none, one hour, half an hour, two
// hours, at midnight, over midnight, odd offsets, both hemispheres.
func testZones() []string {
	return []string{
		"UTC", "America/New_York", "America/Chicago", "America/Denver", "America/Phoenix", "America/Los_Angeles",
		"America/Anchorage", "Pacific/Honolulu", "America/Sao_Paulo", "America/Santiago", "America/Havana",
		"America/St_Johns", "America/Asuncion", "America/Nuuk", "America/Scoresbysund", "Atlantic/Azores",
		"Europe/London", "Europe/Berlin", "Europe/Dublin", "Europe/Kyiv", "Africa/Cairo", "Africa/Casablanca",
		"Asia/Beirut", "Asia/Gaza", "Asia/Tehran", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo",
		"Australia/Sydney", "Australia/Lord_Howe", "Australia/Eucla", "Pacific/Auckland", "Pacific/Chatham",
		"Pacific/Apia", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Antarctica/Troll", "America/Caracas",
	}
}

// withoutHelper is a test without Helper, which walks the stack at each of a
// million assertions.
type withoutHelper struct{ t *testing.T }

func (w withoutHelper) Errorf(format string, args ...any) { w.t.Errorf(format, args...) }
func (w withoutHelper) FailNow()                          { w.t.FailNow() }

func fixedAt(at string) wire.Schedule {
	return wire.Schedule{ID: "s1", Type: wire.ScheduleFixed, At: at}
}

func randomIn(from, to string) wire.Schedule {
	return wire.Schedule{ID: "s1", Type: wire.ScheduleRandom, From: from, To: to}
}

func TestNextSlotFixed(t *testing.T) {
	for _, c := range []struct {
		name, zone, at, last, after string
		date, target, send          string
	}{
		{"today ahead", "America/New_York", "08:00", "", "2026-01-15T07:00:00-05:00",
			"2026-01-15", "2026-01-15T08:00:00-05:00", "2026-01-15T07:50:00-05:00"},
		{"less than the prep time ahead", "America/New_York", "08:00", "", "2026-01-15T07:55:00-05:00",
			"2026-01-15", "2026-01-15T08:00:00-05:00", "2026-01-15T07:55:00-05:00"},
		{"now is too late", "America/New_York", "08:00", "", "2026-01-15T08:00:00-05:00",
			"2026-01-16", "2026-01-16T08:00:00-05:00", "2026-01-16T07:50:00-05:00"},
		{"today in the zone, yesterday in UTC", "Pacific/Auckland", "08:00", "", "2026-01-15T07:00:00+13:00",
			"2026-01-15", "2026-01-15T08:00:00+13:00", "2026-01-15T07:50:00+13:00"},
		{"today had its prompt", "America/New_York", "08:00", "2026-01-15", "2026-01-15T07:00:00-05:00",
			"2026-01-16", "2026-01-16T08:00:00-05:00", "2026-01-16T07:50:00-05:00"},
		{"the last date is ahead", "Pacific/Pago_Pago", "08:00", "2026-01-16", "2026-01-15T07:00:00-11:00",
			"2026-01-17", "2026-01-17T08:00:00-11:00", "2026-01-17T07:50:00-11:00"},
		{"sent before midnight", "America/New_York", "00:05", "", "2026-01-15T12:00:00-05:00",
			"2026-01-16", "2026-01-16T00:05:00-05:00", "2026-01-15T23:55:00-05:00"},
		{"New York gap", "America/New_York", "02:30", "2026-03-07", "2026-03-07T12:00:00-05:00",
			"2026-03-08", "2026-03-08T03:00:00-04:00", "2026-03-08T01:50:00-05:00"},
		{"New York repeated", "America/New_York", "01:30", "2026-10-31", "2026-10-31T12:00:00-04:00",
			"2026-11-01", "2026-11-01T01:30:00-04:00", "2026-11-01T01:20:00-04:00"},
		{"New York second occurrence is not a slot", "America/New_York", "01:30", "", "2026-11-01T01:45:00-04:00",
			"2026-11-02", "2026-11-02T01:30:00-05:00", "2026-11-02T01:20:00-05:00"},
		{"London gap", "Europe/London", "01:30", "", "2026-03-28T12:00:00Z",
			"2026-03-29", "2026-03-29T02:00:00+01:00", "2026-03-29T00:50:00Z"},
		{"London repeated", "Europe/London", "01:30", "", "2026-10-24T12:00:00+01:00",
			"2026-10-25", "2026-10-25T01:30:00+01:00", "2026-10-25T01:20:00+01:00"},
		{"Sao Paulo without midnight", "America/Sao_Paulo", "00:00", "", "2018-11-03T12:00:00-03:00",
			"2018-11-04", "2018-11-04T01:00:00-02:00", "2018-11-03T23:50:00-03:00"},
		{"Sao Paulo repeated", "America/Sao_Paulo", "23:30", "2018-02-16", "2018-02-17T12:00:00-02:00",
			"2018-02-17", "2018-02-17T23:30:00-02:00", "2018-02-17T23:20:00-02:00"},
		{"Lord Howe gap", "Australia/Lord_Howe", "02:15", "", "2026-10-03T12:00:00+10:30",
			"2026-10-04", "2026-10-04T02:30:00+11:00", "2026-10-04T01:50:00+10:30"},
		{"Lord Howe repeated", "Australia/Lord_Howe", "01:45", "", "2026-04-04T12:00:00+11:00",
			"2026-04-05", "2026-04-05T01:45:00+11:00", "2026-04-05T01:35:00+11:00"},
		{"Kathmandu", "Asia/Kathmandu", "08:00", "", "2026-06-01T02:14:00Z",
			"2026-06-01", "2026-06-01T08:00:00+05:45", "2026-06-01T07:59:00+05:45"},
		{"Samoa has no 30 December", "Pacific/Apia", "08:00", "2011-12-29", "2011-12-29T12:00:00-10:00",
			"2011-12-31", "2011-12-31T08:00:00+14:00", "2011-12-31T07:50:00+14:00"},
		{"Kwajalein has no 21 August", "Pacific/Kwajalein", "08:00", "1993-08-20", "1993-08-20T12:00:00-12:00",
			"1993-08-22", "1993-08-22T08:00:00+12:00", "1993-08-22T07:50:00+12:00"},
		{"gap that ends at midnight keeps its date", "America/Nuuk", "23:30", "2026-03-27", "2026-03-28T12:00:00-02:00",
			"2026-03-28", "2026-03-29T00:00:00-01:00", "2026-03-28T22:50:00-02:00"},
		{"the day after such a gap", "America/Nuuk", "23:30", "2026-03-28", "2026-03-29T00:00:00-01:00",
			"2026-03-29", "2026-03-29T23:30:00-01:00", "2026-03-29T23:20:00-01:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone := zoneNamed(t, c.zone)
			after, err := time.Parse(time.RFC3339, c.after)
			require.NoError(t, err)
			schedule := fixedAt(c.at)
			schedule.LastDate = c.last
			slot, err := NextSlot(schedule, SlotParams{After: after, Zone: zone, Prep: 10 * time.Minute})
			require.NoError(t, err)
			require.Equal(t, c.date, slot.Date)
			require.Equal(t, c.target, slot.TargetAt.In(zone).Format(time.RFC3339))
			require.Equal(t, c.send, slot.SendAt.In(zone).Format(time.RFC3339))
			require.Equal(t, time.UTC, slot.TargetAt.Location())
			require.Equal(t, time.UTC, slot.SendAt.Location())
		})
	}
}

func TestNextSlotRandom(t *testing.T) {
	zone := zoneNamed(t, "America/New_York")
	after := time.Date(2026, 1, 15, 17, 0, 0, 0, zone)
	params := SlotParams{ParticipantID: "conv_1", After: after, Zone: zone, Prep: 10 * time.Minute, Quiet: quietHours(t, "21:00-08:00")}

	slot, err := NextSlot(randomIn("18:00", "20:00"), params)
	require.NoError(t, err)
	require.Equal(t, "2026-01-15", slot.Date)
	require.Equal(t, slot.TargetAt, slot.SendAt, "no preparation: the person named a window")

	again, err := NextSlot(randomIn("18:00", "20:00"), params)
	require.NoError(t, err)
	require.Equal(t, slot, again)

	params.After = slot.TargetAt
	next, err := NextSlot(randomIn("18:00", "20:00"), params)
	require.NoError(t, err)
	require.Equal(t, "2026-01-16", next.Date, "a drawn instant that passed means the next date")

	other := params
	other.ParticipantID = "conv_2"
	instants := map[time.Duration]bool{}
	for _, p := range []SlotParams{params, other} {
		schedule := randomIn("18:00", "20:00")
		for range 10 {
			slot, err := NextSlot(schedule, p)
			require.NoError(t, err)
			instants[slot.TargetAt.Sub(slot.TargetAt.Truncate(24*time.Hour))] = true
			schedule.LastDate = slot.Date
		}
	}
	require.Greater(t, len(instants), 10, "days and people differ")
}

func TestNextSlotRandomEdges(t *testing.T) {
	newYork := zoneNamed(t, "America/New_York")
	midnight := randomIn("22:00", "02:00")
	quiet := quietHours(t, "23:00-08:00")

	t.Run("over midnight belongs to the date that the clock shows", func(t *testing.T) {
		for _, person := range []string{"conv_1", "conv_2", "conv_3", "conv_4"} {
			for day := 1; day < 28; day++ {
				after := time.Date(2026, 1, day, 12, 0, 0, 0, newYork)
				slot, err := NextSlot(midnight, SlotParams{ParticipantID: person, After: after, Zone: newYork})
				require.NoError(t, err)
				require.Equal(t, slot.TargetAt.In(newYork).Format(time.DateOnly), slot.Date)
				require.WithinRange(t, slot.TargetAt, time.Date(2026, 1, day, 22, 0, 0, 0, newYork), time.Date(2026, 1, day+1, 1, 59, 0, 0, newYork))
			}
		}
	})
	t.Run("quiet hours cut the window", func(t *testing.T) {
		for day := 1; day < 28; day++ {
			after := time.Date(2026, 1, day, 3, 0, 0, 0, newYork)
			slot, err := NextSlot(midnight, SlotParams{After: after, Zone: newYork, Quiet: quiet})
			require.NoError(t, err)
			require.Equal(t, 22, slot.TargetAt.In(newYork).Hour())
		}
	})
	t.Run("quiet hours swallow the window", func(t *testing.T) {
		_, err := NextSlot(randomIn("23:30", "02:00"), SlotParams{After: time.Date(2026, 1, 1, 3, 0, 0, 0, newYork), Zone: newYork, Quiet: quiet})
		require.ErrorIs(t, err, ErrNoSlot)
	})
	t.Run("quiet hours count in the person's zone", func(t *testing.T) {
		_, err := NextSlot(randomIn("12:00", "18:00"), SlotParams{
			After: time.Date(2026, 1, 1, 3, 0, 0, 0, newYork), Zone: zoneNamed(t, "Asia/Tokyo"), Quiet: quiet, QuietZones: []*time.Location{newYork},
		})
		require.NoError(t, err, "12:00 in Tokyo is 22:00 in New York")
		_, err = NextSlot(randomIn("13:00", "18:00"), SlotParams{
			After: time.Date(2026, 1, 1, 3, 0, 0, 0, newYork), Zone: zoneNamed(t, "Asia/Tokyo"), Quiet: quiet, QuietZones: []*time.Location{newYork},
		})
		require.ErrorIs(t, err, ErrNoSlot)
	})
	t.Run("a window inside a gap", func(t *testing.T) {
		slot, err := NextSlot(randomIn("02:10", "02:40"), SlotParams{After: time.Date(2026, 3, 7, 12, 0, 0, 0, newYork), Zone: newYork})
		require.NoError(t, err)
		require.Equal(t, "2026-03-08T03:00:00-04:00", slot.TargetAt.In(newYork).Format(time.RFC3339))
	})
}

func TestNextSlotRefusesBrokenSchedules(t *testing.T) {
	params := SlotParams{After: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Zone: time.UTC}
	stale := fixedAt("08:00")
	stale.LastDate = "yesterday"
	for want, schedule := range map[string]wire.Schedule{
		"8am":          fixedAt("8am"),
		"9pm":          randomIn("9pm", "22:00"),
		"22":           randomIn("21:00", "22"),
		"unknown type": {ID: "s1", Type: "weekly"},
		"last date":    stale,
	} {
		_, err := NextSlot(schedule, params)
		require.ErrorContains(t, err, want)
	}
	params.Zone = nil
	_, err := NextSlot(fixedAt("08:00"), params)
	require.ErrorContains(t, err, "no zone")
}

// year walks a schedule over more than a year as the rules do, each slot
// following from the one before.
func year(t require.TestingT, schedule wire.Schedule, p SlotParams) []wire.Slot {
	var slots []wire.Slot
	end := p.After.AddDate(1, 0, 3)
	for p.After.Before(end) {
		slot, err := NextSlot(schedule, p)
		require.NoError(t, err)
		slots = append(slots, slot)
		schedule.LastDate, schedule.LastAt, p.After = slot.Date, slot.SendAt, slot.TargetAt
	}
	return slots
}

// everyDateOnce holds that the slots have each date that the zone has, once,
// in order, and that what is sent goes out in order and before its target.
func everyDateOnce(t require.TestingT, zone *time.Location, slots []wire.Slot) {
	want, err := parseDate(slots[0].Date)
	require.NoError(t, err)
	for i, slot := range slots {
		require.Equal(t, want.String(), slot.Date)
		require.False(t, slot.SendAt.After(slot.TargetAt))
		if i > 0 {
			require.True(t, slot.SendAt.After(slots[i-1].SendAt))
		}
		for want = want.addDays(1); !want.existsIn(zone); {
			want = want.addDays(1)
		}
	}
}

func TestFixedOncePerDateInEveryZone(t *testing.T) {
	for _, name := range testZones() {
		for _, first := range []int{2011, 2018, 2026} {
			for _, at := range []string{"00:00", "00:30", "01:30", "02:15", "02:30", "08:00", "23:30"} {
				zone := zoneNamed(t, name)
				after := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC)
				slots := year(t, fixedAt(at), SlotParams{After: after, Zone: zone, Prep: 10 * time.Minute})
				everyDateOnce(t, zone, slots)
				for _, slot := range slots {
					steady(t, zone, at, slot)
				}
			}
		}
	}
}

// steady holds that a slot shows its local time on its local date, or is the
// first instant after a gap that swallowed it.
func steady(t require.TestingT, zone *time.Location, at string, slot wire.Slot) {
	local := slot.TargetAt.In(zone)
	if local.Format("2006-01-02 15:04") == slot.Date+" "+at {
		// Of two occurrences it is the first: an hour before shows another time.
		require.NotEqual(t, at, local.Add(-time.Hour).Format("15:04"))
		return
	}
	start, _ := local.ZoneBounds()
	require.True(t, start.Equal(local), "%s at %s: %s is no first instant after a gap", zone, at, local)
	before := local.Add(-time.Second)
	require.Less(t, before.Format("2006-01-02 15:04"), slot.Date+" "+at)
	require.Greater(t, local.Format("2006-01-02 15:04"), slot.Date+" "+at)
}

func TestNextSlotProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneNamed(t, rapid.SampledFrom(testZones()).Draw(t, "zone"))
		after := time.Date(rapid.IntRange(1990, 2036).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC).
			Add(time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "minute")) * time.Minute)
		from := Clock(rapid.IntRange(0, minutesPerDay-1).Draw(t, "from"))
		to := Clock(rapid.IntRange(0, minutesPerDay-1).Filter(func(n int) bool { return Clock(n) != from }).Draw(t, "to"))
		params := SlotParams{
			ParticipantID: rapid.StringMatching(`conv_[0-9a-f]{20}`).Draw(t, "participant"),
			After:         after,
			Zone:          zone,
			Prep:          time.Duration(rapid.IntRange(0, 120).Draw(t, "prep")) * time.Minute,
		}

		fixed := year(t, fixedAt(from.String()), params)
		everyDateOnce(t, zone, fixed)
		for _, slot := range fixed {
			steady(t, zone, from.String(), slot)
		}

		random := year(t, randomIn(from.String(), to.String()), params)
		everyDateOnce(t, zone, random)
		require.Equal(t, random, year(t, randomIn(from.String(), to.String()), params))
		for _, slot := range random {
			inWindow(t, zone, randomIn(from.String(), to.String()), slot)
		}
	})
}

func localInstant(t require.TestingT, zone *time.Location, date string, c Clock, days int) time.Time {
	d, err := parseDate(date)
	require.NoError(t, err)
	return d.addDays(days).instantOf(c, zone)
}

// inWindow holds that a target lies in its window on its date, on either side of
// midnight, or in the one minute that is left of a swallowed window.
func inWindow(t require.TestingT, zone *time.Location, window wire.Schedule, slot wire.Slot) {
	from, err := ParseClock(window.From)
	require.NoError(t, err)
	to, err := ParseClock(window.To)
	require.NoError(t, err)
	begin, end := localInstant(t, zone, slot.Date, 0, 0), localInstant(t, zone, slot.Date, 0, 1)
	parts := []span{{localInstant(t, zone, slot.Date, from, 0), localInstant(t, zone, slot.Date, to, 0)}}
	if to < from {
		parts = []span{{begin, parts[0].to}, {parts[0].from, end}}
	}
	require.True(t, slices.ContainsFunc(parts, func(part span) bool {
		if part.from.Before(part.to) {
			return !slot.TargetAt.Before(part.from) && slot.TargetAt.Before(part.to)
		}
		return slot.TargetAt.Equal(part.from) || slot.TargetAt.Equal(end.Add(-time.Minute))
	}), "%s %s-%s: %v", zone, window.From, window.To, slot)
}

// Random prompts never fall into quiet hours, with any window.
func TestRandomKeepsQuietHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneNamed(t, rapid.SampledFrom(testZones()).Draw(t, "zone"))
		clock := rapid.IntRange(0, minutesPerDay-1)
		window := randomIn(Clock(clock.Draw(t, "from")).String(), Clock(clock.Draw(t, "to")).String())
		quiet := QuietHours{From: Clock(clock.Draw(t, "quiet from")), To: Clock(clock.Draw(t, "quiet to"))}
		p := SlotParams{ParticipantID: "conv_1", After: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Zone: zone, Quiet: quiet}
		var dates []string
		for range 366 {
			slot, err := NextSlot(window, p)
			if err != nil {
				require.ErrorIs(t, err, ErrNoSlot)
				return
			}
			require.False(t, quiet.Contains(slot.TargetAt.In(zone)), slot)
			require.True(t, slot.TargetAt.After(p.After))
			require.NotContains(t, dates, slot.Date)
			dates = append(dates, slot.Date)
			window.LastDate, p.After = slot.Date, slot.TargetAt
		}
		require.True(t, slices.IsSorted(dates))
	})
}
