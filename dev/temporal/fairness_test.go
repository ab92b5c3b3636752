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

// callers is a queue of model calls that workflows of studies fill.
type callers struct {
	tb testing.TB
	c  client.Client
}

// startCallers starts a worker for workflows that queue calls.
func startCallers(tb testing.TB, c client.Client) callers {
	tb.Helper()
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
	require.NoError(tb, coach.Start())
	tb.Cleanup(coach.Stop)
	return callers{tb, c}
}

// ask queues calls of a study.
func (q callers) ask(study string, calls int) client.WorkflowRun {
	q.tb.Helper()
	run, err := q.c.ExecuteWorkflow(q.tb.Context(), client.StartWorkflowOptions{TaskQueue: queue}, "Flood", study, calls)
	require.NoError(q.tb, err)
	return run
}

// wait waits until so many calls are queued.
func (q callers) wait(want int64) {
	q.tb.Helper()
	require.Eventually(q.tb, func() bool {
		got, err := q.c.DescribeTaskQueueEnhanced(q.tb.Context(), client.DescribeTaskQueueEnhancedOptions{
			TaskQueue: callsQueue, TaskQueueTypes: []client.TaskQueueType{client.TaskQueueTypeActivity}, ReportStats: true,
		})
		if err != nil {
			return false
		}
		//nolint:staticcheck // the statistics of a queue without versions are here only
		stats := got.VersionsInfo[""].TypesInfo[client.TaskQueueTypeActivity].Stats
		return stats != nil && stats.ApproximateBacklogCount >= want
	}, 5*time.Minute, 50*time.Millisecond)
}

// TestStudiesTakeTurns: with thousands of calls of one study queued, the call of
// another study is among the next ones, because studies are served in turn. What is
// counted is the order, not the time.
func TestStudiesTakeTurns(t *testing.T) {
	e := start(t, temporal.Config{UIPort: temporal.NoUI})
	c := dial(t, e)
	var mu sync.Mutex
	var order []string
	done := make(chan struct{}, floods*callsEach+1)
	q := startCallers(t, c)
	for range floods {
		q.ask("many", callsEach)
	}
	q.wait(floods * callsEach)

	calls := worker.New(c, callsQueue, worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 1})
	calls.RegisterActivityWithOptions(func(_ context.Context, study string) error {
		mu.Lock()
		order = append(order, study)
		mu.Unlock()
		done <- struct{}{}
		return nil
	}, activity.RegisterOptions{Name: "Call"})
	q.ask("few", 1)
	q.wait(floods*callsEach + 1)
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

// BenchmarkStudiesTakeTurns has 10,000 calls of one study queued, of half a second
// each on eight slots, and says after how long a call of another study is answered.
func BenchmarkStudiesTakeTurns(b *testing.B) {
	c := dial(b, start(b, temporal.Config{UIPort: temporal.NoUI}))
	q := startCallers(b, c)
	for range 20 {
		q.ask("many", 500)
	}
	q.wait(10_000)
	calls := worker.New(c, callsQueue, worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 8})
	calls.RegisterActivityWithOptions(func(ctx context.Context, _ string) error {
		select {
		case <-time.After(500 * time.Millisecond): // a model that takes its time
		case <-ctx.Done():
		}
		return nil
	}, activity.RegisterOptions{Name: "Call"})
	require.NoError(b, calls.Start())
	b.Cleanup(calls.Stop)
	var longest time.Duration
	for b.Loop() {
		began := time.Now()
		require.NoError(b, q.ask("few", 1).Get(b.Context(), nil))
		longest = max(longest, time.Since(began))
	}
	b.ReportMetric(longest.Seconds(), "s-longest")
}
