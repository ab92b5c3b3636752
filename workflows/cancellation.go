package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models/wire"
)

var removals *activities.RemovalActivities

// cancellation is a request to cancel the workflow, from the Temporal UI or CLI.
type cancellation struct {
	isRequested func() bool
	taken       bool
}

// isWaiting says that a request has come and is not a command yet.
func (c cancellation) isWaiting() bool { return !c.taken && c.isRequested() }

// cancelCommandID is the id of the command; those of updates are their own.
const cancelCommandID = "cancellation-request"

// takeCancellation makes a command of a cancellation request, once. One that
// comes behind an unenrolment changes nothing.
func (p *participant) takeCancellation() {
	if !p.cancellation.isWaiting() {
		return
	}
	p.cancellation.taken = true
	if !p.isLeaving() {
		p.state.Commands = append(p.state.Commands, wire.Command{ID: cancelCommandID, Kind: wire.CommandCancel})
	}
}

// removeParticipant removes the row, as DELETE does in the API. It is tried for
// as long as the database is away. No change id guards it: with workers that did
// not know it, no workflow task after a cancellation request was ever completed
// other than by ending the workflow.
func (p *participant) removeParticipant(ctx workflow.Context) {
	removeCtx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           wire.QueueCoach,
		StartToCloseTimeout: sendLimit,
		Priority:            temporal.Priority{PriorityKey: priorityReply},
		Summary:             "cancellation requested: remove the participant",
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        200 * time.Millisecond,
			BackoffCoefficient:     2,
			MaximumInterval:        30 * time.Second,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid},
		},
	})
	in := wire.RemoveParticipantInput{ParticipantID: p.state.ParticipantID, Now: workflow.Now(ctx)}
	if err := workflow.ExecuteActivity(removeCtx, removals.RemoveParticipant, in).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Error("removing the participant failed; unenrolling all the same", "error", err)
	}
}
