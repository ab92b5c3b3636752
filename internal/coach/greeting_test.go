package coach

import (
	"fmt"
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

// newEnrolled is the situation of a person whose greeting is set for an instant.
func newEnrolled(t require.TestingT, now, greeting string, signedUp bool) Input {
	s := at(t, now)
	s.State.Greeted, s.State.SignedUp = false, signedUp
	if greeting != "" {
		s.State.GreetingAt = instant(t, greeting)
	}
	return s
}

func TestGreetingAt(t *testing.T) {
	for _, c := range []struct {
		name, now string
		signedUp  bool
		change    func(*Input)
		want      string
	}{
		{"in the day", noon, false, nil, noon},
		{"in quiet hours", "2026-01-15T22:30:00-05:00", false, nil, "2026-01-16T08:00:00-05:00"},
		{"in quiet hours, signed up by themselves", "2026-01-15T22:30:00-05:00", true, nil, "2026-01-15T22:30:00-05:00"},
		{"no quiet hours", "2026-01-15T22:30:00-05:00", false, func(s *Input) { s.Rules.Quiet = QuietHours{} }, "2026-01-15T22:30:00-05:00"},
		{"the zone is not known", "2026-01-15T11:00:00-05:00", false, func(s *Input) {
			s.State.Zone, s.State.ZoneAssumed = "UTC", true
			for _, name := range RegionZones("US") {
				s.Rules.Band = append(s.Rules.Band, zoneNamed(t, name))
			}
		}, "2026-01-15T13:00:00-05:00"},
		{"in the day, with a spread", noon, false, func(s *Input) { s.Rules.PromptSpread = 10 * time.Minute }, noon},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newEnrolled(t, c.now, "", c.signedUp)
			if c.change != nil {
				c.change(&s)
			}
			got, err := s.FirstGreeting()
			require.NoError(t, err)
			require.Equal(t, instant(t, c.want), got)
		})
	}
}

// TestGreetingsAreSpread: people who were enrolled in quiet hours are greeted over the
// spread when these end; who signed up is greeted at once.
func TestGreetingsAreSpread(t *testing.T) {
	begin := instant(t, "2026-01-16T08:00:00-05:00")
	perMinute := map[int]int{}
	for i := range 1000 {
		s := newEnrolled(t, "2026-01-15T22:30:00-05:00", "", false)
		s.State.ParticipantID, s.Rules.PromptSpread = fmt.Sprintf("conv_%d", i), 10*time.Minute
		got, err := s.FirstGreeting()
		require.NoError(t, err)
		require.WithinRange(t, got, begin, begin.Add(10*time.Minute))
		perMinute[int(got.Sub(begin)/time.Minute)]++
		s.State.SignedUp = true
		got, err = s.FirstGreeting()
		require.NoError(t, err)
		require.Equal(t, s.Now, got)
	}
	require.Len(t, perMinute, 10)
}

func TestEnrolled(t *testing.T) {
	greeting := []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnGreeting})}
	const night, morning = "2026-01-15T22:30:00-05:00", "2026-01-16T08:03:00-05:00"
	due := []wire.Effect{setDue(wire.DueGreeting, "", instant(t, morning))}
	opens := []wire.Effect{setDue(wire.DueGreeting, "", instant(t, "2026-01-16T08:00:00-05:00"))}
	for _, c := range []struct {
		name string
		s    Input
		want []wire.Effect
	}{
		{"a row from before", newEnrolled(t, night, "", false), greeting},
		{"signed up", newEnrolled(t, night, night, true), greeting},
		{"signed up, and the workflow starts minutes later", newEnrolled(t, night, "2026-01-15T22:25:00-05:00", true), greeting},
		{"signed up, and the workflow starts hours later", newEnrolled(t, night, "2026-01-15T20:30:00-05:00", true), opens},
		{"later", newEnrolled(t, night, morning, false), due},
		{"now", newEnrolled(t, noon, noon, false), greeting},
		{"quiet hours have begun since", newEnrolled(t, night, "2026-01-15T20:59:00-05:00", false), opens},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, decide(t, c.s, wire.Event{Kind: wire.EventEnrolled}).Effects)
		})
	}
	t.Run("opted out before", func(t *testing.T) {
		s := newEnrolled(t, night, morning, false)
		s.State.Status = wire.StatusOptedOut
		require.Empty(t, decide(t, s, wire.Event{Kind: wire.EventEnrolled}).Effects)
	})
}

