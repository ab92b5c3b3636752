package worker

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/sdk/worker"

	"coachline/internal/config"
)

func TestTuned(t *testing.T) {
	fixed, err := workerOptions(config.Tuning{WorkflowPollers: 3, ActivityPollers: 4, Slots: 50, WorkflowCache: 100})
	require.NoError(t, err)
	require.Equal(t, []int{50, 50, 50}, []int{
		fixed.MaxConcurrentWorkflowTaskExecutionSize, fixed.MaxConcurrentActivityExecutionSize, fixed.MaxConcurrentLocalActivityExecutionSize,
	})
	require.Nil(t, fixed.Tuner)
	require.Equal(t, 25, fixed.MaxConcurrentEagerActivityExecutionSize, "half of the slots are left to what the queue hands out")
	three := sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: 3})
	require.Equal(t, three, fixed.WorkflowTaskPollerBehavior)

	auto, err := workerOptions(config.Tuning{})
	require.NoError(t, err)
	require.NotNil(t, auto.Tuner)
	require.Equal(t, eagerLimit, auto.MaxConcurrentEagerActivityExecutionSize)
	require.IsType(t, sdk.NewPollerBehaviorAutoscaling(sdk.PollerBehaviorAutoscalingOptions{}), auto.ActivityTaskPollerBehavior)
}

func TestMachine(t *testing.T) {
	for name, read := range map[string]func(*sdk.SysInfoContext) (float64, error){
		"memory": machine{}.MemoryUsage, "processors": machine{}.CpuUsage,
	} {
		t.Run(name, func(t *testing.T) {
			share, err := read(&sdk.SysInfoContext{})
			require.NoError(t, err)
			require.True(t, share >= 0 && share <= 1, "%v", share)
		})
	}
}

// drained is a worker that is through only when another one stops as well.
type drained struct {
	sdk.Worker
	met *sync.WaitGroup
}

func (d drained) Stop() {
	d.met.Done()
	d.met.Wait()
}

func TestWorkersDrainSideBySide(t *testing.T) {
	synctest.Test(t, func(*testing.T) { // one after the other would be a deadlock
		var met sync.WaitGroup
		met.Add(2)
		(&role{workers: []sdk.Worker{drained{met: &met}, drained{met: &met}}}).stopWorkers()
	})
}
