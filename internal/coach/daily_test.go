package coach

import (
	"fmt"
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// midnightWindows reach over midnight, by a little, by much and to it.
func midnightWindows() []wire.Schedule {
	return []wire.Schedule{
		randomIn("23:30", "00:30"), randomIn("22:00", "02:00"), randomIn("20:00", "08:00"), randomIn("23:59", "00:01"),
		randomIn("22:00", "00:00"), randomIn("01:00", "00:30"), randomIn("23:10", "03:00"),
	}
}

// fiveYears walks a schedule over five years from 2026 as the rules do.
func fiveYears(t require.TestingT, schedule wire.Schedule, p SlotParams) []wire.Slot {
	p.After = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	end := p.After.AddDate(5, 0, 0)
	var slots []wire.Slot
	for p.After.Before(end) {
		slot, err := NextSlot(schedule, p)
		require.NoError(t, err)
		slots = append(slots, slot)
		schedule.LastDate, schedule.LastAt, p.After = slot.Date, slot.SendAt, slot.TargetAt
	}
	return slots
}

// TestOneTargetPerLocalDate: a window over midnight gives each local date one
// target, which lies in the window, in zones with every kind of clock change.
func TestOneTargetPerLocalDate(test *testing.T) {
	t := withoutHelper{test}
	for _, name := range testZones() {
		zone := zoneNamed(t, name)
		for _, schedule := range midnightWindows() {
			for _, person := range []string{"conv_1", "conv_2", "conv_3"} {
				slots := fiveYears(t, schedule, SlotParams{ParticipantID: person, Zone: zone, Prep: 10 * time.Minute})
				perDate := map[string]int{}
				twice := 0
				for _, slot := range slots {
					date := slot.TargetAt.In(zone).Format(time.DateOnly)
					if perDate[date]++; perDate[date] == 2 {
						twice++
					}
				}
				require.Zero(t, twice, "%s %s-%s: dates with two prompts, of %d", name, schedule.From, schedule.To, len(slots))
				for _, slot := range slots {
					require.Equal(t, slot.Date, slot.TargetAt.In(zone).Format(time.DateOnly))
					inWindow(t, zone, schedule, slot)
				}
				everyDateOnce(t, zone, slots)
			}
		}
	}
}

// TestWindowOverMidnightIsSpread: one schedule keeps to one side of midnight,
// so no night has two prompts; over many people each minute of the window is
// about as likely as any other.
func TestWindowOverMidnightIsSpread(t *testing.T) {
	perQuarter := map[int]int{}
	for i := range 800 {
		p := SlotParams{ParticipantID: fmt.Sprintf("conv_%d", i), Zone: time.UTC, After: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		schedule := randomIn("23:00", "03:00")
		evenings := 0
		const days = 20
		for range days {
			slot, err := NextSlot(schedule, p)
			require.NoError(t, err)
			schedule.LastDate, p.After = slot.Date, slot.TargetAt
			minute := (int(clockOf(slot.TargetAt)) + 60) % minutesPerDay
			if minute < 60 {
				evenings++
			}
			perQuarter[minute/15]++
		}
		require.Contains(t, []int{0, days}, evenings, "one side of midnight")
	}
	require.Len(t, perQuarter, 16)
	for quarter, n := range perQuarter {
		require.InDelta(t, 1000, n, 250, "quarter %d", quarter)
	}
}

// TestQuietSideOfMidnight: where quiet hours leave one side of midnight only,
// each date has its prompt on that side.
func TestQuietSideOfMidnight(t *testing.T) {
	for quiet, want := range map[string]int{"23:00-08:00": 22, "21:00-01:00": 1} {
		for i := range 20 {
			p := SlotParams{ParticipantID: fmt.Sprintf("conv_%d", i), Zone: time.UTC, Quiet: quietHours(t, quiet)}
			slots := fiveYears(t, randomIn("22:00", "02:00"), p)
			everyDateOnce(t, time.UTC, slots)
			for _, slot := range slots {
				require.Equal(t, want, slot.TargetAt.Hour())
			}
		}
	}
}

// TestGapAtMidnightKeepsItsDate: a clock that is set forward to midnight swallows
// the window; the prompt goes out in the last minute of its own date.
func TestGapAtMidnightKeepsItsDate(t *testing.T) {
	zone := zoneNamed(t, "America/Nuuk")
	after := instant(t, "2026-03-28T12:00:00-02:00")
	for _, schedule := range []wire.Schedule{randomIn("23:10", "23:40"), fixedAt("23:30")} {
		schedule.LastDate = "2026-03-27"
		slot, err := NextSlot(schedule, SlotParams{ParticipantID: "conv_1", After: after, Zone: zone})
		require.NoError(t, err)
		require.Equal(t, "2026-03-28", slot.Date)
		require.Equal(t, "2026-03-28T22:59:00-02:00", slot.SendAt.In(zone).Format(time.RFC3339))
	}
}

// TestLatePromptKeepsItsDate: what could not go out before midnight is missed,
// because the next local date has a prompt of its own.
func TestLatePromptKeepsItsDate(t *testing.T) {
	const day = "2026-01-15T12:00:00-05:00"
	for _, c := range []struct {
		name, now string
		schedule  wire.Schedule
		want      []string
		until     string
	}{
		{"fixed, before midnight", "2026-01-15T23:58:00-05:00", fixedAt("23:55"),
			[]string{"next 2026-01-16 after 2026-01-15", "due 2026-01-16 23:45", "send 2026-01-15"}, "2026-01-16 00:00"},
		{"fixed, after midnight", "2026-01-16T00:30:00-05:00", fixedAt("23:55"),
			[]string{"miss 2026-01-15 outage", "next 2026-01-16 after 2026-01-15", "due 2026-01-16 23:45"}, ""},
		{"sent on the evening before, late on its own date", "2026-01-16T00:30:00-05:00", fixedAt("00:05"),
			[]string{"next 2026-01-17 after 2026-01-16", "due 2026-01-17 00:00", "send 2026-01-16"}, "2026-01-17 00:00"},
		{"sent on the evening before", "2026-01-15T23:56:00-05:00", fixedAt("00:05"),
			[]string{"next 2026-01-17 after 2026-01-16", "due 2026-01-16 23:55", "send 2026-01-16"}, "2026-01-17 00:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withSlot(t, c.now, c.schedule, day)
			s.Rules.Quiet = QuietHours{}
			got := decide(t, s, dueEvent(wire.DueDailyPrompt, "s1"))
			require.Equal(t, c.want, outcome(t, got))
			for _, effect := range got.Effects {
				if effect.Kind == wire.EffectStartTurn {
					until := effect.Turn.Until.In(zoneNamed(t, home)).Format("2006-01-02 15:04")
					require.Equal(t, c.until, until, "a send that is tried again ends with the date")
				}
			}
		})
	}
}

// TestZoneChangeGivesNoSecondPrompt: the date of the last prompt is that of its
// instant in the zone that holds now.
func TestZoneChangeGivesNoSecondPrompt(t *testing.T) {
	s := at(t, "2026-01-14T08:00:00-10:00")
	s.State.Zone = "Pacific/Honolulu"
	s.State.Schedules = []wire.Schedule{{
		ID: "s1", Type: wire.ScheduleFixed, At: "08:00", LastDate: "2026-01-14", LastAt: instant(t, "2026-01-14T07:50:00-10:00"),
		Next: wire.Slot{Date: "2026-01-15", TargetAt: instant(t, "2026-01-15T08:00:00-10:00"), SendAt: instant(t, "2026-01-15T07:50:00-10:00")},
	}}
	// It is 03:00 on the 15th in Tokyo, and the prompt came there at 02:50.
	got := decide(t, s, wire.Event{Kind: wire.EventZone, Zone: "Asia/Tokyo"})
	require.Equal(t, []string{"s1 2026-01-15 moved"}, missedOf(got))
	require.Equal(t, "2026-01-16", got.Effects[2].Schedule.Next.Date)
}

// TestOnePromptPerLocalDateProperty: over weeks with outages and moves no
// prompt goes out on a local date that has had one of the same schedule.
func TestOnePromptPerLocalDateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := rapid.IntRange(0, minutesPerDay-1)
		l := &simulation{t: t, s: at(t, noon), prompts: map[string]time.Time{}, dates: map[string]bool{}}
		l.s.Rules.Quiet = QuietHours{}
		l.s.Rules.PrepTime = time.Duration(rapid.IntRange(0, 30).Draw(t, "prep")) * time.Minute
		l.s.Rules.PromptSpread = time.Duration(rapid.IntRange(0, 30).Draw(t, "spread")) * time.Minute
		l.s.Rules.PromptGrace = time.Duration(rapid.IntRange(0, 30).Draw(t, "grace")) * time.Hour
		l.decide(wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
			Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed, At: Clock(clock.Draw(t, "fixed")).String(),
		}})
		from := clock.Draw(t, "from")
		l.decide(wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
			Action: wire.ScheduleCreate, NewID: "s2", Type: wire.ScheduleRandom, From: Clock(from).String(),
			To: Clock((from + rapid.IntRange(1, minutesPerDay-1).Draw(t, "length")) % minutesPerDay).String(),
		}})
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			wait := time.Duration(rapid.IntRange(1, 40*60).Draw(t, "minutes")) * time.Minute
			l.until(l.s.Now.Add(wait), rapid.IntRange(0, 2).Draw(t, "outage") == 0)
			if rapid.IntRange(0, 5).Draw(t, "move") == 0 {
				l.decide(wire.Event{Kind: wire.EventZone, Zone: rapid.SampledFrom(testZones()).Draw(t, "zone")})
			}
		}
	})
}
