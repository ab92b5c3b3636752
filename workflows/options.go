package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/models"
)

// Time limits. The patience of a reply is the longest silence before a fixed
// text stands in for the model; a greeting waits less, because a person has
// just been enrolled and nothing has been promised yet.
const (
	localLimit       = 10 * time.Second
	localPatience    = 10 * 365 * 24 * time.Hour
	modelCallLimit   = 75 * time.Second
	replyPatience    = 3 * time.Minute
	greetingPatience = time.Minute
	toolLimit        = 90 * time.Second
	toolPatience     = 3 * time.Minute
	sendLimit        = 30 * time.Second
	heartbeat        = 10 * time.Second
)

// Queue order: what answers a person goes before what we start ourselves.
const (
	priorityReply = 2
	priorityStart = 4
	priorityLast  = 5 // housekeeping
)

// local is for rules and short database work. It is retried for as long as the
// database is away: nothing that was accepted may be given up.
func local(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    localLimit,
		ScheduleToCloseTimeout: localPatience,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        100 * time.Millisecond,
			BackoffCoefficient:     2,
			MaximumInterval:        10 * time.Second,
			NonRetryableErrorTypes: []string{models.ErrTypeInvalid, models.ErrTypeMissing},
		},
	})
}

func (t *turn) modelOptions(ctx workflow.Context, summary string) workflow.Context {
	patience := replyPatience
	if t.plan.Kind == models.KindGreeting {
		patience = greetingPatience
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              models.QueueModel,
		StartToCloseTimeout:    modelCallLimit,
		ScheduleToCloseTimeout: patience,
		HeartbeatTimeout:       heartbeat,
		Priority:               t.priority(),
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
		},
	})
}

func (t *turn) toolOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              models.QueueCoach,
		StartToCloseTimeout:    toolLimit,
		ScheduleToCloseTimeout: toolPatience,
		Priority:               t.priority(),
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    200 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
		},
	})
}

// keepOptions set no bound on the whole: texts are kept however long the
// database is away.
func (t *turn) keepOptions(ctx workflow.Context, summary string) workflow.Context {
	options := workflow.GetActivityOptions(t.toolOptions(ctx, summary))
	options.ScheduleToCloseTimeout = 0
	return workflow.WithActivityOptions(ctx, options)
}

// sendOptions set no bound on the whole: what a turn says is stored by the same
// activity and must not be given up while the database is away, and how long a
// text is worth sending is judged by its row.
func (t *turn) sendOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           models.QueueSMS,
		StartToCloseTimeout: sendLimit,
		HeartbeatTimeout:    heartbeat,
		Priority:            t.priority(),
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        time.Second,
			BackoffCoefficient:     2,
			MaximumInterval:        time.Minute,
			NonRetryableErrorTypes: []string{models.ErrTypeInvalid, models.ErrTypeMissing},
		},
	})
}

// priority puts answers before prompts and reminders.
func (t *turn) priority() temporal.Priority {
	key := priorityStart
	switch t.plan.Kind {
	case models.KindReply, models.KindGreeting, models.KindOperator, models.KindNotice, models.KindConsent, models.KindHelp, models.KindSafety:
		key = priorityReply
	case models.KindMessage, models.KindPrompt, models.KindReminder, models.KindFeedbackQuestion,
		models.KindFeedbackFollowup, models.KindCheckIn, models.KindResult, models.KindSubagent, models.KindDebug, models.KindToolCall, models.KindToolResult:
	}
	return temporal.Priority{PriorityKey: key, FairnessKey: t.life.state.ParticipantID}
}
