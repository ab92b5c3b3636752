package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// plan mirrors one daily schedule of a participant with its next time.
func (w *world) plan(id, schedule string, next time.Time) {
	w.t.Helper()
	sc := wire.Schedule{ID: schedule, Type: wire.ScheduleFixed, At: "08:00", Next: wire.Slot{SendAt: next, TargetAt: next}}
	require.NoError(w.t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: id, Schedules: []wire.Schedule{sc}, Now: at(0)}))
}

// The agenda lists what is planned by its time, page by page, says what a hold
// stops, and leaves out people who were removed.
func TestAgenda(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for i := range 4 {
			id := fmt.Sprintf("p%d", i+1)
			_, err := w.People.Enroll(w.ctx, person(id, fmt.Sprintf("+1555867531%d", i)), "operator")
			require.NoError(t, err)
			w.plan(id, "s1", at(60+30*(i/2)))
		}
		_, err := w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldParticipant, ScopeID: "p2", CreatedBy: "grace", CreatedAt: at(0), Until: at(61)})
		require.NoError(t, err)
		_, err = w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldParticipant, ScopeID: "p3", CreatedBy: "grace", CreatedAt: at(0), Until: at(90)})
		require.NoError(t, err)
		q := models.AgendaQuery{From: at(0), Until: at(600), Now: at(1), Limit: 3}
		page, err := w.Reports.Agenda(w.ctx, q)
		require.NoError(t, err)
		var seen []string
		for _, e := range page {
			seen = append(seen, fmt.Sprintf("%s %s %s %v", e.Key.ParticipantID, e.Participant.Name, e.Zone, e.Held))
		}
		require.Equal(t, []string{
			"p1 Ada Quill America/New_York false", "p2 Ada Quill America/New_York true", "p3 Ada Quill America/New_York false",
		}, seen, "p3's hold ends before its prompt")
		q.After = page[2].Key
		page, err = w.Reports.Agenda(w.ctx, q)
		require.NoError(t, err)
		require.Len(t, page, 1)
		require.Equal(t, models.AgendaKey{At: at(90), ParticipantID: "p4", ScheduleID: "s1"}, page[0].Key)

		q = models.AgendaQuery{From: at(0), Until: at(90), Now: at(1), Limit: 3, ParticipantID: "p2"}
		page, err = w.Reports.Agenda(w.ctx, q)
		require.NoError(t, err)
		require.Len(t, page, 1)
		counts, err := w.Reports.CountAgenda(w.ctx, q)
		require.NoError(t, err)
		require.Equal(t, []models.PlannedHour{{At: at(60).Truncate(time.Hour), Prompts: 1}}, counts)
		counts, err = w.Reports.CountAgenda(w.ctx, models.AgendaQuery{From: at(0), Until: at(91)})
		require.NoError(t, err)
		total := 0
		for _, c := range counts {
			total += c.Prompts
		}
		require.Equal(t, 4, total)

		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(2)))
		q = models.AgendaQuery{From: at(0), Until: at(600), Now: at(2), Limit: 9}
		page, err = w.Reports.Agenda(w.ctx, q)
		require.NoError(t, err)
		require.Len(t, page, 3)
	})
}
