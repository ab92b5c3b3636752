package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// changeSchedules asks the workflow for a change of the daily prompts.
func (w *world) changeSchedules(offset time.Duration, id string, ask wire.ScheduleAsk) *updated {
	u := &updated{}
	w.at(offset, func() { w.env.UpdateWorkflow(wire.UpdateChangeSchedules, id, u, ask) })
	return u
}

// An operator's daily prompt goes out, its next one alone is moved, and what the rules
// refuse is the answer of the update.
func TestOperatorChangesSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	added := w.changeSchedules(time.Minute, "c1", wire.ScheduleAsk{Action: wire.ScheduleCreate, NewID: "s1", Type: wire.ScheduleFixed, At: "12:00"})
	moved := w.changeSchedules(2*time.Minute, "c2", wire.ScheduleAsk{Action: wire.ScheduleMove, ID: "s1", MoveTo: monday.Add(4 * time.Hour)})
	refused := w.changeSchedules(3*time.Minute, "c3", wire.ScheduleAsk{Action: wire.ScheduleMove, ID: "s1", MoveTo: monday.Add(-time.Hour)})
	unnamed := w.changeSchedules(4*time.Minute, "c4", wire.ScheduleAsk{Action: wire.ScheduleDelete})
	after := w.statusAt(10 * time.Minute)
	removed := w.changeSchedules(30*time.Hour, "c5", wire.ScheduleAsk{Action: wire.ScheduleDelete, ID: "s1"})
	w.run(3 * 24 * time.Hour)
	require.NoError(t, added.err)
	require.NoError(t, moved.err)
	require.ErrorContains(t, refused.err, "to: must be in the future")
	require.ErrorContains(t, unnamed.rejected, "id: is required")
	require.NoError(t, removed.err)
	require.Equal(t, []wire.Due{{Kind: wire.DueDailyPrompt, Ref: "s1", At: monday.Add(4 * time.Hour)}}, after.Due)
	prompts := w.carrier.of(models.KindPrompt)
	require.Len(t, prompts, 2)
	require.WithinDuration(t, monday.Add(4*time.Hour), prompts[0].At, 2*time.Second, "the moved one")
	require.Equal(t, 24*time.Hour, prompts[1].At.Sub(monday.Add(2*time.Hour)).Round(time.Hour), "the next day at its own time")
}
