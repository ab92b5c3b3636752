package coach

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
)

func zoneNamed(t require.TestingT, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

func TestParseClock(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Clock
		ok   bool
	}{
		{"00:00", 0, true},
		{"08:05", 485, true},
		{"23:59", 1439, true},
		{"24:00", 0, false},
		{"08:60", 0, false},
		{"8:00", 0, false},
		{"08.00", 0, false},
		{"+8:00", 0, false},
		{"08:+1", 0, false},
		{"08:000", 0, false},
		{"", 0, false},
		{"８:00", 0, false},
	} {
		got, err := ParseClock(c.in)
		if !c.ok {
			require.ErrorContains(t, err, "HH:MM", c.in)
			continue
		}
		require.NoError(t, err, c.in)
		require.Equal(t, c.want, got)
		require.Equal(t, c.in, got.String())
	}
}

func TestLocalTimeOnDate(t *testing.T) {
	for _, c := range []struct {
		name, zone, date, clock, want string
	}{
		{"plain", "America/New_York", "2026-01-15", "08:00", "2026-01-15T08:00:00-05:00"},
		{"New York gap", "America/New_York", "2026-03-08", "02:30", "2026-03-08T03:00:00-04:00"},
		{"New York gap edge", "America/New_York", "2026-03-08", "02:00", "2026-03-08T03:00:00-04:00"},
		{"New York before gap", "America/New_York", "2026-03-08", "01:59", "2026-03-08T01:59:00-05:00"},
		{"New York after gap", "America/New_York", "2026-03-08", "03:00", "2026-03-08T03:00:00-04:00"},
		{"New York repeated", "America/New_York", "2026-11-01", "01:30", "2026-11-01T01:30:00-04:00"},
		{"New York after repeat", "America/New_York", "2026-11-01", "02:00", "2026-11-01T02:00:00-05:00"},
		{"London gap", "Europe/London", "2026-03-29", "01:30", "2026-03-29T02:00:00+01:00"},
		{"London repeated", "Europe/London", "2026-10-25", "01:30", "2026-10-25T01:30:00+01:00"},
		{"Sao Paulo midnight gap", "America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T01:00:00-02:00"},
		{"Sao Paulo in gap", "America/Sao_Paulo", "2018-11-04", "00:30", "2018-11-04T01:00:00-02:00"},
		{"Sao Paulo repeated", "America/Sao_Paulo", "2018-02-17", "23:30", "2018-02-17T23:30:00-02:00"},
		{"Sao Paulo after repeat", "America/Sao_Paulo", "2018-02-18", "00:00", "2018-02-18T00:00:00-03:00"},
		{"Lord Howe half-hour gap", "Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-04T02:30:00+11:00"},
		{"Lord Howe repeated", "Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-05T01:45:00+11:00"},
		{"Lord Howe after repeat", "Australia/Lord_Howe", "2026-04-05", "02:00", "2026-04-05T02:00:00+10:30"},
		{"Kathmandu", "Asia/Kathmandu", "2026-06-01", "08:00", "2026-06-01T08:00:00+05:45"},
		{"Troll two-hour gap", "Antarctica/Troll", "2026-03-29", "02:30", "2026-03-29T03:00:00+02:00"},
		{"Nuuk gap ends at midnight", "America/Nuuk", "2026-03-28", "23:30", "2026-03-29T00:00:00-01:00"},
		{"Samoa skipped day", "Pacific/Apia", "2011-12-30", "08:00", "2011-12-31T00:00:00+14:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone := zoneNamed(t, c.zone)
			date, err := parseDate(c.date)
			require.NoError(t, err)
			clock, err := ParseClock(c.clock)
			require.NoError(t, err)
			got := date.instantOf(clock, zone)
			require.Equal(t, time.UTC, got.Location())
			require.Equal(t, c.want, got.In(zone).Format(time.RFC3339))
		})
	}
}

func TestDateExists(t *testing.T) {
	for _, c := range []struct {
		zone, date string
		want       bool
	}{
		{"Pacific/Apia", "2011-12-29", true},
		{"Pacific/Apia", "2011-12-30", false},
		{"Pacific/Apia", "2011-12-31", true},
		{"Pacific/Kwajalein", "1993-08-20", true},
		{"Pacific/Kwajalein", "1993-08-21", false},
		{"America/Sao_Paulo", "2018-11-04", true},
		{"America/St_Johns", "2006-10-29", true},
		{"America/Nuuk", "2026-03-29", true},
	} {
		date, err := parseDate(c.date)
		require.NoError(t, err)
		require.Equal(t, c.want, date.existsIn(zoneNamed(t, c.zone)), "%s %s", c.zone, c.date)
	}
}
