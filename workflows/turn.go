package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
)

const maxReruns = 2

// turn is one exchange: texts in or a due time, at most one reply out. Nothing
// of it is stored before the history holds the activity that stores it: what a
// local activity wrote could outlive the decision that led to it, when a worker
// dies between the two and the workflow decides otherwise the second time.
type turn struct {
	participant   *participant
	plan          wire.TurnPlan
	id            string
	number        int
	mode          wire.Mode
	limits        wire.Limits
	begun         bool             // the turn's row is stored
	newMessageIDs []int64          // texts of the turn that are not stored with it yet
	newTexts      []wire.InboxItem // the same
	// heardAt is when the first of the texts came.
	heardAt time.Time
	// channel is that of the texts; empty is SMS.
	channel        wire.Channel
	skip           bool // nothing may be said any more
	calls          int  // tool calls so far
	reruns         int  // times that a late text made the model answer again
	sentDuringTurn bool // a tool has sent the person a text since they wrote
	// decided is what the rules said of the turn's text with its send.
	decided *decidedSend
	// due is what the first step asks the rules; nil once their plan is known.
	due *wire.DecideInput
	// unplanned: the rules want no turn; it is over before it began.
	unplanned bool
}

// runTurn runs a planned turn to its end. Nothing else of this participant
// happens meanwhile except that arrivals are recorded.
func (p *participant) runTurn(ctx workflow.Context, plan wire.TurnPlan) {
	p.newTurn(plan).runToEnd(ctx)
}

// newTurn gives the next number to a turn.
func (p *participant) newTurn(plan wire.TurnPlan) *turn {
	p.state.Turn++
	return &turn{
		participant: p, plan: plan, mode: p.state.Mode, limits: p.limits,
		number: p.state.Turn, id: models.TurnID(p.state.ParticipantID, p.state.Turn),
	}
}

func (t *turn) runToEnd(ctx workflow.Context) {
	p := t.participant
	p.turned = true
	within := p.inTurn
	p.inTurn = true
	defer func() { p.inTurn = within }()
	t.runKind(ctx)
}

// runKind runs the turn by its kind: texts without an answer are stored, others
// are answered.
func (t *turn) runKind(ctx workflow.Context) {
	t.takeTexts()
	if t.plan.Kind == wire.TurnMessage {
		t.storeTexts(ctx)
		return
	}
	words, ok := t.chooseText(ctx)
	if t.unplanned {
		return
	}
	if !ok {
		t.giveUp(ctx)
	}
	switch {
	case t.skip:
		t.applySendResult(ctx, wire.SendSMSResult{Status: wire.OutboxCanceled})
	case ok:
		t.applySendResult(ctx, t.sendTurn(ctx, words))
	}
}

// giveUp ends a turn that may not speak any more: texts that it has not stored wait
// again, for an operator or for the turn that stores what gets no answer. The prompt of
// a taken-over conversation is recorded as missed.
func (t *turn) giveUp(ctx workflow.Context) {
	takenOver := t.participant.isTakenOver()
	if len(t.newTexts) > 0 && (takenOver || returnsTexts(ctx)) {
		t.participant.state.Inbox.Return(t.newTexts)
	}
	if takenOver {
		t.participant.addMissed(t.plan, models.MissedTakenOver)
	}
}

// addMissed has the prompt that a turn was to send recorded as missed; for turns
// of other kinds it does nothing. A prompt that the tables know stays as it is.
func (p *participant) addMissed(plan wire.TurnPlan, reason string) {
	if plan.Kind == wire.TurnPrompt {
		p.unsaved.missed = append(p.unsaved.missed, wire.MissedPrompt{ScheduleID: plan.ScheduleID, Slot: plan.Slot, Reason: reason})
	}
}

// storeTexts stores texts that get no answer.
func (t *turn) storeTexts(ctx workflow.Context) {
	var out wire.PrepareTurnResult
	keepCtx := t.toolOptions(ctx, fmt.Sprintf("texts without an answer, turn %d", t.number))
	if err := workflow.ExecuteActivity(keepCtx, turns.PrepareTurn, *t.beginInput(ctx)).Get(ctx, &out); err != nil {
		workflow.GetLogger(ctx).Error("storing texts failed", "turn", t.id, "error", err)
		return
	}
	t.applyPrepared(&out)
}

type turnText struct {
	source wire.TextSource
	step   int
}

