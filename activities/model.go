package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/agent"
	"coachline/internal/calls"
	"coachline/internal/metrics"
	"coachline/internal/prices"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Model is a chat model; its errors are *models.ModelError.
type Model interface {
	Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error)
}

// Responder runs the stages of one step; its errors are *models.ModelError
// where the model failed.
type Responder interface {
	Respond(ctx context.Context, in agent.StepInput) (models.Step, error)
	// LookAgain judges a message with a weak sign of danger; it never fails.
	LookAgain(ctx context.Context, c models.TurnContext, inboundID int64) models.LookVerdict
}

// ModelActivities runs the steps of a conversation, one an activity.
type ModelActivities struct {
	Turns *TurnLoader
	Store Turns
	// Attention asks for an operator.
	Attention Attention
	// Looks are weak signs of danger; nil where no second look is made.
	Looks   Looks
	Replies Responder
	Tools   *tools.Registry
	// Rules decide the first call of a step that leaves it to them; nil leaves
	// every call to DecideTool.
	Rules *DecisionActivities
	// Budgets says for whom the model is stopped; nil stops it for none.
	Budgets Budgets
	// Prices and TurnMicros bound what a turn may cost, in millionths of the currency; 0
	// is no bound.
	Prices     *prices.List
	TurnMicros int64
	// Costs keeps calls that were made in vain; nil keeps none. ModelName is the
	// model that a lost one counts for.
	Costs     CostStore
	ModelName string
	// ModelTimeout is how long an answer of the model is awaited; 0 is
	// models.UsualModelTimeout.
	ModelTimeout time.Duration
	Now          func() time.Time // time.Now when nil
	// Metrics may be nil.
	Metrics *metrics.Metrics
}

// Budgets knows whose budget is spent, without asking a database.
type Budgets interface {
	Stops(participantID, studyID string) bool
}

const heartbeatEvery = 1500 * time.Millisecond

// CallModel asks the model for the next step of a turn; the first step also
// begins the turn. It is safe to retry: a step that was stored is read back.
// It heartbeats while it waits, so that a dead worker costs seconds and not the
// whole time limit. A model that stays away longer than the input's time limit is
// an error of type TimeLimit, which is final. A model that refuses to answer
// raises attention.
func (t *ModelActivities) CallModel(ctx context.Context, in wire.CallModelInput) (wire.CallModelResult, error) {
	limit := startModelLimit(ctx, in.TimeLimit, modelAttempt, t.ModelTimeout, t.Now)
	stop := startHeartbeatWith(ctx, limit.recordHeartbeat)
	asking, asked := calls.With(ctx)
	out, err := t.runPlanned(asking, in, limit)
	stop()
	t.bookOf(in).bookOpen(ctx, asked)
	return out, limit.limitError(ctx, err)
}

// runPlanned asks the rules first where the input says so, and runs the step when
// a prompt follows. The workflow gives the turn's number to no other turn, so that
// a retry may decide otherwise.
func (t *ModelActivities) runPlanned(ctx context.Context, in wire.CallModelInput, limit *timeLimit) (wire.CallModelResult, error) {
	if in.Due == nil {
		return t.beginStep(ctx, in, limit)
	}
	planned, err := t.Rules.Decide(ctx, *in.Due)
	if err != nil {
		return wire.CallModelResult{}, err
	}
	plan := planned.PromptPlan()
	if plan == nil {
		return wire.CallModelResult{Planned: &planned}, nil
	}
	begin := *in.Begin
	begin.Plan = *plan
	in.Begin = &begin
	out, err := t.beginStep(ctx, in, limit)
	out.Planned = &planned
	return out, err
}

