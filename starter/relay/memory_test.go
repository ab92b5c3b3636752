package relay

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func (b *bench) finish(turns int) {
	for i := range turns {
		b.store.memories = append(b.store.memories, models.MemoryJob{TurnID: fmt.Sprintf("t%d", i)})
	}
}

// However many replies there were, they are remembered in few activities, and
// none is started while nothing waits.
func TestMemoryIsSweptInBatches(t *testing.T) {
	b := newBench(t)
	b.finish(2*memoryBatch + 1)
	for range 3 {
		require.NoError(t, b.relay.sweepMemory(t.Context()))
	}
	require.Equal(t, []string{"activity:RememberTurns", "activity:RememberTurns", "activity:RememberTurns"}, b.engine.seen())
	var ids []string
	for i, options := range b.engine.activities {
		in, ok := b.engine.inputs[i].(wire.RememberTurnsInput)
		require.True(t, ok)
		ids = append(ids, in.TurnIDs...)
		require.Equal(t, wire.QueueModel, options.TaskQueue)
		require.Equal(t, 5, options.Priority.PriorityKey, "behind every reply")
		require.Positive(t, options.HeartbeatTimeout)
		require.LessOrEqual(t, options.ScheduleToCloseTimeout, memoryClaim, "no two batches hold one turn")
	}
	require.Len(t, ids, 2*memoryBatch+1)
	require.Equal(t, []string{"t0", "t1"}, ids[:2])
}

// A batch that Temporal could not be told of is begun again when its claim is
// over, under another id.
func TestMemoryIsClaimedAgain(t *testing.T) {
	b := newBench(t)
	b.finish(1)
	b.engine.fail(func(context.Context, string) error { return errDown })
	require.ErrorIs(t, b.relay.sweepMemory(t.Context()), errDown)
	b.engine.fail(nil)
	require.NoError(t, b.relay.sweepMemory(t.Context()))
	require.Len(t, b.engine.seen(), 1)
	b.now = b.now.Add(memoryClaim + time.Second)
	require.NoError(t, b.relay.sweepMemory(t.Context()))
	require.Len(t, b.engine.seen(), 2)
	require.NotEqual(t, b.engine.activities[0].ID, b.engine.activities[1].ID)
}
