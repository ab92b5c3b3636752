package coach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func quietHours(t require.TestingT, text string) QuietHours {
	q, err := ParseQuietHours(text)
	require.NoError(t, err)
	return q
}

func TestParseQuietHours(t *testing.T) {
	for _, c := range []struct {
		in   string
		want QuietHours
		bad  string
	}{
		{"", QuietHours{}, ""},
		{"21:00-08:00", QuietHours{From: 21 * 60, To: 8 * 60}, ""},
		{"21:00 - 08:00", QuietHours{From: 21 * 60, To: 8 * 60}, ""},
		{"13:00-14:30", QuietHours{From: 13 * 60, To: 14*60 + 30}, ""},
		{"08:00-08:00", QuietHours{}, "equal ends"},
		{"21:00", QuietHours{}, "HH:MM-HH:MM"},
		{"21:00-25:00", QuietHours{}, "25:00"},
		{"9pm-08:00", QuietHours{}, "9pm"},
	} {
		got, err := ParseQuietHours(c.in)
		if c.bad != "" {
			require.ErrorContains(t, err, c.bad)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	require.Equal(t, "21:00-08:00", quietHours(t, "21:00 - 08:00").String())
	require.Empty(t, QuietHours{}.String())
}

func TestQuietHoursContainsAndEnd(t *testing.T) {
	for _, c := range []struct {
		name, quiet, zone, at string
		want                  bool
		end                   string
	}{
		{"evening", "21:00-08:00", "America/New_York", "2026-01-15T22:00:00-05:00", true, "2026-01-16T08:00:00-05:00"},
		{"start is quiet", "21:00-08:00", "America/New_York", "2026-01-15T21:00:00-05:00", true, "2026-01-16T08:00:00-05:00"},
		{"just before", "21:00-08:00", "America/New_York", "2026-01-15T20:59:59-05:00", false, ""},
		{"night", "21:00-08:00", "America/New_York", "2026-01-16T03:00:00-05:00", true, "2026-01-16T08:00:00-05:00"},
		{"end is not quiet", "21:00-08:00", "America/New_York", "2026-01-16T08:00:00-05:00", false, ""},
		{"over the gap", "21:00-08:00", "America/New_York", "2026-03-07T22:00:00-05:00", true, "2026-03-08T08:00:00-04:00"},
		{"end in the gap", "21:00-02:30", "America/New_York", "2026-03-07T22:00:00-05:00", true, "2026-03-08T03:00:00-04:00"},
		{"second pass of a repeat", "21:00-01:30", "America/New_York", "2026-11-01T01:15:00-05:00", true, "2026-11-01T01:30:00-05:00"},
		{"by day", "12:00-14:00", "Asia/Kathmandu", "2026-06-01T13:59:59+05:45", true, "2026-06-01T14:00:00+05:45"},
		{"none", "", "Asia/Kathmandu", "2026-06-01T03:00:00+05:45", false, ""},
		{"skipped day", "21:00-08:00", "Pacific/Apia", "2011-12-29T22:00:00-10:00", true, "2011-12-31T08:00:00+14:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, c.at)
			require.NoError(t, err)
			local := at.In(zoneNamed(t, c.zone))
			q := quietHours(t, c.quiet)
			require.Equal(t, c.want, q.Contains(local))
			if !c.want {
				require.True(t, q.End(local).Equal(local))
				return
			}
			require.Equal(t, c.end, q.End(local).Format(time.RFC3339))
		})
	}
}

// The end is never quiet and everything before it is.
func TestQuietHoursProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneNamed(t, rapid.SampledFrom(testZones()).Draw(t, "zone"))
		q := QuietHours{
			From: Clock(rapid.IntRange(0, minutesPerDay-1).Draw(t, "from")),
			To:   Clock(rapid.IntRange(0, minutesPerDay-1).Draw(t, "to")),
		}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		local := start.Add(time.Duration(rapid.IntRange(0, 366*86400).Draw(t, "second")) * time.Second).In(zone)

		end := q.End(local)
		require.False(t, q.Contains(end))
		require.False(t, end.Before(local))
		require.Less(t, end.Sub(local), 26*time.Hour)
		for at := local; at.Before(end); at = at.Add(5 * time.Minute) {
			require.True(t, q.Contains(at), at)
		}

		whole := span{from: local, to: local.Add(30 * time.Hour)}
		parts := q.spansOutside(whole, zone)
		at := whole.from
		for _, part := range parts {
			require.True(t, part.from.Before(part.to))
			for ; at.Before(part.from); at = at.Add(7 * time.Minute) {
				require.True(t, q.Contains(at), at)
			}
			for at = part.from; at.Before(part.to); at = at.Add(7 * time.Minute) {
				require.False(t, q.Contains(at), at)
			}
			at = part.to
		}
		for ; at.Before(whole.to); at = at.Add(7 * time.Minute) {
			require.True(t, q.Contains(at), at)
		}
	})
}
