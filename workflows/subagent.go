package workflows

import (
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

// Bounds of a subagent. One that a turn waits for ends itself in time, so that
// it can say so; the server ends it only if it cannot (backstop).
const (
	subagentSteps    = 10
	subagentWait     = time.Minute
	subagentPatience = 15 * time.Minute
	subagentBackstop = 30 * time.Second
)

var subagents *activities.SubagentActivities

// Subagent runs a task that a participant's model gave away: its own steps with
// its own tools, beside the participant's workflow. The task and the
// result are in the rows of the call and of the subagent's turn. It never fails
// for what a model or a tool does: the result says how it ended. Where no turn
// waited for it, the participant's workflow is told; one that is gone is not.
func Subagent(ctx workflow.Context, in wire.SubagentInput) (wire.SubagentResult, error) {
	e := &subagentRun{SubagentInput: in, until: workflow.Now(ctx).Add(subagentPatience), priority: priorityStart}
	if in.Subagent.Wait {
		e.until, e.priority = workflow.Now(ctx).Add(subagentWait), priorityReply
	}
	source := e.runSteps(ctx)
	if ctx.Err() != nil {
		source = wire.SourceSilent
	}
	out := wire.SubagentResult{Source: source, Steps: e.steps}
	// A subagent that is cancelled still writes how it ended.
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := e.endRun(ctx, source); err != nil {
		workflow.GetLogger(ctx).Error("ending subagent failed", "turn", in.Subagent.TurnID, "error", err)
	}
	if !in.Subagent.Wait {
		out.Undelivered = !e.reportResult(ctx, source)
	}
	return out, nil
}

type subagentRun struct {
	wire.SubagentInput
	until    time.Time
	priority int
	steps    int
}

// runSteps runs steps until there is a text. The last step is without tools,
// and so is the one after an empty answer, which is asked for again once.
func (s *subagentRun) runSteps(ctx workflow.Context) wire.TextSource {
	plain := false
	for s.steps < subagentSteps && s.timeLeft(ctx) > 0 {
		s.steps++
		plain = plain || s.steps == subagentSteps
		var out wire.CallModelResult
		err := workflow.ExecuteActivity(s.activityOptions(ctx, wire.QueueModel, "model call"), talk.CallModel, s.stepInput(ctx, plain)).Get(ctx, &out)
		switch {
		case err != nil:
			workflow.GetLogger(ctx).Warn("model gave no answer", "turn", s.Subagent.TurnID, "step", s.steps, "error", err)
			return wire.SourceFailed
		case out.Begun != nil && out.Begun.Skip:
			return wire.SourceSilent
		case len(out.Calls) > 0 && !plain:
			s.runTools(ctx, out.Calls)
		case out.HasText:
			return wire.SourceStep
		case plain:
			return wire.SourceFailed
		default:
			plain = true
		}
	}
	return wire.SourceFailed
}

// timeLeft returns how long the subagent may still run.
func (s *subagentRun) timeLeft(ctx workflow.Context) time.Duration {
	return s.until.Sub(workflow.Now(ctx))
}

func (s *subagentRun) stepInput(ctx workflow.Context, plain bool) wire.CallModelInput {
	in := wire.CallModelInput{
		ParticipantID: s.ParticipantID, TurnID: s.Subagent.TurnID, Step: s.steps, Mode: s.Mode,
		Kind: wire.TurnSubagent, NoTools: plain,
	}
	if s.steps == 1 {
		in.Begin = &wire.PrepareTurnInput{
			ParticipantID: s.ParticipantID, TurnID: s.Subagent.TurnID, Number: s.turnNumber(), Mode: s.Mode,
			Plan: s.turnPlan(), Now: workflow.Now(ctx), Study: s.Study,
		}
	}
	return in
}

func (s *subagentRun) turnPlan() wire.TurnPlan {
	return wire.TurnPlan{Kind: wire.TurnSubagent, Subagent: s.Subagent}
}

// turnNumber returns the number of the turn which started the subagent.
func (s *subagentRun) turnNumber() int {
	origin, _ := models.ParseSubagentTurnID(s.Subagent.TurnID)
	_, number, _ := models.ParseTurnID(origin.TurnID)
	return number
}

// runTools carries out the calls of the newest step. What a subagent may not
// call was refused when its answer was read, and is refused again where calls
// are run.
func (s *subagentRun) runTools(ctx workflow.Context, calls []wire.CallRef) {
	for i, call := range calls {
		in := wire.ToolInput{
			ParticipantID: s.ParticipantID, TurnID: s.Subagent.TurnID, Step: s.steps, Call: i, Mode: s.Mode,
		}
		if call.Refused || call.InWorkflow {
			s.refuseCall(ctx, in, call)
			continue
		}
		if s.timeLeft(ctx) <= 0 {
			return
		}
		if err := workflow.ExecuteActivity(s.activityOptions(ctx, wire.QueueCoach, "tool "+call.Name), tools.RunTool, in).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("tool failed", "turn", in.TurnID, "tool", call.Name, "error", err)
			in.Refuse = activities.RefuseFailed
			s.refuseCall(ctx, in, call)
		}
	}
}

// refuseCall writes why a call was not carried out; its own reason, where it
// has one, stands in its row.
func (s *subagentRun) refuseCall(ctx workflow.Context, in wire.ToolInput, call wire.CallRef) {
	if !call.Refused && in.Refuse == "" {
		in.Refuse = activities.RefuseFailed
	}
	ask := wire.DecideToolInput{Tool: in, Now: workflow.Now(ctx)}
	if err := s.executeDecideTool(ctx, ask); err != nil {
		workflow.GetLogger(ctx).Error("refusing tool call failed", "turn", in.TurnID, "step", in.Step, "call", in.Call, "error", err)
	}
}

