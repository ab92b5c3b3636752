package temporal_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/dev/temporal"
)

// Counting counts signals until it is told to end.
func Counting(ctx workflow.Context) (n int, err error) {
	for end := false; !end; n++ {
		workflow.GetSignalChannel(ctx, "count").Receive(ctx, &end)
	}
	return n, nil
}

// A task must not be handed to a worker that is stopping: no worker would work on
// it before its time-out, ten seconds later. So the server gives a stopping
// worker's calls back before it stops.
func TestStoppingWorkerLosesNoTask(t *testing.T) {
	const runs, restarts = 4, 40
	e := start(t, temporal.Config{UIPort: temporal.NoUI})
	c := dial(t, e)
	work := func() worker.Worker {
		w := worker.New(c, queue, worker.Options{WorkerStopTimeout: 10 * time.Second})
		w.RegisterWorkflow(Counting)
		require.NoError(t, w.Start())
		return w
	}
	w := work()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var counting sync.WaitGroup
	for i := range runs {
		id := fmt.Sprintf("counting-%d", i)
		_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, Counting)
		require.NoError(t, err)
		counting.Go(func() {
			for ctx.Err() == nil {
				_ = c.SignalWorkflow(ctx, id, "", "count", false) // refused only when the test is over
			}
		})
	}
	for range restarts {
		w.Stop()
		w = work()
	}
	stop()
	counting.Wait()
	defer w.Stop()
	for i := range runs {
		id := fmt.Sprintf("counting-%d", i)
		require.NoError(t, c.SignalWorkflow(t.Context(), id, "", "count", true))
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		require.NoError(t, c.GetWorkflow(limited, id, "").Get(limited, nil))
		cancel()
		events := c.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(t, err)
			lost := event.GetWorkflowTaskTimedOutEventAttributes()
			require.NotEqual(t, enumspb.TIMEOUT_TYPE_START_TO_CLOSE, lost.GetTimeoutType(), "event %d of %s", event.GetEventId(), id)
		}
	}
}
