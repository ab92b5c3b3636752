package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models/wire"
)

var checks *activities.ReconcileActivities

// Reconcile asks the carrier about texts whose status was never reported. A
// schedule starts it; it holds no state.
func Reconcile(ctx workflow.Context) (wire.ReconcileResult, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              wire.QueueSMS,
		StartToCloseTimeout:    30 * time.Minute,
		ScheduleToCloseTimeout: 2 * time.Hour,
		HeartbeatTimeout:       time.Minute,
		Priority:               temporal.Priority{PriorityKey: priorityLast},
		Summary:                "texts without a final status",
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Minute, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute},
	})
	var sum wire.ReconcileResult
	err := workflow.ExecuteActivity(ctx, checks.Reconcile).Get(ctx, &sum)
	return sum, err
}