func (t *ModelActivities) beginStep(ctx context.Context, in wire.CallModelInput, limit *timeLimit) (wire.CallModelResult, error) {
	ctx, cancel := limit.limitContext(ctx)
	defer cancel()
	turn, begun, err := t.loadTurn(ctx, in)
	if err != nil {
		return wire.CallModelResult{}, toTemporalError(fmt.Errorf("loading turn: %w", err))
	}
	if begun != nil && (begun.Skip || begun.Prepared) {
		return wire.CallModelResult{Begun: begun}, nil
	}
	if answered, err := t.lookAgain(ctx, in, turn); err != nil || answered {
		return wire.CallModelResult{Begun: &wire.PrepareTurnResult{Skip: true}}, toTemporalError(err)
	}
	if begun != nil && begun.Stuck {
		return wire.CallModelResult{}, temporal.NewNonRetryableApplicationError("the text ended two runs; a fixed text stands in", wire.ErrTypeStuck, nil)
	}
	out, err := t.runStep(ctx, in, turn, limit)
	if out.Begun == nil {
		out.Begun = begun
	}
	return out, err
}

// loadTurn reads the turn, and begins it first where that is still to be done.
func (t *ModelActivities) loadTurn(ctx context.Context, in wire.CallModelInput) (models.TurnContext, *wire.PrepareTurnResult, error) {
	if in.Begin == nil {
		turn, err := t.Store.TurnContext(ctx, in.TurnID, entriesFor(in.Kind))
		return turn, nil, err
	}
	begin, err := t.Turns.noteStudy(ctx, *in.Begin)
	if err != nil {
		return models.TurnContext{}, nil, err
	}
	begun, turn, err := t.Turns.Store.OpenTurn(ctx, begin, entriesFor(in.Kind))
	logGone(ctx, begin, begun.Gone)
	begun.Limits = t.Turns.channelLimits(*in.Begin)
	return turn, &begun, err
}

func (t *ModelActivities) bookOf(in wire.CallModelInput) callBook {
	return callBook{store: t.Costs, turn: in.TurnID, part: "round " + strconv.Itoa(in.Step), now: t.Now}
}

// isTurnSpent reports whether the calls of a turn so far have cost what a turn may cost.
// The call that crosses the limit is made.
func (t *ModelActivities) isTurnSpent(turn models.TurnContext) bool {
	if t.TurnMicros <= 0 {
		return false
	}
	var spent int64
	for _, step := range turn.Steps {
		for _, call := range step.ModelCalls() {
			used := prices.Used{Input: int64(call.Usage.Prompt), Cached: int64(call.Usage.Cached), Output: int64(call.Usage.Completion)}
			if cost := t.Prices.Model(cmp.Or(call.Model, step.Model), used); cost != nil {
				spent += *cost
			}
		}
	}
	return spent >= t.TurnMicros
}

func (t *ModelActivities) runStep(ctx context.Context, in wire.CallModelInput, turn models.TurnContext, limit *timeLimit) (wire.CallModelResult, error) {
	for _, step := range turn.Steps {
		if step.Number == in.Step {
			return t.toResult(ctx, in, step)
		}
	}
	if err := t.bookOf(in).bookDead(ctx, limit, t.ModelName); err != nil {
		return wire.CallModelResult{}, toTemporalError(err)
	}
	if t.isSpent(in.ParticipantID, turn) {
		return wire.CallModelResult{}, temporal.NewNonRetryableApplicationError("the budget is spent; a fixed text stands in", wire.ErrTypeBudget, nil)
	}
	own := trimToEnding(turn)
	// What the turn itself has said stands among its steps.
	turn.Window = slices.DeleteFunc(turn.Window, func(entry models.Message) bool {
		return entry.TurnID == in.TurnID && entry.Role == models.RoleAssistant
	})
	settings, err := t.Turns.Studies.Resolve(ctx, turn.Participant.StudyID, turn.Participant.Arm)
	if err != nil {
		return wire.CallModelResult{}, toTemporalError(err)
	}
	if in.Kind == wire.TurnSubagent && turn.IsOver() {
		return wire.CallModelResult{Begun: &wire.PrepareTurnResult{Skip: true}}, nil
	}
	input, err := t.stepInput(ctx, in, turn)
	if err != nil {
		return wire.CallModelResult{}, toTemporalError(err)
	}
	settings.ToolsOff = slices.Concat(settings.ToolsOff, t.Tools.NotFor(settings.Study))
	input.Offer = applyStudy(input.Offer, settings)
	step, err := t.Replies.Respond(ctx, input)
	if err == nil {
		answered := step
		if step, err = t.Store.SaveStep(ctx, step); err == nil {
			settleStep(ctx, answered, step)
		}
	}
	if err == nil {
		err = t.noteAdvice(ctx, in, step)
	}
	if raiseErr := t.noteRefusal(ctx, in, step, err); raiseErr != nil {
		return wire.CallModelResult{}, raiseErr // retried: the refusal must be seen
	}
	if err != nil {
		return wire.CallModelResult{}, toTemporalError(fmt.Errorf("step %d: %w", in.Step, err))
	}
	t.Turns.Recent.keepTurn(own, step)
	return t.toResult(ctx, in, step)
}

