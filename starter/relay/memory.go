package relay

import (
	"context"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/models/wire"
)

// Limits of a batch. It may wait minutes for a model; what it has not done when
// its claim is over goes into a later batch.
const (
	memoryBatch     = 100
	memoryClaim     = 10 * time.Minute
	memoryAttempt   = 5 * time.Minute
	memoryHeartbeat = 10 * time.Second
	memoryPriority  = 5 // behind all replies and prompts
)

// sweepMemory has Temporal remember what replies left behind, in one activity for
// all turns since the last sweep: one for each reply would cost the server more
// than the reply.
func (r *Relay) sweepMemory(ctx context.Context) error {
	for {
		now := r.cfg.Now()
		ids, err := r.cfg.Store.Memory.ClaimMemory(ctx, models.MemoryClaim{Now: now, Until: now.Add(memoryClaim), Limit: memoryBatch})
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := r.startMemory(ctx, ids, now); err != nil {
			return fmt.Errorf("starting to remember %d turns: %w", len(ids), err)
		}
		if len(ids) < memoryBatch {
			return nil
		}
	}
}

// startMemory starts the activity of a batch. Its id holds the instant of the
// claim, so that a later claim of the same turns is another batch.
func (r *Relay) startMemory(ctx context.Context, ids []string, claimed time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	_, err := r.cfg.Engine.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: fmt.Sprintf("remember-%s-%d", ids[0], claimed.UnixMilli()), TaskQueue: wire.QueueModel,
		StartToCloseTimeout: memoryAttempt, ScheduleToCloseTimeout: memoryClaim, HeartbeatTimeout: memoryHeartbeat,
		ActivityIDReusePolicy: enums.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE,
		Priority:              temporal.Priority{PriorityKey: memoryPriority},
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid},
		},
	}, wire.ActivityRememberTurns, wire.RememberTurnsInput{TurnIDs: ids})
	return err
}