func TestDueGreeting(t *testing.T) {
	const when = "2026-01-16T08:03:00-05:00"
	due := wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: wire.DueGreeting, At: instant(t, when)}}
	t.Run("at its time", func(t *testing.T) {
		require.Equal(t, []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnGreeting})}, decide(t, newEnrolled(t, when, when, false), due).Effects)
	})
	t.Run("the zone has changed, and it is quiet", func(t *testing.T) {
		s := newEnrolled(t, when, when, false)
		s.State.Zone = "America/Los_Angeles"
		require.Equal(t, []wire.Effect{setDue(wire.DueGreeting, "", instant(t, "2026-01-16T08:00:00-08:00"))}, decide(t, s, due).Effects)
	})
	t.Run("texts wait for their answer", func(t *testing.T) {
		require.Empty(t, decide(t, waiting(newEnrolled(t, when, when, false), time.Second), due).Effects)
	})
	for _, status := range []wire.Status{wire.StatusPaused, wire.StatusOptedOut, wire.StatusCompleted} {
		t.Run(string(status), func(t *testing.T) {
			s := newEnrolled(t, when, when, false)
			s.State.Status = status
			require.Empty(t, decide(t, s, due).Effects)
		})
	}
}

// TestTextBeforeTheGreeting: the reply begins the conversation, so the greeting
// is not sent any more.
func TestTextBeforeTheGreeting(t *testing.T) {
	const night, morning = "2026-01-15T22:30:00-05:00", "2026-01-16T08:03:00-05:00"
	s := waiting(newEnrolled(t, night, morning, false), time.Second)
	s.State.Due = []wire.Due{{Kind: wire.DueGreeting, At: instant(t, morning)}}
	s.Rules.Debounce = 0
	want := []wire.Effect{clearDue(wire.DueGreeting), turn(wire.TurnPlan{Kind: wire.TurnReply, Introduce: true})}
	require.Equal(t, want, decide(t, s, wire.Event{Kind: wire.EventTexts}).Effects)
	require.Equal(t, want, decide(t, s, dueEvent(wire.DueDebounce, "")).Effects)
	s.State.GreetingAt = time.Time{}
	s.State.Due = nil
	require.Equal(t, []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnReply})}, decide(t, s, dueEvent(wire.DueDebounce, "")).Effects)
}

// TestGreetingAndPause: a pause holds the greeting, and resuming sets it again.
func TestGreetingAndPause(t *testing.T) {
	const night, morning = "2026-01-15T22:30:00-05:00", "2026-01-16T08:03:00-05:00"
	s := newEnrolled(t, night, morning, false)
	s.State.Due = []wire.Due{{Kind: wire.DueGreeting, At: instant(t, morning)}}
	require.Equal(t, []wire.Effect{setStatus(wire.StatusPaused), clearDue(wire.DueGreeting)},
		decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusPaused}).Effects)

	s.State.Status, s.State.Due = wire.StatusPaused, nil
	require.Equal(t, []wire.Effect{setStatus(wire.StatusActive), setDue(wire.DueGreeting, "", instant(t, morning))},
		decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive}).Effects)
	s.Now = instant(t, "2026-01-17T12:00:00-05:00")
	require.Equal(t, []wire.Effect{setStatus(wire.StatusActive), setDue(wire.DueGreeting, "", s.Now)},
		decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive}).Effects)
}

// TestGreetingIsRestored: a terminated workflow owed the greeting.
func TestGreetingIsRestored(t *testing.T) {
	const night, morning = "2026-01-15T22:30:00-05:00", "2026-01-16T08:03:00-05:00"
	s := newEnrolled(t, night, morning, false)
	require.Equal(t, []wire.Effect{setDue(wire.DueGreeting, "", instant(t, morning))}, decide(t, s, wire.Event{Kind: wire.EventRestored}).Effects)
	s.State.GreetingAt = time.Time{}
	require.Empty(t, decide(t, s, wire.Event{Kind: wire.EventRestored}).Effects)
}
