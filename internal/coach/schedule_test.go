package coach

import (
	"strconv"
	"testing"
	"time"

	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

func scheduleTool(t require.TestingT, s Input, ask wire.ScheduleAsk) wire.Decision {
	return decide(t, s, wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask})
}

func create(ask wire.ScheduleAsk) wire.ScheduleAsk {
	ask.Action = wire.ScheduleCreate
	if ask.NewID == "" {
		ask.NewID = "s9"
	}
	return ask
}

func TestCreateSchedule(t *testing.T) {
	for _, c := range []struct {
		name, now string
		ask       wire.ScheduleAsk
		want      wire.Schedule
		due, note string
	}{
		{"today ahead", noon, wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "18:00"},
			wire.Schedule{ID: "s9", Type: wire.ScheduleFixed, At: "18:00"}, "2026-01-15T17:50:00-05:00",
			`{"ok":true,"status":"created","id":"s9","type":"fixed","time":"18:00","zone":"America/New_York",` +
				`"next_run":"2026-01-15T18:00:00-05:00","weekday":"Thursday","send_at":"2026-01-15T17:50:00-05:00"}`},
		{"tomorrow", noon, wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "12:00"},
			wire.Schedule{ID: "s9", Type: wire.ScheduleFixed, At: "12:00"}, "2026-01-16T11:50:00-05:00",
			`{"ok":true,"status":"created","id":"s9","type":"fixed","time":"12:00","zone":"America/New_York",` +
				`"next_run":"2026-01-16T12:00:00-05:00","weekday":"Friday","send_at":"2026-01-16T11:50:00-05:00"}`},
		{"within the prep time goes out at once", noon, wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "12:05"},
			wire.Schedule{ID: "s9", Type: wire.ScheduleFixed, At: "12:05"}, noon,
			`{"ok":true,"status":"created","id":"s9","type":"fixed","time":"12:05","zone":"America/New_York",` +
				`"next_run":"2026-01-15T12:05:00-05:00","weekday":"Thursday","send_at":"2026-01-15T12:00:00-05:00"}`},
		{"a zone of its own", noon, wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "08:00", Zone: "Asia/Tokyo"},
			wire.Schedule{ID: "s9", Type: wire.ScheduleFixed, At: "08:00", Zone: "Asia/Tokyo"}, "2026-01-15T17:50:00-05:00",
			`{"ok":true,"status":"created","id":"s9","type":"fixed","time":"08:00","zone":"Asia/Tokyo",` +
				`"next_run":"2026-01-16T08:00:00+09:00","weekday":"Friday","send_at":"2026-01-16T07:50:00+09:00"}`},
		{"the participant's zone is not pinned", noon, wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "18:00", Zone: home},
			wire.Schedule{ID: "s9", Type: wire.ScheduleFixed, At: "18:00"}, "2026-01-15T17:50:00-05:00", ""},
		{"a fixed time in quiet hours is the person's choice", noon, wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "05:00"},
			wire.Schedule{ID: "s9", Type: wire.ScheduleFixed, At: "05:00"}, "2026-01-16T04:50:00-05:00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scheduleTool(t, at(t, c.now), create(c.ask))
			require.Empty(t, got.Refused)
			require.Len(t, got.Effects, 2)
			require.Equal(t, wire.EffectPutSchedule, got.Effects[0].Kind)
			put := *got.Effects[0].Schedule
			require.Equal(t, setDue(wire.DueDailyPrompt, "s9", put.Next.SendAt), got.Effects[1])
			require.Equal(t, instant(t, c.due), put.Next.SendAt)
			put.Next = wire.Slot{}
			require.Equal(t, c.want, put)
			if c.note != "" {
				require.JSONEq(t, c.note, got.Note)
			}
		})
	}
}

func TestCreateRandomSchedule(t *testing.T) {
	got := scheduleTool(t, at(t, noon), create(wire.ScheduleAsk{Type: wire.ScheduleRandom, From: "18:00", To: "20:00"}))
	next := got.Effects[0].Schedule.Next
	require.Equal(t, setDue(wire.DueDailyPrompt, "s9", next.TargetAt), got.Effects[1])
	note := noteOf(t, got)
	require.Equal(t, "18:00", note["from"])
	require.Equal(t, "20:00", note["to"])
	require.Equal(t, next.TargetAt.In(zoneNamed(t, home)).Format(time.RFC3339), note["next_run"])
	require.Equal(t, note["next_run"], note["send_at"])
	require.NotContains(t, note, "time")
}

