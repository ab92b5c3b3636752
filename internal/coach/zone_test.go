package coach

import (
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

func TestCheckZoneName(t *testing.T) {
	for _, name := range []string{"UTC", "Etc/UTC"} {
		_, err := time.LoadLocation(name)
		require.NoError(t, err)
	}
	for name, want := range map[string]string{
		"America/New_York": "", "US/Eastern": "", "America/Argentina/Buenos_Aires": "", "UTC": "",
		"EST": "use America/New_York", "MST": "use America/Denver", "GMT": "use Europe/London", "Japan": "use Asia/Tokyo",
		"Etc/GMT+5": "names no place", "Etc/UTC": "names no place", "Zulu": "names no place", "GMT0": "names no place",
		"xx-1": "unknown zone", "": "must be an IANA zone name", "Local": "must be an IANA zone name", "local": "must be an IANA zone name",
		"Mars/Base": "unknown zone",
	} {
		err := CheckZoneName(name, time.LoadLocation)
		if want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, want, name)
	}
	for _, place := range placeOf {
		require.NoError(t, CheckZoneName(place, time.LoadLocation))
	}
}

func TestScheduleInAZoneWithoutAPlace(t *testing.T) {
	got := decide(t, at(t, noon), wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
		Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed, At: "08:00", Zone: "EST",
	}})
	require.Contains(t, got.Refused, "use America/New_York")
}