// chooseText finds the text to send; ok is false when there is nothing to send:
// the person left or opted out meanwhile, or the prompt is out already.
func (t *turn) chooseText(ctx workflow.Context) (turnText, bool) {
	source := models.TurnSpecOf(t.plan.Kind).Source
	switch {
	case t.plan.Kind == wire.TurnCheckIn:
		return t.checkIn(ctx)
	case source == wire.SourceStep:
		return t.runSteps(ctx)
	}
	return turnText{source: source}, true
}

// beginInput returns what the next activity has to store first; nil when it is
// stored.
func (t *turn) beginInput(ctx workflow.Context) *wire.PrepareTurnInput {
	if t.begun && len(t.newMessageIDs) == 0 {
		return nil
	}
	return &wire.PrepareTurnInput{
		ParticipantID: t.participant.state.ParticipantID,
		TurnID:        t.id,
		Number:        t.number,
		Mode:          t.mode,
		Plan:          t.plan,
		InboundIDs:    t.newMessageIDs,
		Channel:       t.channel,
		Now:           workflow.Now(ctx),
		Study:         t.participant.state.Study,
	}
}

// applyPrepared takes over what the store said to begin; nil when it was not
// asked.
func (t *turn) applyPrepared(out *wire.PrepareTurnResult) {
	if out == nil {
		return
	}
	t.begun, t.newMessageIDs, t.newTexts = true, nil, nil
	t.limits, t.participant.limits = out.Limits, out.Limits
	t.skip = out.Skip
}

// takeTexts empties the inbox into the turn, for the turns that read it. The
// confirmation of an opt-out takes along what will get no answer.
func (t *turn) takeTexts() {
	parting := t.plan.Kind == wire.TurnConsent && t.participant.state.Status == wire.StatusOptedOut
	if t.plan.Kind != wire.TurnReply && t.plan.Kind != wire.TurnMessage && !parting {
		return
	}
	items := t.participant.state.Inbox.Items
	if n := t.countTakeable(); n < len(items) {
		items = items[:n]
	}
	if len(items) > 0 && t.heardAt.IsZero() {
		t.heardAt = items[0].ReceivedAt
	}
	for _, item := range items {
		t.newMessageIDs, t.newTexts = append(t.newMessageIDs, item.MessageID), append(t.newTexts, item)
		t.channel = item.Channel
	}
	t.participant.state.Inbox.Items = slices.Delete(t.participant.state.Inbox.Items, 0, len(items))
	// Texts of another channel wait for a turn of their own.
	t.participant.news = len(t.participant.state.Inbox.Items) > 0
	t.participant.clearDue(wire.DueDebounce, "")
}

// countTakeable counts the waiting texts that the turn may take: a reply takes
// those of one channel, up to the first one of another, so that it is read
// where the texts were written.
func (t *turn) countTakeable() int {
	items := t.participant.state.Inbox.Items
	if t.plan.Kind != wire.TurnReply || len(items) == 0 {
		return len(items)
	}
	channel := items[0].Channel
	if t.begun || len(t.newMessageIDs) > 0 {
		channel = t.channel
	}
	other := slices.IndexFunc(items, func(item wire.InboxItem) bool { return item.Channel != channel })
	if other < 0 {
		return len(items)
	}
	return other
}

// runSteps runs model steps until there is a text, the limits are reached or
// the person leaves or opts out.
func (t *turn) runSteps(ctx workflow.Context) (turnText, bool) {
	var next asking
	for step := 1; t.hasStepLeft(step) && !t.mustStop(); step++ {
		out, err := t.callModel(ctx, t.stepInput(ctx, step, next.plain))
		if t.mustStop() {
			break
		}
		if err != nil {
			workflow.GetLogger(ctx).Warn("model gave no answer", "turn", t.id, "step", step, "error", err)
			return turnText{source: wire.SourceFallback}, true
		}
		if said, ok := t.readStep(ctx, step, out, &next); ok {
			return said, true
		}
	}
	if t.mustStop() {
		return turnText{}, false
	}
	return t.askForSummary(ctx), true
}

// asking is how the next step asks: plain is without tools, retried says that
// an empty answer was asked for again.
type asking struct{ plain, retried bool }

