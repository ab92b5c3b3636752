package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/models/wire"
)

const reconcileEvery = 6 * time.Hour

// ensureReconciling creates the schedule that starts the reconciliation. Safe
// to run from every worker at every start: an existing schedule is left as the
// operator has it.
func ensureReconciling(ctx context.Context, c client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, attributesTimeout)
	defer cancel()
	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:   wire.ScheduleReconcile,
		Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: reconcileEvery}}},
		Action: &client.ScheduleWorkflowAction{
			ID: wire.ScheduleReconcile, Workflow: wire.WorkflowReconcile, TaskQueue: wire.QueueCoach,
		},
		CatchupWindow: time.Hour,
		Note:          "asks the carrier about texts whose status was never reported",
	})
	if err != nil && !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return fmt.Errorf("creating schedule %s: %w", wire.ScheduleReconcile, err)
	}
	return nil
}
