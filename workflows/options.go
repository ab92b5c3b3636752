package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/models"
	"coachline/models/wire"
)

// Time limits. The patience of a reply is the longest time that workers try
// before a fixed text stands in for the model; a greeting waits less, because a
// person has just been enrolled and nothing has been promised yet. Activities
// keep to it themselves (activities.timeLimit), and to how long one attempt may take,
// both in proportion to COACH_MODEL_TIMEOUT: a schedule-to-close timeout would
// count the time without workers as well. modelCallLimit is above the longest attempt.
const (
	localLimit       = 10 * time.Second
	localPatience    = 10 * 365 * 24 * time.Hour
	modelCallLimit   = 16 * time.Minute
	replyPatience    = 3 * time.Minute
	greetingPatience = time.Minute
	toolPatience     = 3 * time.Minute
	sendLimit        = 30 * time.Second
	// heartbeat is after how long without one an attempt counts as lost with its
	// worker, which sends one every second and a half.
	heartbeat = 4 * time.Second
	// countless stands for no bound, which the SDK's test environment does not
	// know: how long a text is tried is judged by its row.
	countless = 1_000_000
)

// Queue order: what answers a person goes before what we start ourselves.
const (
	priorityReply = 2
	priorityStart = 4
	priorityLast  = 5 // housekeeping
)

// withLocalOptions returns the context for rules and short database work. Both
// are retried for as long as the database is away: nothing that was accepted
// may be given up.
func withLocalOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    localLimit,
		ScheduleToCloseTimeout: localPatience,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        100 * time.Millisecond,
			BackoffCoefficient:     2,
			MaximumInterval:        10 * time.Second,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid, wire.ErrTypeMissing},
		},
	})
}

func (t *turn) stepTimeLimit() time.Duration {
	if t.plan.Kind == wire.TurnGreeting {
		return greetingPatience
	}
	return replyPatience
}

// modelOptions name no task queue, and neither do the others here: the worker
// says whether an activity leaves the workflow's own (COACH_QUEUES).
func (t *turn) modelOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: modelCallLimit,
		HeartbeatTimeout:    heartbeat,
		Priority:            t.turnPriority(),
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    wire.FirstPause,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
			MaximumAttempts:    countless,
		},
	})
}

func (t *turn) toolOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: modelCallLimit,
		HeartbeatTimeout:    heartbeat,
		Priority:            t.turnPriority(),
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    200 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
		},
	})
}

// decidesInActivity says whether the run decides tool calls in activities. Runs
// of older workers go on with local ones.
func decidesInActivity(ctx workflow.Context) bool {
	// A local activity may run before the history holds that it was asked for, and
	// this one stores the call's result.
	return workflow.GetVersion(ctx, "tool-decided-in-activity", workflow.DefaultVersion, 1) == 1
}

// showsFlags says whether the run shows the participant's flags as search
// attributes. A run in which an older worker received flags does not.
func showsFlags(ctx workflow.Context) bool {
	// Older workers took the update of the flags without a command of their own.
	return workflow.GetVersion(ctx, "flags-as-search-attributes", workflow.DefaultVersion, 1) == 1
}

// endsPauses says whether the run ends pauses in the tables. A run in which an
// older worker has taken up the end of one asks the rules, as that worker did.
func endsPauses(ctx workflow.Context) bool {
	// The tables end pauses: an operator may have put the end off meanwhile.
	return workflow.GetVersion(ctx, "pause-ends-in-tables", workflow.DefaultVersion, 1) == 1
}

// keepsOrder says whether the run applies texts and commands in the order in which
// they were committed. A run in which an older worker took a text before a command
// that had been committed first goes on like that.
func keepsOrder(ctx workflow.Context) bool {
	// Older workers took texts before commands, which decides what follows from both.
	return workflow.GetVersion(ctx, "texts-and-commands-in-order", workflow.DefaultVersion, 1) == 1
}

// returnsTexts says whether a turn that an opt-out or a removal cuts leaves its texts to
// the next one. A run in which an older worker dropped some goes on like that.
func returnsTexts(ctx workflow.Context) bool {
	// The texts have the rules store them, which is an activity.
	return workflow.GetVersion(ctx, "cut-turn-returns-texts", workflow.DefaultVersion, 1) == 1
}

// checksNumbers says whether the run asks the tables about texts under numbers that it
// has seen. A run in which an older worker dropped one goes on like that.
func checksNumbers(ctx workflow.Context) bool {
	// Older workers took each of them for delivered again, without a command.
	return workflow.GetVersion(ctx, "repeated-numbers-checked", workflow.DefaultVersion, 1) == 1
}

// decidesWithStep says whether the run decides a due prompt with the first step
// of its turn. A run in which an older worker has waited for one does not.
func decidesWithStep(ctx workflow.Context) bool {
	// The local activity that decided a due prompt was an event of every prompt.
	return workflow.GetVersion(ctx, "prompt-decided-with-round", workflow.DefaultVersion, 1) == 1
}

// decideOptions returns the context for a rule and one row: short attempts, and
// no bound on the whole.
func decideOptions(ctx workflow.Context, priority temporal.Priority, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: localLimit,
		Priority:            priority,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        100 * time.Millisecond,
			BackoffCoefficient:     2,
			MaximumInterval:        10 * time.Second,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid, wire.ErrTypeMissing},
		},
	})
}

// sendOptions set no bound on the whole: what a turn says is stored by the same
// activity and must not be given up while the database is away, and how long a
// text is worth sending is judged by its row. The interval is short because it is
// that of attempts which were lost with their worker: the activity itself says
// how long a carrier is given.
func (t *turn) sendOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: sendLimit,
		HeartbeatTimeout:    heartbeat,
		Priority:            t.turnPriority(),
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        wire.FirstPause,
			BackoffCoefficient:     2,
			MaximumInterval:        10 * time.Second,
			MaximumAttempts:        countless,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid, wire.ErrTypeMissing},
		},
	})
}

// turnPriority puts answers before prompts and reminders.
func (t *turn) turnPriority() temporal.Priority {
	key := priorityStart
	if models.TurnSpecOf(t.plan.Kind).Urgent {
		key = priorityReply
	}
	return temporal.Priority{PriorityKey: key, FairnessKey: fairnessKey(t.participant.state.Study)}
}

// fairnessKey is the study: within one priority the queues serve the studies in
// turn, so that one with many tasks does not hold up another. Of the same study the
// oldest task goes first; a participant has one turn at a time.
func fairnessKey(study string) string {
	return cmp.Or(study, models.DefaultStudy)
}