// readStep decides what a step means for the turn; ok is true when it ends
// the turn.
func (t *turn) readStep(ctx workflow.Context, step int, out wire.CallModelResult, next *asking) (said turnText, ok bool) {
	switch {
	case out.Begun != nil && out.Begun.Prepared:
		return turnText{source: wire.SourcePrepared}, true
	case len(out.Calls) > 0 && !next.plain:
		t.runTools(ctx, step, out)
		next.plain = t.calls >= t.limits.ToolCalls
		return turnText{source: wire.SourceSilent}, slices.ContainsFunc(out.Calls, endsTurn)
	case !out.HasText && next.retried && !t.sentDuringTurn:
		return turnText{source: wire.SourceFallback}, true
	case !out.HasText && !t.sentDuringTurn:
		next.plain, next.retried = true, true
	case t.takeLateMessages(ctx):
		next.plain = t.calls >= t.limits.ToolCalls
	default:
		return turnText{source: wire.SourceStep, step: step}, true
	}
	return turnText{}, false
}

// endsTurn reports whether the model closes the exchange without a reply.
func endsTurn(call wire.CallRef) bool { return call.Ends && !call.Refused }

// askForSummary asks for the text of a turn whose steps are used up.
func (t *turn) askForSummary(ctx workflow.Context) turnText {
	in := t.stepInput(ctx, t.limits.Steps+t.reruns+1, true)
	in.Last = true
	out, err := t.callModel(ctx, in)
	if err != nil || !out.HasText && !t.sentDuringTurn {
		return turnText{source: wire.SourceFallback}
	}
	return turnText{source: wire.SourceStep, step: in.Step}
}

// hasStepLeft reports whether the turn may make another step: the first step
// tells how many there are; what came late gets a step beyond them.
func (t *turn) hasStepLeft(step int) bool { return step == 1 || step <= t.limits.Steps+t.reruns }

// mustStop reports whether the turn has nothing more to say.
func (t *turn) mustStop() bool {
	return t.skip || t.unplanned || t.participant.mustStop() || models.TurnSpecOf(t.plan.Kind).Coaching && t.participant.isTakenOver()
}

// stepInput returns the input of one model step; plain is without tools.
func (t *turn) stepInput(ctx workflow.Context, step int, plain bool) wire.CallModelInput {
	in := wire.CallModelInput{
		ParticipantID: t.participant.state.ParticipantID,
		TurnID:        t.id, Step: step, Mode: t.mode, Kind: t.plan.Kind, Introduce: t.plan.Introduce, NoTools: plain,
		Feedback: t.participant.state.Feedback,
		Begin:    t.beginInput(ctx), TimeLimit: t.stepTimeLimit(), Due: t.due,
	}
	if t.plan.Kind == wire.TurnReply && !plain {
		state := t.participant.state.Clone()
		in.State = &state
	}
	return in
}

// callModel runs one step. It stops waiting as soon as the person leaves or
// opts out.
func (t *turn) callModel(ctx workflow.Context, in wire.CallModelInput) (wire.CallModelResult, error) {
	callCtx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	summary := fmt.Sprintf("model call, turn %d, step %d", t.number, in.Step)
	var out wire.CallModelResult
	err := t.awaitActivity(ctx, workflow.ExecuteActivity(t.modelOptions(callCtx, summary), talk.CallModel, in), &out)
	t.takePlan(ctx, out.Planned)
	t.applyPrepared(out.Begun)
	return out, err
}

// awaitActivity waits for an activity of the turn, but no longer than the turn
// may send something; out is untouched then. A HELP that comes meanwhile is
// answered at once.
func (t *turn) awaitActivity(ctx workflow.Context, future workflow.Future, out any) error {
	for {
		err := workflow.Await(ctx, func() bool { return future.IsReady() || t.mustStop() || t.participant.asksHelp() != nil })
		switch {
		case err != nil:
			return err
		case t.mustStop() && !future.IsReady():
			return nil
		case future.IsReady():
			return future.Get(ctx, out)
		}
		t.participant.sendHelp(ctx)
	}
}

// takeLateMessages reports whether texts came while the model was writing. They
// join the turn, and the model answers everything at once; at most maxReruns
// times, so that a participant who never stops typing is answered too.
func (t *turn) takeLateMessages(ctx workflow.Context) bool {
	t.participant.receiveSignals(ctx)
	if t.plan.Kind != wire.TurnReply || t.reruns >= maxReruns || t.countTakeable() == 0 {
		return false
	}
	t.reruns++
	t.sentDuringTurn = false
	t.holdForMore(ctx)
	t.takeTexts()
	return true
}

