package activities_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

// memoryRows are turns that are to be remembered, and what becomes of each.
type memoryRows struct {
	activities.Turns
	jobs  []models.MemoryJob
	fails map[string]error
	order []string
}

func (m *memoryRows) QueuedMemory(_ context.Context, ids []string) ([]models.MemoryJob, error) {
	return slices.DeleteFunc(slices.Clone(m.jobs), func(job models.MemoryJob) bool { return !slices.Contains(ids, job.TurnID) }), nil
}

func (m *memoryRows) EndMemory(_ context.Context, id string) error {
	m.jobs = slices.DeleteFunc(m.jobs, func(job models.MemoryJob) bool { return job.TurnID == id })
	return nil
}

func (m *memoryRows) TurnContext(_ context.Context, id string, _ int) (models.TurnContext, error) {
	return models.TurnContext{Turn: models.Turn{ID: id}}, nil
}

func (m *memoryRows) Worth(models.TurnContext) bool { return true }

func (m *memoryRows) Remember(_ context.Context, c models.TurnContext) error {
	m.order = append(m.order, c.Turn.ID)
	return m.fails[c.Turn.ID]
}

func (m *memoryRows) left() []string {
	var ids []string
	for _, job := range m.jobs {
		ids = append(ids, job.TurnID)
	}
	return ids
}

func remember(t *testing.T, m *memoryRows, ids ...string) wire.RememberTurnsResult {
	t.Helper()
	after := &activities.MemoryActivities{Store: m, Queue: m, Keeper: m, Now: fixed}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(after.RememberTurns)
	value, err := env.ExecuteActivity(after.RememberTurns, wire.RememberTurnsInput{TurnIDs: ids})
	require.NoError(t, err)
	var out wire.RememberTurnsResult
	require.NoError(t, value.Get(&out))
	return out
}

func jobsOf(age time.Duration, ids ...string) []models.MemoryJob {
	var jobs []models.MemoryJob
	for _, id := range ids {
		jobs = append(jobs, models.MemoryJob{TurnID: id, ParticipantID: ann, QueuedAt: now.Add(-age)})
	}
	return jobs
}

func TestRememberTurns(t *testing.T) {
	busy := &models.ModelError{Class: models.ModelBusy}
	t.Run("in order, and a retry finds nothing left", func(t *testing.T) {
		m := &memoryRows{jobs: jobsOf(time.Minute, "t1", "t2", "t3")}
		require.Equal(t, wire.RememberTurnsResult{Remembered: 2}, remember(t, m, "t1", "t2"))
		require.Equal(t, []string{"t1", "t2"}, m.order)
		require.Equal(t, []string{"t3"}, m.left(), "it is in no batch")
		require.Zero(t, remember(t, m, "t1", "t2"))
		require.Len(t, m.order, 2, "no model is asked again")
	})
	t.Run("a busy model leaves the rest for later", func(t *testing.T) {
		m := &memoryRows{jobs: jobsOf(time.Minute, "t1", "t2", "t3"), fails: map[string]error{"t2": busy}}
		require.Equal(t, wire.RememberTurnsResult{Remembered: 1, Left: 2}, remember(t, m, "t1", "t2", "t3"))
		require.Equal(t, []string{"t2", "t3"}, m.left())
	})
	t.Run("but not for more than a day", func(t *testing.T) {
		m := &memoryRows{jobs: jobsOf(24*time.Hour, "t1"), fails: map[string]error{"t1": busy}}
		require.Equal(t, wire.RememberTurnsResult{GivenUp: 1}, remember(t, m, "t1"))
		require.Empty(t, m.left())
	})
	t.Run("what can never succeed holds nothing up", func(t *testing.T) {
		m := &memoryRows{jobs: jobsOf(time.Minute, "t1", "t2"), fails: map[string]error{"t1": models.ErrNotFound}}
		require.Equal(t, wire.RememberTurnsResult{Remembered: 1, GivenUp: 1}, remember(t, m, "t1", "t2"))
		require.Empty(t, m.left())
	})
}