// isSpent reports whether a budget or the limit of the turn allows no call any more.
func (t *ModelActivities) isSpent(participantID string, turn models.TurnContext) bool {
	return t.isTurnSpent(turn) || t.Budgets != nil && t.Budgets.Stops(participantID, turn.Participant.StudyID)
}

// stepInput returns what a step is asked with: the tools of the mode, or those of
// subagents and their task.
func (t *ModelActivities) stepInput(ctx context.Context, in wire.CallModelInput, turn models.TurnContext) (agent.StepInput, error) {
	input := agent.StepInput{Input: in, Context: turn}
	if in.Kind != wire.TurnSubagent {
		input.Offer = agent.NewOffer(t.Tools, in.Mode, turn.Profile, models.ChannelSpecOf(turn.Turn.Channel).Rights)
		return input, nil
	}
	outside, compact := t.Tools.Outside()
	input.Offer = agent.Offer{Specs: t.Tools.ForSubagents(), Outside: outside, Compact: compact, Recalled: t.Tools.Recalled()}
	var err error
	input.Task, err = t.loadTask(ctx, in.TurnID)
	return input, err
}

// noteRefusal raises attention when the model refused what it was asked, which no
// retry changes, or would have left the person without an answer. A key that is not
// in order is the installation's matter and not the participant's.
func (t *ModelActivities) noteRefusal(ctx context.Context, in wire.CallModelInput, step models.Step, cause error) error {
	if cause == nil && strings.Contains(step.Calls, models.RefusedSilence) {
		return t.raiseAttention(ctx, in, wire.AttentionUnanswered, "")
	}
	if cause == nil && step.FinishReason == models.FinishDeclined {
		return t.raiseAttention(ctx, in, wire.AttentionRefusal, string(models.ModelDeclined))
	}
	var refused *models.ModelError
	if !errors.As(cause, &refused) {
		return nil
	}
	switch refused.Class {
	case models.ModelBusy, models.ModelAuth:
		return nil
	case models.ModelRefused, models.ModelDeclined, models.ModelOverflow, models.ModelNoTools:
	}
	code := string(refused.Class)
	if refused.Status != 0 && refused.Status != http.StatusOK {
		code = strconv.Itoa(refused.Status)
	}
	return t.raiseAttention(ctx, in, wire.AttentionRefusal, code)
}

// noteAdvice counts the drafts of a step that were judged, and has people told where those
// of the study are changed too often.
func (t *ModelActivities) noteAdvice(ctx context.Context, in wire.CallModelInput, step models.Step) error {
	trace, _ := step.StepTrace()
	t.Metrics.Advised(trace.Stages)
	isChanged := slices.ContainsFunc(trace.Stages, func(stage models.Stage) bool {
		verdict, _, ok := stage.Advice()
		return ok && verdict != models.AdviceFine
	})
	if !isChanged {
		return nil
	}
	_, err := t.Attention.RaiseAdvice(ctx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionAdvice, Ref: in.TurnID, RaisedAt: t.instant(),
	})
	return wrap.Error(err, "raising attention for advice")
}

