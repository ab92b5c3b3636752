package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// changeSchedules asks the workflow for a change of the daily prompts.
func (w *world) changeSchedules(offset time.Duration, id string, ask models.ScheduleAsk) *updated {
	u := &updated{}
	w.at(offset, func() { w.env.UpdateWorkflow(models.UpdateChangeSchedules, id, u, ask) })
	return u
}

// An operator's daily prompt goes out, its next one alone is moved, and what the rules
// refuse is the answer of the update.
func TestOperatorChangesSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	added := w.changeSchedules(time.Minute, "c1", models.ScheduleAsk{Action: models.ScheduleCreate, NewID: "s1", Type: models.ScheduleFixed, At: "12:00"})
	moved := w.changeSchedules(2*time.Minute, "c2", models.ScheduleAsk{Action: models.ScheduleMove, ID: "s1", MoveTo: monday.Add(4 * time.Hour)})
	refused := w.changeSchedules(3*time.Minute, "c3", models.ScheduleAsk{Action: models.ScheduleMove, ID: "s1", MoveTo: monday.Add(-time.Hour)})
	unnamed := w.changeSchedules(4*time.Minute, "c4", models.ScheduleAsk{Action: models.ScheduleDelete})
	after := w.statusAt(10 * time.Minute)
	removed := w.changeSchedules(30*time.Hour, "c5", models.ScheduleAsk{Action: models.ScheduleDelete, ID: "s1"})
	w.run(3 * 24 * time.Hour)
	require.NoError(t, added.err)
	require.NoError(t, moved.err)
	require.ErrorContains(t, refused.err, "to: must be in the future")
	require.ErrorContains(t, unnamed.rejected, "id: is required")
	require.NoError(t, removed.err)
	require.Equal(t, []models.Due{{Kind: models.DueDailyPrompt, Ref: "s1", At: monday.Add(4 * time.Hour)}}, after.Due)
	prompts := w.carrier.of(models.KindPrompt)
	require.Len(t, prompts, 2)
	require.WithinDuration(t, monday.Add(4*time.Hour), prompts[0].At, 2*time.Second, "the moved one")
	require.Equal(t, 24*time.Hour, prompts[1].At.Sub(monday.Add(2*time.Hour)).Round(time.Hour), "the next day at its own time")
}
