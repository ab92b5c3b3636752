package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models"
)

const maxReruns = 2

// turn is one exchange: texts in or a due time, at most one reply out.
type turn struct {
	life   *life
	plan   models.TurnPlan
	id     string
	number int
	mode   models.Mode
	limits models.Limits
	skip   bool // nothing may be said any more
	calls  int  // tool calls so far
	reruns int  // times that a late text made the model answer again
}

// turn runs a planned turn to its end. Nothing else of this participant
// happens meanwhile except that arrivals are recorded.
func (l *life) turn(ctx workflow.Context, plan models.TurnPlan) {
	l.state.Turn++
	t := &turn{
		life: l, plan: plan, mode: l.state.Mode,
		number: l.state.Turn, id: models.TurnID(l.state.ParticipantID, l.state.Turn),
	}
	l.inTurn = true
	defer func() { l.inTurn = false }()
	t.run(ctx)
}

func (t *turn) run(ctx workflow.Context) {
	prepared, ok := t.prepare(ctx, false)
	if prepared.Forgotten {
		t.life.plans = append([]models.TurnPlan{t.plan}, t.life.plans...)
		return
	}
	if !ok || prepared.Skip || t.plan.Kind == models.KindMessage {
		t.settle(ctx, models.SendSMSResult{Status: models.OutboxCanceled})
		return
	}
	words, ok := t.words(ctx, prepared)
	if !ok {
		return
	}
	rows, ok := t.persist(ctx, words)
	if !ok {
		t.settle(ctx, models.SendSMSResult{Status: models.OutboxFailed})
		return
	}
	t.settle(ctx, t.send(ctx, rows))
}

// words is where the text of the turn comes from.
type words struct {
	source models.TextSource
	step   int
}

// words finds the text to send; ok is false when the person left or opted out
// meanwhile.
func (t *turn) words(ctx workflow.Context, prepared models.PrepareTurnResult) (words, bool) {
	switch t.plan.Kind {
	case models.KindReply, models.KindGreeting:
		return t.converse(ctx)
	case models.KindPrompt:
		if prepared.Prepared {
			return words{source: models.SourcePrepared}, true
		}
		return t.converse(ctx)
	case models.KindOperator:
		return words{source: models.SourceOutbox}, true
	case models.KindMessage, models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup,
		models.KindNotice, models.KindConsent, models.KindHelp, models.KindDebug, models.KindToolCall, models.KindToolResult:
	}
	return words{source: models.SourceFixed}, true
}

// prepare opens the turn's row and moves the waiting texts into the
// conversation. It is called again when a late text joins the turn.
func (t *turn) prepare(ctx workflow.Context, late bool) (models.PrepareTurnResult, bool) {
	waiting := t.life.state.Inbox.Items
	in := models.PrepareTurnInput{
		ParticipantID: t.life.state.ParticipantID,
		TurnID:        t.id,
		Number:        t.number,
		Mode:          t.mode,
		Plan:          t.plan,
		InboundIDs:    t.takeTexts(),
		Late:          late,
		Now:           workflow.Now(ctx),
	}
	var out models.PrepareTurnResult
	if err := workflow.ExecuteLocalActivity(local(ctx), turns.PrepareTurn, in).Get(ctx, &out); err != nil {
		workflow.GetLogger(ctx).Error("preparing turn failed", "turn", t.id, "error", err)
		return out, false
	}
	if out.Forgotten {
		// The texts wait for the next turn.
		t.life.state.Inbox.Items, t.life.news = waiting, len(waiting) > 0
		return out, true
	}
	t.limits, t.life.limits = out.Limits, out.Limits
	t.skip = out.Skip
	return out, true
}

// takeTexts empties the inbox into the turn, for the turns that read it. The
// confirmation of an opt-out takes along what nobody will answer.
func (t *turn) takeTexts() []int64 {
	parting := t.plan.Kind == models.KindConsent && t.life.state.Status == models.StatusOptedOut
	if t.plan.Kind != models.KindReply && t.plan.Kind != models.KindMessage && !parting {
		return nil
	}
	var ids []int64
	for _, item := range t.life.state.Inbox.Items {
		ids = append(ids, item.MessageID)
	}
	t.life.state.Inbox.Items = nil
	t.life.news = false
	t.life.clearDue(models.DueDebounce, "")
	return ids
}

