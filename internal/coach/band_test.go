package coach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models/wire"
)

func unitedStates(t require.TestingT) []*time.Location {
	var band []*time.Location
	for _, name := range RegionZones("US") {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		band = append(band, zone)
	}
	return band
}

// nowhere is at, of a participant whose zone is assumed.
func nowhere(t require.TestingT, now string) Input {
	s := at(t, now)
	s.State.ZoneAssumed, s.Rules.Band = true, unitedStates(t)
	return s
}

func TestRegionZones(t *testing.T) {
	for _, region := range []string{"", "GB", "DE", "CA"} {
		require.Empty(t, RegionZones(region), region)
	}
	require.Subset(t, RegionZones("US"), []string{"America/New_York", "America/Anchorage", "Pacific/Honolulu"})
}

// TestBandOfAssumedZone: what we start waits until it is day in every zone.
func TestBandOfAssumedZone(t *testing.T) {
	for _, c := range []struct {
		name, now, quiet string
		stated, noBand   bool
		want             string // the end of quiet hours; empty: not quiet
	}{
		{name: "night in Honolulu", now: "2026-01-15T08:30:00-05:00", want: "2026-01-15T13:00:00-05:00"},
		{name: "night in Honolulu, daylight saving", now: "2026-07-15T08:30:00-04:00", want: "2026-07-15T14:00:00-04:00"},
		{name: "last quiet minute", now: "2026-01-15T12:59:00-05:00", want: "2026-01-15T13:00:00-05:00"},
		{name: "day everywhere", now: "2026-01-15T13:00:00-05:00"},
		{name: "last minute of the day", now: "2026-01-15T20:59:00-05:00"},
		{name: "night in New York", now: "2026-01-15T21:00:00-05:00", want: "2026-01-16T13:00:00-05:00"},
		{name: "day in Honolulu alone", now: "2026-01-15T20:00:00-10:00", want: "2026-01-16T08:00:00-10:00"},
		{name: "over the change of the clock", now: "2026-03-07T21:00:00-05:00", want: "2026-03-08T14:00:00-04:00"},
		{name: "siesta", now: "2026-01-15T12:30:00-05:00", quiet: "12:00-14:00", want: "2026-01-15T19:00:00-05:00"},
		{name: "stated", now: "2026-01-15T08:30:00-05:00", stated: true},
		{name: "stated, night", now: "2026-01-15T07:30:00-05:00", stated: true, want: "2026-01-15T08:00:00-05:00"},
		{name: "another region", now: "2026-01-15T08:30:00-05:00", noBand: true},
		{name: "another region, night", now: "2026-01-15T07:30:00-05:00", noBand: true, want: "2026-01-15T08:00:00-05:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := nowhere(t, c.now)
			s.State.ZoneAssumed = !c.stated
			if c.noBand {
				s.Rules.Band = nil
			}
			if c.quiet != "" {
				s.Rules.Quiet = quietHours(t, c.quiet)
			}
			s.State.Mode, s.State.Pending = wire.ModeFeedback, &wire.PendingPrompt{PromptID: "p1", SentAt: s.Now}
			until, err := s.Opens()
			require.NoError(t, err)
			events := []wire.DueKind{wire.DueReminder, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup}
			if c.want == "" {
				require.Equal(t, s.Now, until)
				for _, kind := range events {
					require.NotNil(t, findStarted(decide(t, s, dueEvent(kind, "p1"))), kind)
				}
				return
			}
			end := instant(t, c.want)
			require.Equal(t, end, until)
			for _, kind := range events {
				require.Equal(t, []wire.Effect{setDue(kind, "p1", end)}, decide(t, s, dueEvent(kind, "p1")).Effects)
			}
		})
	}
}

func findStarted(d wire.Decision) *wire.TurnPlan {
	for _, e := range d.Effects {
		if e.Kind == wire.EffectStartTurn {
			return e.Turn
		}
	}
	return nil
}

