package temporal_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/dev/temporal"
)

const (
	callsQueue = "calls"
	// floods workflows of one study have callsEach model calls queued each.
	floods, callsEach = 4, 500
	// waitsFor is how many calls of the other study may go before the text: those
	// that its queue had handed out, or was about to.
	waitsFor = 20
)

// TestStudiesTakeTurns: with thousands of calls of one study queued, the call of
// another study is among the next ones, because studies are served in turn. What is
// counted is the order, not the time.
func TestStudiesTakeTurns(t *testing.T) {
	e := start(t, temporal.Config{UIPort: temporal.NoUI})
	c := dial(t, e)
	var mu sync.Mutex
	var order []string
	done := make(chan struct{}, floods*callsEach+1)
	flood := func(ctx workflow.Context, study string, calls int) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: callsQueue, StartToCloseTimeout: time.Minute, Priority: sdk.Priority{PriorityKey: 2, FairnessKey: study},
		})
		var waiting []workflow.Future
		for range calls {
			waiting = append(waiting, workflow.ExecuteActivity(ctx, "Call", study))
		}
		for _, one := range waiting {
			if err := one.Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}
	coach := worker.New(c, queue, worker.Options{})
	coach.RegisterWorkflowWithOptions(flood, workflow.RegisterOptions{Name: "Flood"})
	require.NoError(t, coach.Start())
	t.Cleanup(coach.Stop)
	ask := func(study string, calls int) {
		_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue}, "Flood", study, calls)
		require.NoError(t, err)
	}
	queued := func(want int64) {
		require.Eventually(t, func() bool {
			got, err := c.DescribeTaskQueueEnhanced(t.Context(), client.DescribeTaskQueueEnhancedOptions{
				TaskQueue: callsQueue, TaskQueueTypes: []client.TaskQueueType{client.TaskQueueTypeActivity}, ReportStats: true,
			})
			if err != nil {
				return false
			}
			//nolint:staticcheck // the statistics of a queue without versions are here only
			stats := got.VersionsInfo[""].TypesInfo[client.TaskQueueTypeActivity].Stats
			return stats != nil && stats.ApproximateBacklogCount >= want
		}, time.Minute, 50*time.Millisecond)
	}
	for range floods {
		ask("many", callsEach)
	}
	queued(floods * callsEach)

	calls := worker.New(c, callsQueue, worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 1})
	calls.RegisterActivityWithOptions(func(_ context.Context, study string) error {
		mu.Lock()
		order = append(order, study)
		mu.Unlock()
		done <- struct{}{}
		return nil
	}, activity.RegisterOptions{Name: "Call"})
	ask("few", 1)
	queued(floods*callsEach + 1)
	require.NoError(t, calls.Start())
	t.Cleanup(calls.Stop)
	for range waitsFor + 1 {
		<-done
	}
	mu.Lock()
	defer mu.Unlock()
	at := slices.Index(order, "few")
	require.GreaterOrEqual(t, at, 0, "the text waits behind more than %d of %d calls", waitsFor, floods*callsEach)
	t.Logf("call %d of %d", at+1, floods*callsEach+1)
}
