package worker

import (
	"context"
	"errors"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/models"
)

// Remembering may take minutes while a model is away; after a day the
// conversation has moved on.
const (
	rememberLimit    = 2 * time.Minute
	rememberPatience = 24 * time.Hour
	rememberBeat     = 10 * time.Second
	priorityLast     = 5
)

// background starts activities that no workflow waits for. Outside the
// participant's history they cost it nothing, and a full model queue delays
// them before any reply.
type background struct{ engine client.Client }

// Remember implements activities.Background.
func (b background) Remember(ctx context.Context, in models.RememberInput) error {
	_, err := b.engine.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: "remember-" + in.TurnID, TaskQueue: models.QueueModel,
		StartToCloseTimeout: rememberLimit, ScheduleToCloseTimeout: rememberPatience, HeartbeatTimeout: rememberBeat,
		ActivityIDReusePolicy:    enums.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE,
		ActivityIDConflictPolicy: enums.ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING,
		Priority:                 temporal.Priority{PriorityKey: priorityLast},
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute,
			NonRetryableErrorTypes: []string{models.ErrTypeInvalid, models.ErrTypeMissing},
		},
	}, models.ActivityRemember, in)
	var already *serviceerror.ActivityExecutionAlreadyStarted
	if errors.As(err, &already) {
		return nil
	}
	return err
}
