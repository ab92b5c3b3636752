package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func (w *world) finished(turns ...string) {
	w.t.Helper()
	for n, id := range turns {
		_, err := w.Turns.BeginTurn(w.ctx, models.PrepareTurnInput{
			ParticipantID: "p1", TurnID: id, Number: n + 1, Mode: models.ModeIntake, Plan: models.TurnPlan{Kind: models.TurnReply}, Now: start,
		})
		require.NoError(w.t, err)
		for range 2 {
			err := w.MemoryQueue.QueueMemory(w.ctx, models.MemoryJob{TurnID: id, ParticipantID: "p1", QueuedAt: start.Add(time.Duration(n) * time.Second)})
			require.NoError(w.t, err, "safe to retry")
		}
	}
}

// A turn is given to one batch at a time, to another when that one is over, and
// to none once it is remembered.
func TestMemoryQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
		require.NoError(t, err)
		w.finished("t1", "t2", "t3")
		claim := func(at time.Duration, limit int) []string {
			now := start.Add(at)
			ids, err := w.MemoryQueue.ClaimMemory(w.ctx, models.MemoryClaim{Now: now, Until: now.Add(time.Minute), Limit: limit})
			require.NoError(t, err)
			return ids
		}
		require.Equal(t, []string{"t1", "t2"}, claim(10*time.Second, 2))
		require.Equal(t, []string{"t3"}, claim(11*time.Second, 2))
		require.Empty(t, claim(12*time.Second, 2))

		require.NoError(t, w.MemoryQueue.EndMemory(w.ctx, "t1"))
		require.NoError(t, w.MemoryQueue.EndMemory(w.ctx, "t1"))
		jobs, err := w.MemoryQueue.QueuedMemory(w.ctx, []string{"t3", "t1", "t2"})
		require.NoError(t, err)
		require.Len(t, jobs, 2)
		require.Equal(t, []any{"t2", "p1", start.Add(time.Second)}, []any{jobs[0].TurnID, jobs[0].ParticipantID, jobs[0].QueuedAt.UTC()})
		require.Equal(t, []string{"t2"}, claim(70*time.Second, 5), "only the claim of t3 still holds")
	})
}

func TestMemoryQueueIsSharedByProcesses(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
		require.NoError(t, err)
		w.finished("t1", "t2", "t3", "t4", "t5", "t6")
		var all sync.WaitGroup
		got := make([][]string, 4)
		errs := make([]error, len(got))
		for i := range got {
			all.Go(func() {
				got[i], errs[i] = w.MemoryQueue.ClaimMemory(w.ctx, models.MemoryClaim{Now: start.Add(time.Minute), Until: start.Add(time.Hour), Limit: 6})
			})
		}
		all.Wait()
		seen := map[string]int{}
		for i := range got {
			require.NoError(t, errs[i])
			for _, id := range got[i] {
				seen[id]++
			}
		}
		require.Equal(t, map[string]int{"t1": 1, "t2": 1, "t3": 1, "t4": 1, "t5": 1, "t6": 1}, seen)
	})
}
