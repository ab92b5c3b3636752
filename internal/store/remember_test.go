package store_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

const rest = 30 * time.Minute

// turnNumber reads the number of a turn such as t2; others are a first one.
func turnNumber(turn string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(turn, "t"))
	if err != nil {
		return 1
	}
	return n + 1
}

// finished ends a turn of a participant and queues it, twice as after a lost
// answer.
func (w *world) finished(person, turn string, after time.Duration) {
	w.t.Helper()
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: person, TurnID: turn, Number: turnNumber(turn), Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: start,
	})
	require.NoError(w.t, err)
	for range 2 {
		require.NoError(w.t, w.MemoryQueue.QueueMemory(w.ctx, models.MemoryJob{TurnID: turn, ParticipantID: person, QueuedAt: start.Add(after)}, rest), "safe to retry")
	}
}

func (w *world) claims(at time.Duration, limit int) []string {
	w.t.Helper()
	now := start.Add(at)
	ids, err := w.MemoryQueue.ClaimMemory(w.ctx, models.MemoryClaim{Now: now, Until: now.Add(10 * time.Minute), Limit: limit})
	require.NoError(w.t, err)
	return ids
}

// A conversation is given to one batch at a time once it has rested, to another
// when that one is over, and to none once it is closed.
func TestMemoryQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for n, id := range []string{"p1", "p2", "p3"} {
			_, err := w.People.Enroll(w.ctx, person(id, fmt.Sprintf("+1555000000%d", n)), "operator")
			require.NoError(t, err)
			w.finished(id, "t"+id, time.Duration(n)*time.Second)
		}
		require.Empty(t, w.claims(rest-time.Second, 5), "it has not rested yet")
		require.Equal(t, []string{"tp1", "tp2"}, w.claims(rest+10*time.Second, 2))
		require.Equal(t, []string{"tp3"}, w.claims(rest+11*time.Second, 2))
		require.Empty(t, w.claims(rest+12*time.Second, 2))

		require.NoError(t, w.MemoryQueue.EndMemory(w.ctx, "tp1"))
		require.NoError(t, w.MemoryQueue.EndMemory(w.ctx, "tp1"))
		jobs, err := w.MemoryQueue.QueuedMemory(w.ctx, []string{"tp3", "tp1", "tp2"})
		require.NoError(t, err)
		require.Len(t, jobs, 2)
		require.Equal(t, []any{"tp2", "p2", start.Add(time.Second)}, []any{jobs[0].TurnID, jobs[0].ParticipantID, jobs[0].QueuedAt.UTC()})
		require.Equal(t, []string{"tp2"}, w.claims(rest+10*time.Minute+10*time.Second, 5), "only the claim of tp3 still holds")
	})
}

// A text moves the end of its conversation, but not for ever, and takes the place
// of those before it.
func TestMemoryQueueWaitsForRest(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
		require.NoError(t, err)
		w.finished("p1", "t0", 0)
		w.finished("p1", "t1", 20*time.Minute)
		require.Empty(t, w.claims(49*time.Minute, 5))
		require.Equal(t, []string{"t1"}, w.claims(50*time.Minute, 5), "one for both")
		w.finished("p1", "t2", 52*time.Minute)
		require.Empty(t, w.claims(81*time.Minute, 5), "also while the one before is worked on")
		for n := 3; n < 20; n++ {
			w.finished("p1", fmt.Sprintf("t%d", n), time.Duration(52+20*(n-2))*time.Minute)
		}
		require.Empty(t, w.claims(12*rest-time.Second, 5))
		require.Equal(t, []string{"t19"}, w.claims(12*rest, 5), "who never rests is read twice a day")
	})
}

func TestMemoryQueueIsSharedByProcesses(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		want := map[string]int{}
		for n := range 6 {
			id := fmt.Sprintf("p%d", n)
			_, err := w.People.Enroll(w.ctx, person(id, fmt.Sprintf("+1555000000%d", n)), "operator")
			require.NoError(t, err)
			w.finished(id, "t"+id, 0)
			want["t"+id] = 1
		}
		var all sync.WaitGroup
		got := make([][]string, 4)
		errs := make([]error, len(got))
		for i := range got {
			all.Go(func() {
				got[i], errs[i] = w.MemoryQueue.ClaimMemory(w.ctx, models.MemoryClaim{Now: start.Add(rest), Until: start.Add(time.Hour), Limit: 6})
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
		require.Equal(t, want, seen)
	})
}
