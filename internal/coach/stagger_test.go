package coach

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// planAll plans people by turns in zones, and returns when each is greeted.
func planAll(t *testing.T, n int, now time.Time, zones ...string) []time.Time {
	t.Helper()
	stagger := NewStagger(30)
	loaded := map[string]*time.Location{}
	load := func(name string) (*time.Location, error) {
		if zone, ok := loaded[name]; ok {
			return zone, nil
		}
		zone, err := time.LoadLocation(name)
		loaded[name] = zone
		return zone, err
	}
	var out []time.Time
	for i := range n {
		state := wire.ParticipantState{ParticipantID: fmt.Sprintf("conv_%d", i), Zone: zones[i%len(zones)]}
		in := Input{State: state, Now: now, Rules: Rules{Quiet: quietHours(t, "21:00-08:00")}, Zones: load}
		at, err := stagger.Plan(in)
		require.NoError(t, err)
		in.Now = at
		open, err := in.Opens()
		require.NoError(t, err)
		require.False(t, open.After(at), "person %d is greeted in quiet hours, at %s", i, at)
		out = append(out, at)
	}
	return out
}

// TestStagger: 10,000 people in four zones are greeted outside their quiet hours,
// and no minute has more greetings than allowed, also where quiet hours end for
// many.
func TestStagger(t *testing.T) {
	now := time.Date(2026, 3, 2, 18, 30, 12, 0, time.UTC)
	zones := []string{"America/New_York", "Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles"}
	plan := planAll(t, 10000, now, zones...)
	perMinute := map[time.Time]int{}
	for _, at := range plan {
		require.False(t, at.Before(now))
		perMinute[at.Truncate(time.Minute)]++
	}
	for minute, n := range perMinute {
		require.LessOrEqual(t, n, 30, "in minute %s", minute)
	}
	// Every minute from the first on in which a person may be greeted is used.
	require.Equal(t, now.Truncate(time.Minute).Add(time.Minute), plan[0])
	require.Equal(t, 30, perMinute[now.Truncate(time.Minute).Add(time.Minute)])
	require.Equal(t, plan, planAll(t, 10000, now, zones...), "the plan is the same again")
}

func TestStaggerMovesBehindQuietHours(t *testing.T) {
	now := time.Date(2026, 3, 2, 20, 59, 0, 0, time.UTC)
	plan := planAll(t, 62, now, "UTC")
	require.Equal(t, now, plan[0])
	require.Equal(t, now.Add(58*time.Second), plan[29])
	next := time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC)
	require.Equal(t, next, plan[30])
	require.Equal(t, next.Add(time.Minute+2*time.Second), plan[61])
}