// holdForMore waits until nothing has come for as long as the newest text suggests, but no
// longer than a burst may last. How long is of an activity's result, which older
// histories do not hold: they need no change id.
func (t *turn) holdForMore(ctx workflow.Context) {
	p := t.participant
	heard := workflow.Now(ctx)
	last := t.heardAt.Add(t.limits.DebounceMax)
	for t.limits.Debounce > 0 && !t.mustStop() {
		items := p.state.Inbox.Items
		until := heard.Add(items[len(items)-1].Shape.Quiet(t.limits.Debounce))
		if last.Before(until) {
			until = last
		}
		wait := until.Sub(workflow.Now(ctx))
		if wait <= 0 {
			return
		}
		came, err := workflow.AwaitWithTimeout(ctx, wait, func() bool { return p.texts.Len() > 0 || t.mustStop() || p.asksHelp() != nil })
		if err != nil || !came {
			return
		}
		if p.asksHelp() != nil {
			p.sendHelp(ctx)
		}
		if p.texts.Len() > 0 {
			heard = workflow.Now(ctx)
			p.receiveSignals(ctx)
		}
	}
}

// runTools executes every call of a step, in order. Calls beyond the limit
// are answered with a refusal, so that the model is never told a falsehood. The
// first call may have been decided with the step: nothing changes the state while
// a turn waits for its model.
func (t *turn) runTools(ctx workflow.Context, step int, out wire.CallModelResult) {
	for i, call := range out.Calls {
		if t.mustStop() {
			return
		}
		in := wire.ToolInput{
			ParticipantID: t.participant.state.ParticipantID,
			TurnID:        t.id, Step: step, Call: i, Mode: t.mode,
		}
		switch {
		case i == 0 && out.Decided != nil:
			if !call.Refused {
				t.calls++
			}
			t.applyDecision(ctx, in, *out.Decided)
		case call.Refused:
			t.decideTool(ctx, in)
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

func (t *turn) decideTool(ctx workflow.Context, in wire.ToolInput) {
	ask := wire.DecideToolInput{Tool: in, State: t.participant.state.Clone(), Now: workflow.Now(ctx)}
	var decision wire.Decision
	if err := t.executeDecideTool(ctx, ask, &decision); err != nil {
		workflow.GetLogger(ctx).Error("deciding tool call failed", "turn", t.id, "step", in.Step, "call", in.Call, "error", err)
		return
	}
	t.applyDecision(ctx, in, decision)
}

// applyDecision carries out what was decided of a tool call.
func (t *turn) applyDecision(ctx workflow.Context, in wire.ToolInput, decision wire.Decision) {
	t.participant.applyEffects(decision.Effects)
	t.startSubagents(ctx, in, decision.Effects)
}

// executeDecideTool runs the activity, which stores the result of the call. It is
// retried for as long as the database is away. It stops waiting when the turn has
// nothing more to say; the decision is empty then and changes nothing.
func (t *turn) executeDecideTool(ctx workflow.Context, in wire.DecideToolInput, out *wire.Decision) error {
	if !decidesInActivity(ctx) {
		return workflow.ExecuteLocalActivity(withLocalOptions(ctx), rules.DecideTool, in).Get(ctx, out)
	}
	toolCtx, cancel := workflow.WithCancel(decideOptions(ctx, t.turnPriority(), fmt.Sprintf("decide tool call, turn %d", t.number)))
	defer cancel()
	return t.awaitActivity(ctx, workflow.ExecuteActivity(toolCtx, rules.DecideTool, in), out)
}

func (t *turn) runTool(ctx workflow.Context, in wire.ToolInput, name string) {
	toolCtx, cancel := workflow.WithCancel(t.toolOptions(ctx, fmt.Sprintf("tool %s, turn %d", name, t.number)))
	defer cancel()
	in.TimeLimit = toolPatience
	var out wire.ToolEffect
	if err := t.awaitActivity(ctx, workflow.ExecuteActivity(toolCtx, tools.RunTool, in), &out); err != nil {
		workflow.GetLogger(ctx).Warn("tool failed", "turn", t.id, "tool", name, "error", err)
		in.Refuse = activities.RefuseFailed
		t.decideTool(ctx, in)
	}
	t.participant.state.Feedback = t.participant.state.Feedback.Learn(out.Reported)
	t.sendToolTexts(ctx, out)
}