// TestBandOfRandomPrompts: a random prompt is drawn from the band, a window
// outside it is refused with the reason, a chosen time is kept.
func TestBandOfRandomPrompts(t *testing.T) {
	s := nowhere(t, "2026-01-15T08:30:00-05:00")
	ask := wire.ScheduleAsk{Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleRandom, From: "09:00", To: "12:00"}
	refused := decide(t, s, wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask})
	require.Contains(t, refused.Refused, "not known")
	require.Empty(t, refused.Effects)

	ask.From, ask.To = "09:00", "13:01"
	got := decide(t, s, wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask})
	require.Equal(t, instant(t, "2026-01-15T13:00:00-05:00"), got.Effects[0].Schedule.Next.TargetAt)

	ask = wire.ScheduleAsk{Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed, At: "09:00"}
	got = decide(t, s, wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask})
	require.Equal(t, instant(t, "2026-01-15T09:00:00-05:00"), got.Effects[0].Schedule.Next.TargetAt)
}

// TestBandEndsWithTheStatement: the person's own zone ends the band, without a
// change of slots where it was guessed right.
func TestBandEndsWithTheStatement(t *testing.T) {
	s := nowhere(t, "2026-01-15T08:30:00-05:00")
	right := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: home})
	require.Equal(t, []wire.Effect{{Kind: wire.EffectSetZone, Zone: home}}, right.Effects)
	require.Empty(t, decide(t, s, wire.Event{Kind: wire.EventZone, Zone: home, ZoneAssumed: true}).Effects)

	moved := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: "America/Denver"})
	require.Equal(t, wire.Effect{Kind: wire.EffectSetZone, Zone: "America/Denver"}, moved.Effects[0])

	s.State.ZoneAssumed = false
	unknown := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: home, ZoneAssumed: true})
	require.Equal(t, []wire.Effect{{Kind: wire.EffectSetZone, Zone: home, ZoneAssumed: true}}, unknown.Effects)
}

// TestBandProperty: the end of the band is quiet nowhere, and no minute before
// it was; the parts of a span are exactly its minutes that are quiet nowhere.
func TestBandProperty(t *testing.T) {
	zones := unitedStates(t)
	quiet := quietHours(t, "21:00-08:00")
	anywhere := func(at time.Time) bool {
		for _, zone := range zones {
			if quiet.Contains(at.In(zone)) {
				return true
			}
		}
		return false
	}
	rapid.Check(t, func(t *rapid.T) {
		from := time.Unix(rapid.Int64Range(1_767_225_600, 1_830_297_600).Draw(t, "from"), 0).UTC().Truncate(time.Minute)
		end := quiet.endIn(from, zones)
		require.False(t, anywhere(end))
		for at := from; at.Before(end); at = at.Add(time.Minute) {
			require.True(t, anywhere(at), at)
		}
		to := from.Add(time.Duration(rapid.IntRange(1, 36*60).Draw(t, "minutes")) * time.Minute)
		var open, counted uint64
		for at := from; at.Before(to); at = at.Add(time.Minute) {
			if !anywhere(at) {
				open++
			}
		}
		for _, part := range quiet.outsideAll(span{from: from, to: to}, zones) {
			counted += part.wholeMinutes()
		}
		require.Equal(t, open, counted)
	})
}

// TestBandThatIsEmpty: quiet hours too wide for any instant start nothing, and
// the search for one ends.
func TestBandThatIsEmpty(t *testing.T) {
	s := nowhere(t, noon)
	s.Rules.Quiet = quietHours(t, "13:00-11:00")
	until, err := s.Opens()
	require.NoError(t, err)
	require.True(t, until.After(s.Now.Add(24*time.Hour)))
	ask := wire.ScheduleAsk{Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleRandom, From: "00:00", To: "23:59"}
	require.NotEmpty(t, decide(t, s, wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask}).Refused)
}
