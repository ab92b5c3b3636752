package worker

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/config"
	"coachline/models/wire"
)

// queueOf is an activity that returns the queue it was scheduled on.
func queueOf(ctx context.Context) (string, error) {
	return activity.GetInfo(ctx).TaskQueue, nil
}

// TestActivityQueues schedules one activity of each kind under each setting.
func TestActivityQueues(t *testing.T) {
	const own = "" // the workflow's own queue
	for name, tt := range map[string]struct {
		queues            config.Queues
		rate              float64
		model, send, tool string
		perSecond         float64
	}{
		"one":             {queues: config.QueuesOne, model: own, send: own, tool: own},
		"one with a rate": {queues: config.QueuesOne, rate: 10, model: own, send: wire.QueueSMS, tool: own, perSecond: 10 / segmentsPerSend},
		"split":           {queues: config.QueuesSplit, model: wire.QueueModel, send: wire.QueueSMS, tool: own},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Config{Tuning: config.Tuning{Queues: tt.queues}}
			cfg.Carrier.SendRate = tt.rate
			queues := activityQueues(cfg, &acts{})
			require.Equal(t, []string{wire.QueueModel, wire.QueueSMS}, []string{queues[0].name, queues[1].name})
			require.InDelta(t, tt.perSecond, queues[1].perSecond, 0)
			require.Zero(t, queues[0].perSecond)

			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			env.SetWorkerOptions(sdk.Options{DeadlockDetectionTimeout: time.Minute, Interceptors: []interceptor.WorkerInterceptor{&queueInterceptor{queues: separateQueues(queues)}}})
			for _, kind := range []string{"CallModel", "SendTurn", "RunTool"} {
				env.RegisterActivityWithOptions(queueOf, activity.RegisterOptions{Name: kind})
			}
			var got []string
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
				for _, kind := range []string{"CallModel", "SendTurn", "RunTool"} {
					var queue string
					if err := workflow.ExecuteActivity(ctx, kind).Get(ctx, &queue); err != nil {
						return err
					}
					if queue == workflow.GetInfo(ctx).TaskQueueName {
						queue = own
					}
					got = append(got, queue)
				}
				return nil
			})
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, []string{tt.model, tt.send, tt.tool}, got)
		})
	}
}