// converse runs model rounds until there is a text, the limits are reached or
// the person leaves or opts out.
func (t *turn) converse(ctx workflow.Context) (words, bool) {
	fallback := words{source: models.SourceFallback}
	plain := false // ask without tools
	retried := false
	for step := 1; step <= t.limits.Rounds && !t.silenced(); step++ {
		out, err := t.callModel(ctx, step, plain)
		switch {
		case t.silenced():
		case err != nil:
			workflow.GetLogger(ctx).Warn("model gave no answer", "turn", t.id, "step", step, "error", err)
			return fallback, true
		case len(out.Calls) > 0 && !plain:
			t.runTools(ctx, step, out.Calls)
			plain = t.calls >= t.limits.ToolCalls
		case !out.HasText && retried:
			return fallback, true
		case !out.HasText:
			plain, retried = true, true
		case t.late(ctx):
			plain = t.calls >= t.limits.ToolCalls
		default:
			return words{source: models.SourceStep, step: step}, true
		}
	}
	return fallback, !t.silenced()
}

// silenced: the turn has nothing more to say.
func (t *turn) silenced() bool { return t.skip || t.life.silenced() }

// callModel is one round. It stops waiting as soon as the person leaves or opts
// out.
func (t *turn) callModel(ctx workflow.Context, step int, plain bool) (models.CallModelResult, error) {
	in := models.CallModelInput{
		ParticipantID: t.life.state.ParticipantID,
		TurnID:        t.id, Step: step, Mode: t.mode, Kind: t.plan.Kind, NoTools: plain,
	}
	callCtx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	summary := fmt.Sprintf("model call, turn %d, round %d", t.number, step)
	var out models.CallModelResult
	err := t.await(ctx, workflow.ExecuteActivity(t.modelOptions(callCtx, summary), talk.CallModel, in), &out)
	return out, err
}

// await waits for an activity of the turn, but no longer than the turn has
// something to say; out is untouched then.
func (t *turn) await(ctx workflow.Context, future workflow.Future, out any) error {
	if err := workflow.Await(ctx, func() bool { return future.IsReady() || t.silenced() }); err != nil {
		return err
	}
	if !future.IsReady() {
		return nil
	}
	return future.Get(ctx, out)
}

// late: texts came while the model was writing. They join the turn, and the
// model answers everything at once; at most maxReruns times, so that somebody
// who never stops typing is answered too.
func (t *turn) late(ctx workflow.Context) bool {
	t.life.receive()
	if t.plan.Kind != models.KindReply || t.reruns >= maxReruns || len(t.life.state.Inbox.Items) == 0 {
		return false
	}
	t.reruns++
	out, ok := t.prepare(ctx, true)
	return ok && !out.Forgotten
}

// runTools executes every call of a round, in order. Calls beyond the limit
// are answered with a refusal, so that the model is never told a falsehood.
func (t *turn) runTools(ctx workflow.Context, step int, calls []models.CallRef) {
	for i, call := range calls {
		if t.silenced() {
			return
		}
		in := models.ToolInput{
			ParticipantID: t.life.state.ParticipantID,
			TurnID:        t.id, Step: step, Call: i, Mode: t.mode,
		}
		switch {
		case t.calls >= t.limits.ToolCalls:
			in.Refuse = activities.RefuseLimit
			t.decideTool(ctx, in)
		case call.InWorkflow:
			t.calls++
			t.decideTool(ctx, in)
		default:
			t.calls++
			t.runTool(ctx, in, call.Name)
		}
	}
}

func (t *turn) decideTool(ctx workflow.Context, in models.ToolInput) {
	ask := models.DecideToolInput{Tool: in, State: t.life.state.Clone(), Now: workflow.Now(ctx)}
	var decision models.Decision
	if err := workflow.ExecuteLocalActivity(local(ctx), rules.DecideTool, ask).Get(ctx, &decision); err != nil {
		workflow.GetLogger(ctx).Error("deciding tool call failed", "turn", t.id, "step", in.Step, "call", in.Call, "error", err)
		return
	}
	t.life.apply(decision.Effects)
}

func (t *turn) runTool(ctx workflow.Context, in models.ToolInput, name string) {
	toolCtx, cancel := workflow.WithCancel(t.toolOptions(ctx, fmt.Sprintf("tool %s, turn %d", name, t.number)))
	defer cancel()
	if err := t.await(ctx, workflow.ExecuteActivity(toolCtx, tools.RunTool, in), nil); err != nil {
		workflow.GetLogger(ctx).Warn("tool failed", "turn", t.id, "tool", name, "error", err)
		in.Refuse = activities.RefuseFailed
		t.decideTool(ctx, in)
	}
}
