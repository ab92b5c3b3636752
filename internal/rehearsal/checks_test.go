package rehearsal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// TestChecksFindWhatIsBroken: a study that breaks every rule is told so.
func TestChecksFindWhatIsBroken(t *testing.T) {
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	night := time.Date(2026, 3, 3, 3, 0, 0, 0, time.UTC) // 22:00 in New York
	r := &run{cfg: Config{People: 1, Days: 2}, from: firstMonday, rules: coach.Rules{Quiet: quiet, PrepTime: 10 * time.Minute}}
	p := &person{r: r, id: "conv_1", heard: conversation{texts: []personText{{at: night.Add(-time.Hour), body: wordStop}, {at: night.Add(2 * time.Hour), body: wordStart}}}}
	prompt := sent{at: night, kind: models.KindPrompt, promptID: "p1", part: 1, zone: "America/New_York", segments: 1}
	again, late, chosen, after := prompt, prompt, prompt, prompt
	late.isLate = true
	chosen.promptID = "p2"
	after.promptID, after.at = "p3", night.Add(3*time.Hour)
	reminder := sent{at: night, kind: models.KindReminder, zone: "America/New_York", segments: 1}
	consent := sent{at: night, kind: models.KindConsent, zone: "America/New_York", segments: 1}
	p.carrier = &carrier{taken: []sent{prompt, again, late, chosen, after, reminder, consent}}
	r.people = []*person{p}

	rows := &tables{prompts: map[string]promptRow{
		"p1": {ID: "p1", Type: wire.ScheduleRandom, TargetAt: night},
		"p2": {ID: "p2", Type: wire.ScheduleFixed, TargetAt: night.Add(5 * time.Minute)},
		"p3": {ID: "p3", Type: wire.ScheduleFixed, TargetAt: night},
	}, answers: answersOf{Reached: 2, Once: 1, Never: 1}}
	out := Report{SendsByKind: map[models.EntryKind]int{}}
	r.countSends(&out, rows)
	require.Equal(t, 6, out.Quiet.Started)
	require.Equal(t, 1, out.Quiet.Chosen, "the fixed time that the person asked for")
	require.Len(t, out.Quiet.Breaches, 5)
	require.Equal(t, "2026-03-02T22:00:00-05:00", out.Quiet.Breaches[0].Local)
	require.Equal(t, 5, r.textsAfterStop(), "neither the confirmation nor what came after START")
	require.Equal(t, 1, r.doubledPrompts(), "a later try is none")
	for _, check := range r.check(out, rows) {
		require.Equal(t, check.Name == "totals of people and inbound rows are equal", check.Holds, check.Name)
	}
}

func TestDaysKeepPeopleTogether(t *testing.T) {
	const people, last = 7, 5
	var ended []int
	d := newDays(people, 2)
	played := make([]int, people) // newest day that a person is in
	d.ended = func(day int) {
		ended = append(ended, day)
		for _, at := range played {
			require.Equal(t, day-1, at, "each person has played the day before")
		}
	}
	done := make(chan struct{})
	for n := range people {
		go func() {
			d.enter()
			for day := 1; day <= last; day++ {
				d.wait(day)
				played[n] = day
			}
			d.leave()
			done <- struct{}{}
		}()
	}
	for range people {
		<-done
	}
	require.Equal(t, []int{1, 2, 3, 4, 5}, ended)
}
