package coach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStateHours: the hours of a state count beside those of the installation, by weekday.
func TestStateHours(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	require.NoError(t, err)
	texas := Rules{Quiet: quietHours(t, "21:00-08:00")}.In("TX").Quiet
	at := func(day int, clock string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", "2026-06-0"+string(rune('0'+day))+" "+clock, zone)
		require.NoError(t, err)
		return when
	}
	// 2026-06-06 is a Saturday, 2026-06-07 a Sunday.
	for name, tt := range map[string]struct {
		quiet     QuietHours
		at, opens time.Time
	}{
		"Texas on Friday at 8:30":        {texas, at(5, "08:30"), at(5, "09:00")},
		"Texas on Saturday":              {texas, at(6, "09:00"), at(6, "09:00")},
		"Texas on Saturday at 22":        {texas, at(6, "22:00"), at(7, "12:00")},
		"Texas on Sunday at 11:59":       {texas, at(7, "11:59"), at(7, "12:00")},
		"Texas on Sunday at 20:59":       {texas, at(7, "20:59"), at(7, "20:59")},
		"Texas on Sunday at 21":          {texas, at(7, "21:00"), at(8, "09:00")},
		"Rhode Island on Friday at 18":   {Rules{Quiet: quietHours(t, "21:00-08:00")}.In("RI").Quiet, at(5, "18:00"), at(6, "10:00")},
		"no state":                       {Rules{Quiet: quietHours(t, "21:00-08:00")}.In("GA").Quiet, at(7, "08:00"), at(7, "08:00")},
		"wider hours of the programme":   {Rules{Quiet: quietHours(t, "18:00-13:00")}.In("TX").Quiet, at(7, "12:30"), at(7, "13:00")},
		"no quiet hours, none of states": {Rules{}.In("TX").Quiet, at(7, "03:00"), at(7, "03:00")},
	} {
		require.True(t, tt.opens.Equal(tt.quiet.End(tt.at)), "%s: %s", name, tt.quiet.End(tt.at))
		require.Equal(t, !tt.opens.Equal(tt.at), tt.quiet.Contains(tt.at), name)
	}
	parts := texas.spansOutside(span{from: at(6, "00:00"), to: at(8, "00:00")}, zone)
	require.Equal(t, []span{{at(6, "09:00"), at(6, "21:00")}, {at(7, "12:00"), at(7, "21:00")}}, parts)
}
