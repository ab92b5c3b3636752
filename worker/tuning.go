package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	sdk "go.temporal.io/sdk/worker"

	"coachline/internal/config"
)

const (
	// stickyTimeout is how long a person waits whose worker is gone until another one
	// takes their task; a replay costs 0.2 ms. Prompts of one minute are spread, so no
	// wave of timers waits as long in a living worker's queue.
	stickyTimeout = 2 * time.Second
	drainTimeout  = 10 * time.Second
	// heartbeatThrottle is how often the server hears of an activity that goes on, so
	// that the time limit without a heartbeat may be short.
	heartbeatThrottle = 1500 * time.Millisecond
	// eagerLimit bounds eager activities where slots follow the machine's
	// load, so that prompts of a wave cannot take what a reply needs.
	eagerLimit = 500
	// machineShare is the share of processors and memory up to which such slots are
	// given.
	machineShare = 0.8
)

// workerOptions returns the options that every worker of a process has: how many
// tasks it asks for at a time, and how many it works on. It sets the size of
// the cache of workflows, which the SDK keeps once for a process, and must be
// called before the first worker is built.
func workerOptions(t config.Tuning) (sdk.Options, error) {
	sdk.SetStickyWorkflowCacheSize(t.WorkflowCache)
	options := sdk.Options{
		WorkflowTaskPollerBehavior:   pollerBehavior(t.WorkflowPollers),
		ActivityTaskPollerBehavior:   pollerBehavior(t.ActivityPollers),
		StickyScheduleToStartTimeout: stickyTimeout,
		WorkerStopTimeout:            drainTimeout,
		MaxHeartbeatThrottleInterval: heartbeatThrottle,
	}
	if t.Slots > 0 {
		// Eager activities take no account of priorities; what the queue dispatches
		// keeps at least half of the slots.
		options.MaxConcurrentEagerActivityExecutionSize = t.Slots / 2
		options.MaxConcurrentWorkflowTaskExecutionSize = t.Slots
		options.MaxConcurrentActivityExecutionSize = t.Slots
		options.MaxConcurrentLocalActivityExecutionSize = t.Slots
		return options, nil
	}
	options.MaxConcurrentEagerActivityExecutionSize = eagerLimit
	tuner, err := sdk.NewResourceBasedTuner(sdk.ResourceBasedTunerOptions{TargetMem: machineShare, TargetCpu: machineShare, InfoSupplier: machine{}})
	if err != nil {
		return options, fmt.Errorf("COACH_WORKER_SLOTS: preparing slots by processor and memory: %w", err)
	}
	options.Tuner = tuner
	return options, nil
}

// pollerBehavior asks with so many calls at a time; 0 lets the server choose
// when more or fewer are of use.
func pollerBehavior(n int) sdk.PollerBehavior {
	if n == 0 {
		return sdk.NewPollerBehaviorAutoscaling(sdk.PollerBehaviorAutoscalingOptions{})
	}
	return sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: n})
}

// machine tells how busy the whole machine is, regardless of the limits of a
// container in it.
type machine struct{}

// MemoryUsage implements sdk.SysInfoProvider.
func (machine) MemoryUsage(*sdk.SysInfoContext) (float64, error) {
	now, err := mem.VirtualMemoryWithContext(context.Background())
	if err != nil {
		return 0, fmt.Errorf("reading the machine's memory: %w", err)
	}
	return now.UsedPercent / 100, nil
}

// CpuUsage implements sdk.SysInfoProvider: the share since it was last asked.
func (machine) CpuUsage(*sdk.SysInfoContext) (float64, error) {
	shares, err := cpu.PercentWithContext(context.Background(), 0, false)
	if err != nil || len(shares) == 0 {
		return 0, fmt.Errorf("reading the machine's processors: %w", err)
	}
	return shares[0] / 100, nil
}