func (t *ModelActivities) raiseAttention(ctx context.Context, in wire.CallModelInput, kind wire.Attention, code string) error {
	_, err := t.Attention.RaiseAttention(ctx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: kind, Ref: in.TurnID, Code: code, RaisedAt: t.instant(),
	})
	return wrap.Errorf(err, "raising attention %s", kind)
}

// entriesFor returns the entries that the model reads: a subagent is told its
// task and nothing of the conversation.
func entriesFor(kind wire.TurnKind) int {
	if kind == wire.TurnSubagent {
		return 0
	}
	return WindowEntries
}

// loadTask returns what the call that started a subagent gave away.
func (t *ModelActivities) loadTask(ctx context.Context, turnID string) (string, error) {
	call, err := startedBy(ctx, t.Store, turnID)
	if err != nil {
		return "", err
	}
	task, _, err := t.Tools.Task(call)
	return task, err
}

func startedBy(ctx context.Context, steps Turns, turnID string) (models.ToolCall, error) {
	origin, ok := models.ParseSubagentTurnID(turnID)
	if !ok {
		return models.ToolCall{}, fmt.Errorf("%s is no turn of a subagent: %w", turnID, models.ErrNotFound)
	}
	return loadCall(ctx, steps, wire.ToolInput{TurnID: origin.TurnID, Step: origin.Step, Call: origin.Call})
}

// applyStudy leaves out the tools that a study or an arm leaves out.
func applyStudy(offer agent.Offer, settings study.Settings) agent.Offer {
	offer.Specs, offer.Controls = settings.Offer(offer.Specs), settings.Offer(offer.Controls)
	offer.Core = slices.DeleteFunc(slices.Clone(offer.Core), settings.LeavesOut)
	return offer
}

// toResult returns what the workflow has to do next; the text stays in the row.
func (t *ModelActivities) toResult(ctx context.Context, in wire.CallModelInput, step models.Step) (wire.CallModelResult, error) {
	calls, err := step.ToolCalls()
	if err != nil {
		return wire.CallModelResult{}, err
	}
	out := wire.CallModelResult{HasText: agent.Words(step.Text) != ""}
	for _, call := range calls {
		ref := wire.CallRef{Name: "unknown", InWorkflow: true}
		if tool, ok := t.Tools.Lookup(call.Name); ok {
			ref = wire.CallRef{Name: tool.Name, InWorkflow: tool.InWorkflow(), Ends: tool.Ends}
		}
		ref.Refused = call.Refused != ""
		out.Calls = append(out.Calls, ref)
	}
	out.Decided = t.decideFirst(ctx, in, step, out.Calls)
	return out, nil
}

// decideFirst decides the first call of a stored step as DecideTool would, which
// saves the workflow an activity and the task after it. It decides as of the
// instant at which the step was stored, so that a retry decides the same. What
// fails is left to DecideTool: the step is paid for.
func (t *ModelActivities) decideFirst(ctx context.Context, in wire.CallModelInput, step models.Step, calls []wire.CallRef) *wire.Decision {
	if t.Rules == nil || in.State == nil || len(calls) == 0 || !calls[0].InWorkflow && !calls[0].Refused {
		return nil
	}
	ask := wire.DecideToolInput{
		Tool:  wire.ToolInput{ParticipantID: in.ParticipantID, TurnID: in.TurnID, Step: in.Step, Mode: in.Mode},
		State: *in.State, Now: step.CreatedAt.UTC(),
	}
	decision, err := t.Rules.DecideTool(ctx, ask)
	if err != nil {
		activity.GetLogger(ctx).Warn("deciding tool call failed, left to the workflow", "turn", in.TurnID, "step", in.Step, "error", err)
		return nil
	}
	return &decision
}

// startHeartbeat heartbeats until the returned function is called.
func startHeartbeat(ctx context.Context) (stop func()) {
	return startHeartbeatWith(ctx, func(ctx context.Context) { activity.RecordHeartbeat(ctx) })
}

func startHeartbeatWith(ctx context.Context, record func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				record(ctx)
			}
		}
	}()
	return func() { cancel(); <-done }
}
