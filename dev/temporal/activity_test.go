package temporal_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"coachline/dev/temporal"
)

// An activity without a workflow runs once for its id, however often it is
// asked for, while it runs and afterwards: what the hint to a stranger needs.
func TestStandaloneActivityRunsOnceForItsID(t *testing.T) {
	e := start(t, temporal.Config{UIPort: temporal.NoUI})
	c := dial(t, e)
	var ran atomic.Int32
	release := make(chan struct{})
	w := worker.New(c, queue, worker.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(func(context.Context) error {
		ran.Add(1)
		<-release
		return nil
	}, activity.RegisterOptions{Name: "Once"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)

	ask := func() (client.ActivityHandle, error) {
		return c.ExecuteActivity(t.Context(), client.StartActivityOptions{
			ID: "hint-1-2026-11-24", TaskQueue: queue, ScheduleToCloseTimeout: time.Minute,
			ActivityIDReusePolicy:    enumspb.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE,
			ActivityIDConflictPolicy: enumspb.ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING,
		}, "Once")
	}
	handle, err := ask()
	require.NoError(t, err)
	_, err = ask()
	require.NoError(t, err, "joins the one that runs")
	close(release)
	require.NoError(t, handle.Get(t.Context(), nil))
	_, err = ask()
	var already *serviceerror.ActivityExecutionAlreadyStarted
	require.ErrorAs(t, err, &already)
	require.Equal(t, int32(1), ran.Load())
}