func TestCreateScheduleRefusals(t *testing.T) {
	fixed, random := wire.ScheduleFixed, wire.ScheduleRandom
	for _, c := range []struct {
		name string
		ask  wire.ScheduleAsk
		want []string
	}{
		{"no type", wire.ScheduleAsk{At: "08:00"}, []string{"type", "fixed, random"}},
		{"unknown type", wire.ScheduleAsk{Type: "weekly", At: "08:00"}, []string{"weekly", "fixed, random"}},
		{"no time", wire.ScheduleAsk{Type: fixed}, []string{"fixed_time is missing"}},
		{"bad time", wire.ScheduleAsk{Type: fixed, At: "8am"}, []string{"fixed_time", "8am", "HH:MM"}},
		{"window for a fixed one", wire.ScheduleAsk{Type: fixed, At: "08:00", From: "08:00"}, []string{"random_start_time"}},
		{"time for a random one", wire.ScheduleAsk{Type: random, At: "08:00", From: "08:00", To: "09:00"}, []string{"fixed_time"}},
		{"half a window", wire.ScheduleAsk{Type: random, From: "08:00"}, []string{"random_end_time is missing"}},
		{"bad window", wire.ScheduleAsk{Type: random, From: "x", To: "25:00"}, []string{"random_start_time", "random_end_time", "25:00"}},
		{"empty window", wire.ScheduleAsk{Type: random, From: "08:00", To: "08:00"}, []string{"equal"}},
		{"window in quiet hours", wire.ScheduleAsk{Type: random, From: "22:00", To: "07:00"}, []string{"22:00-07:00", "quiet hours 21:00-08:00"}},
		{"unknown zone", wire.ScheduleAsk{Type: fixed, At: "08:00", Zone: "Mars/Olympus"}, []string{"timezone", "Mars/Olympus", "IANA"}},
		{"local zone", wire.ScheduleAsk{Type: fixed, At: "08:00", Zone: "Local"}, []string{"timezone", "Local"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scheduleTool(t, at(t, noon), create(c.ask))
			require.Empty(t, got.Effects)
			require.Empty(t, got.Note)
			for _, want := range c.want {
				require.Contains(t, got.Refused, want)
			}
		})
	}
	require.Contains(t, scheduleTool(t, at(t, noon), wire.ScheduleAsk{Action: "move"}).Refused, "create, list, delete")
}

func TestCreateScheduleTwice(t *testing.T) {
	s := withSlot(t, noon, fixedAt("18:00"), noon)
	for _, zone := range []string{"", home} {
		got := scheduleTool(t, s, create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "18:00", Zone: zone}))
		require.Empty(t, got.Effects)
		note := noteOf(t, got)
		require.Equal(t, "already exists", note["status"])
		require.Equal(t, "s1", note["id"])
		require.Equal(t, "2026-01-15T18:00:00-05:00", note["next_run"])
	}
	got := scheduleTool(t, s, create(wire.ScheduleAsk{NewID: "s1", Type: wire.ScheduleFixed, At: "18:00"}))
	require.Empty(t, got.Effects, "a retried call makes no second one")
	got = scheduleTool(t, s, create(wire.ScheduleAsk{NewID: "s9", Type: wire.ScheduleFixed, At: "18:00", Zone: "America/Los_Angeles"}))
	require.NotEmpty(t, got.Effects, "the same hour elsewhere is another one")

	for n := 2; n <= 5; n++ {
		got := scheduleTool(t, s, create(wire.ScheduleAsk{NewID: "s" + strconv.Itoa(n), Type: wire.ScheduleFixed, At: "1" + strconv.Itoa(n) + ":00"}))
		require.Len(t, got.Effects, 2)
		s.State.Schedules = append(s.State.Schedules, *got.Effects[0].Schedule)
	}
	got = scheduleTool(t, s, create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "19:00"}))
	require.Equal(t, "there are 5 schedules already, the most allowed; delete one first: existing ids: s1, s2, s3, s4, s5", got.Refused)
	got = scheduleTool(t, s, create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "18:00"}))
	require.Equal(t, "already exists", noteOf(t, got)["status"])
}

// TestSchedulesOfAModelAreApart: a model makes no fixed schedule within half an hour of
// another one in the same zone; an operator may.
func TestSchedulesOfAModelAreApart(t *testing.T) {
	for _, c := range []struct {
		had, wanted, zone string
		refused           bool
	}{
		{"18:00", "18:29", "", true}, {"18:00", "17:31", "", true}, {"18:00", "18:30", "", false}, {"18:00", "17:30", "", false},
		{"00:10", "23:50", "", true}, {"23:50", "00:10", "", true}, {"00:10", "23:40", "", false},
		{"18:00", "18:10", "Asia/Tokyo", false},
	} {
		s := at(t, noon)
		s.State.Schedules = []wire.Schedule{{ID: "s1", Type: wire.ScheduleFixed, At: c.had}, {ID: "s2", Type: wire.ScheduleRandom, From: c.had, To: "20:00"}}
		ask := create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: c.wanted, Zone: c.zone})
		got := scheduleTool(t, s, ask)
		if c.refused {
			require.Equal(t, "there is s1 at "+c.had+" already, within 30 minutes; delete it first where this one is to take its place", got.Refused)
			ask.ByOperator, s.Rules.Quiet = true, QuietHours{}
			got = scheduleTool(t, s, ask)
		}
		require.Empty(t, got.Refused, "%s beside %s", c.wanted, c.had)
	}
}