// executeDecideTool runs the activity, which stores the result of the call.
func (s *subagentRun) executeDecideTool(ctx workflow.Context, in wire.DecideToolInput) error {
	if !decidesInActivity(ctx) {
		return workflow.ExecuteLocalActivity(withLocalOptions(ctx), rules.DecideTool, in).Get(ctx, nil)
	}
	options := decideOptions(ctx, workflow.GetActivityOptions(s.activityOptions(ctx, wire.QueueCoach, "")).Priority, "refuse tool call")
	return workflow.ExecuteActivity(options, rules.DecideTool, in).Get(ctx, nil)
}

// endRun writes how the subagent ended. It sets no bound on the whole: a caller
// that waits is released by the server's bound on the workflow.
func (s *subagentRun) endRun(ctx workflow.Context, source wire.TextSource) error {
	options := workflow.GetActivityOptions(s.activityOptions(ctx, wire.QueueCoach, "end of subagent"))
	options.ScheduleToCloseTimeout, options.StartToCloseTimeout = 0, sendLimit
	options.RetryPolicy.NonRetryableErrorTypes = []string{wire.ErrTypeInvalid, wire.ErrTypeMissing}
	in := wire.PersistTurnInput{
		ParticipantID: s.ParticipantID, TurnID: s.Subagent.TurnID, Mode: s.Mode, Plan: s.turnPlan(),
		Source: source, Step: s.steps, Now: workflow.Now(ctx),
	}
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), subagents.EndSubagent, in).Get(ctx, nil)
}

// reportResult sends the result to the participant's workflow, to the run that
// is there; it returns false when there is none.
func (s *subagentRun) reportResult(ctx workflow.Context, source wire.TextSource) bool {
	done := s.Subagent
	done.Failed = source != wire.SourceStep
	err := workflow.SignalExternalWorkflow(ctx, models.WorkflowID(s.ParticipantID), "", wire.SignalSubagentDone, done).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("signalling the result of a subagent failed", "turn", s.Subagent.TurnID, "error", err)
	}
	return err == nil
}

// activityOptions bounds everything that a subagent does by the time it has
// left.
func (s *subagentRun) activityOptions(ctx workflow.Context, queue, what string) workflow.Context {
	options := workflow.ActivityOptions{
		TaskQueue:              queue,
		StartToCloseTimeout:    modelCallLimit,
		ScheduleToCloseTimeout: max(s.timeLeft(ctx), time.Second),
		Priority:               temporal.Priority{PriorityKey: s.priority, FairnessKey: fairnessKey(s.Study)},
		Summary:                fmt.Sprintf("%s, step %d", what, s.steps),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
		},
	}
	if queue == wire.QueueModel {
		options.HeartbeatTimeout = heartbeat
	}
	return workflow.WithActivityOptions(ctx, options)
}

// startSubagents starts what the rules have given away because of a call. One
// that the turn waits for goes with the turn; the others outlive it, and this
// run of the workflow too, which is why their start is waited for.
func (t *turn) startSubagents(ctx workflow.Context, in wire.ToolInput, effects []wire.Effect) {
	for _, effect := range effects {
		if effect.Kind != wire.EffectStartSubagent {
			continue
		}
		sub, start := effect.Turn.Subagent, t.startDetached
		if sub.Wait {
			start = t.waitFor
		}
		if err := start(ctx, sub); err != nil {
			workflow.GetLogger(ctx).Error("subagent failed", "turn", sub.TurnID, "error", err)
			in.Refuse = activities.RefuseFailed
			t.decideTool(ctx, in)
		}
	}
}

// startDetached starts a subagent that no turn waits for.
func (t *turn) startDetached(ctx workflow.Context, sub wire.Subagent) error {
	ctx = t.childOptions(ctx, sub, enums.PARENT_CLOSE_POLICY_ABANDON)
	return workflow.ExecuteChildWorkflow(ctx, Subagent, t.subagentInput(sub)).GetChildWorkflowExecution().Get(ctx, nil)
}

// waitFor runs a subagent within the turn, no longer than the turn has
// something to say. It writes the result of the call itself.
func (t *turn) waitFor(ctx workflow.Context, sub wire.Subagent) error {
	childCtx, cancel := workflow.WithCancel(t.childOptions(ctx, sub, enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL))
	defer cancel()
	return t.awaitActivity(ctx, workflow.ExecuteChildWorkflow(childCtx, Subagent, t.subagentInput(sub)), nil)
}

func (t *turn) subagentInput(sub wire.Subagent) wire.SubagentInput {
	return wire.SubagentInput{ParticipantID: t.participant.state.ParticipantID, Mode: t.mode, Subagent: sub, Study: t.participant.state.Study}
}

func (t *turn) childOptions(ctx workflow.Context, sub wire.Subagent, whenClosed enums.ParentClosePolicy) workflow.Context {
	options := workflow.ChildWorkflowOptions{
		WorkflowID:            models.SubagentWorkflowID(sub.TurnID),
		TaskQueue:             wire.QueueCoach,
		ParentClosePolicy:     whenClosed,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		Priority:              t.turnPriority(),
		StaticSummary:         fmt.Sprintf("subagent of turn %d", t.number),
	}
	if sub.Wait {
		options.WorkflowExecutionTimeout = subagentWait + subagentBackstop
	}
	return workflow.WithChildOptions(ctx, options)
}