func TestCreateScheduleWhilePaused(t *testing.T) {
	s := at(t, noon)
	s.State.Status = wire.StatusPaused
	got := scheduleTool(t, s, create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: "18:00"}))
	require.Len(t, got.Effects, 1)
	require.Equal(t, "2026-01-15", got.Effects[0].Schedule.Next.Date)
	note := noteOf(t, got)
	require.Contains(t, note["held"], "paused")
	require.NotContains(t, note, "next_run")
}

func TestListSchedules(t *testing.T) {
	require.JSONEq(t, `{"ok":true,"schedules":[]}`, scheduleTool(t, at(t, noon), wire.ScheduleAsk{Action: wire.ScheduleList}).Note)

	s := withSlot(t, noon, fixedAt("18:00"), noon)
	s.State.Due = []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "s1", At: instant(t, "2026-01-15T17:55:00-05:00")}}
	got := scheduleTool(t, s, wire.ScheduleAsk{Action: wire.ScheduleList})
	require.Empty(t, got.Effects)
	require.JSONEq(t, `{"ok":true,"schedules":[{"id":"s1","type":"fixed","time":"18:00","zone":"America/New_York",`+
		`"next_run":"2026-01-15T18:00:00-05:00","weekday":"Thursday","send_at":"2026-01-15T17:55:00-05:00"}]}`, got.Note)
}

func TestDeleteSchedule(t *testing.T) {
	s := withSlot(t, noon, fixedAt("18:00"), noon)
	window := randomIn("09:00", "11:00")
	window.ID = "s2"
	s.State.Schedules = append(s.State.Schedules, window)
	del := func(id string) wire.Decision {
		return scheduleTool(t, s, wire.ScheduleAsk{Action: wire.ScheduleDelete, ID: id})
	}

	got := del("s1")
	require.Equal(t, []wire.Effect{
		{Kind: wire.EffectDropSchedule, Schedule: &wire.Schedule{ID: "s1"}},
		{Kind: wire.EffectClearDue, Due: wire.Due{Kind: wire.DueDailyPrompt, Ref: "s1"}},
	}, got.Effects, "today's is cancelled too, the others' are not")
	require.JSONEq(t, `{"ok":true,"status":"deleted","id":"s1"}`, got.Note)

	for id, want := range map[string]string{
		"":        "schedule_id is missing; existing ids: s1, s2",
		"s7":      `there is no schedule "s7"; existing ids: s1, s2`,
		"18:00":   "the schedule at that time is s1",
		"6 pm":    "the schedule at that time is s1",
		"6:00 PM": "the schedule at that time is s1",
		"9:00":    "the schedule at that time is s2",
		"07:00":   "no schedule is at that time",
	} {
		got := del(id)
		require.Contains(t, got.Refused, want)
		require.Empty(t, got.Effects)
	}
	s.State.Schedules = nil
	require.Contains(t, del("s1").Refused, "there are no schedules")
}

// FuzzSchedule: for every text as a time, a zone or an id, a decision is either
// refused without effect or a schedule that has a next slot.
func FuzzSchedule(f *testing.F) {
	f.Add("08:00", "", "", "America/New_York", "s1")
	f.Add("", "22:00", "02:00", "", "8am")
	f.Add("24:00", "x", "\xff", "Local", "12:00")
	f.Fuzz(func(t *testing.T, fixed, from, to, zone, id string) {
		if clock, err := ParseClock(fixed); err == nil && clock.String() != fixed {
			t.Fatalf("%q became %q", fixed, clock)
		}
		s := withSlot(t, noon, fixedAt("18:00"), noon)
		for _, ask := range []wire.ScheduleAsk{
			create(wire.ScheduleAsk{Type: wire.ScheduleFixed, At: fixed, Zone: zone}),
			create(wire.ScheduleAsk{Type: wire.ScheduleRandom, From: from, To: to, Zone: zone}),
			{Action: wire.ScheduleDelete, ID: id},
		} {
			got := scheduleTool(t, s, ask)
			if (got.Refused == "") == (got.Note == "") || got.Refused != "" && len(got.Effects) > 0 {
				t.Fatalf("%+v gave %+v", ask, got)
			}
			for _, effect := range got.Effects {
				if effect.Kind == wire.EffectPutSchedule && !effect.Schedule.Next.TargetAt.After(s.Now) {
					t.Fatalf("%+v has no next slot: %+v", ask, effect.Schedule)
				}
			}
		}
	})
}

func FuzzQuietHours(f *testing.F) {
	f.Add("21:00-08:00")
	f.Add("")
	f.Add("00:00-24:00")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuietHours(text)
		if err != nil {
			return
		}
		again, err := ParseQuietHours(q.String())
		if err != nil || again != q {
			t.Fatalf("%q became %v", text, again)
		}
		if end := q.End(instant(t, noon)); q.Contains(end) {
			t.Fatalf("%q does not end", text)
		}
	})
}
