package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/toolcall"
	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// StepInput is one step of a turn: what is asked, what is known, what may be
// called.
type StepInput struct {
	Input   wire.CallModelInput
	Context models.TurnContext
	Offer   Offer
	// Task is what a subagent was given to do; empty for other steps.
	Task string
}

// Trace is what a step keeps beside its text: the preparation it went on
// from, and what its stages decided.
type Trace struct {
	Prepared Prepared       `json:"prepared"`
	Stages   []models.Stage `json:"stages,omitempty"`
	// Question is what to ask in the place of a reply that may not go.
	Question string `json:"question,omitempty"`
}

// Bounds of calls. manyCalls is no bound: the workflow counts the calls of a turn.
// manySearches bounds the searches for tools.
const (
	manyCalls, manySearches = 1 << 20, 3
	// answerCalls are read of one answer, subagentCalls of one of a subagent's, whose
	// whole run has runCalls.
	answerCalls, subagentCalls, runCalls = 16, 3, 20
)

// Respond runs one step and returns what the model answered, judged, with its
// calls screened. The step is not stored; a retry that finds none asks again.
// Errors are those of the model, and of redaction, which fails closed.
func (a *Agent) Respond(ctx context.Context, in StepInput) (models.Step, error) {
	switch in.Input.Kind { //nolint:exhaustive // the others are conversation
	case wire.TurnPrompt:
		return a.runHabitPrompt(ctx, in)
	case wire.TurnCheckIn:
		return a.runCheckIn(ctx, in)
	case wire.TurnSubagent:
		return a.runSubagent(ctx, in)
	}
	clean, err := a.clean.Turn(in.Context)
	if err != nil {
		return models.Step{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	clean.Window = a.hideFixedTexts(clean.Window)
	tr := &trace{turnID: in.Input.TurnID, now: a.Now}
	t := a.turnOf(ctx, tr, in, clean)
	if words := a.smallTalkAnswer(t); words != "" {
		tr.note(models.StageGuard, "guard fixed small talk")
		r := runningStep{agent: a, trace: tr, turn: t, input: in.Input}
		return r.buildStep(models.ChatResponse{FinishReason: finishFixed}, toolcall.Verdict{Judgment: toolcall.Words, Text: words})
	}
	prepared, kept := findPrepared(clean.Steps, t.newestID())
	t, older := a.digestOlder(ctx, tr, t, prepared.Older)
	t.context.Runs = a.shortenResults(ctx, tr, t, in.Input.Last)
	if kept {
		t = a.applyFocus(t, prepared.Focus)
	} else {
		t = a.focusTurn(ctx, tr, t)
		prepared = a.prepareStep(ctx, tr, t)
	}
	prepared.Older = older
	r := runningStep{agent: a, trace: tr, turn: t, prepared: prepared, input: in.Input}
	if r.past, err = pastOf(t.context); err != nil {
		return models.Step{}, err
	}
	return r.run(ctx)
}

// turnOf builds the turn that the stages read from a step input and its redacted
// context.
func (a *Agent) turnOf(ctx context.Context, tr *trace, in StepInput, clean models.TurnContext) turn {
	zone := a.zoneOf(tr, &clean.Participant)
	// The turn's instant and not the attempt's: a server knows the second request.
	now := clean.Turn.StartedAt
	if now.IsZero() {
		now = a.Now()
	}
	t := turn{
		context: clean, mode: in.Input.Mode, kind: in.Input.Kind, offer: in.Offer, zone: zone, now: now, capability: a.Capability(ctx),
		written: participantTexts(in.Context.Window), lines: a.Settings.Helplines.Find(in.Context.Participant.Phone, in.Context.Participant.Locale),
	}
	t.carryOver = plan.CarryOver(plan.CarryOverInput{
		Entries: clean.Window, Catalogue: in.Offer.Specs, Now: t.now, Hot: a.Settings.Hot, Stop: in.Offer.Stop,
	})
	return t
}

// zoneOf returns the person's time zone. One that cannot be read is UTC, and
// the request says that the person's own is not known.
func (a *Agent) zoneOf(tr *trace, person *models.Participant) *time.Location {
	zone, err := a.Zones(person.Timezone)
	if err != nil || person.Timezone == "" {
		tr.note(models.StageModel, "model without time zone")
		zone, person.ZoneAssumed = time.UTC, true
	}
	return zone
}

// findPrepared returns the preparation of an earlier step, unless texts came
// since.
func findPrepared(steps []models.Step, newest int64) (Prepared, bool) {
	for _, step := range steps {
		var kept Trace
		if step.Trace == "" || json.Unmarshal([]byte(step.Trace), &kept) != nil {
			continue
		}
		if kept.Prepared.Newest == newest && kept.Prepared.Label != "" {
			return kept.Prepared, true
		}
	}
	return Prepared{}, false
}

// pastOf returns the calls that were carried out in this turn, in order.
func pastOf(c models.TurnContext) ([]plan.Past, error) {
	var past []plan.Past
	for _, step := range c.Steps {
		calls, err := step.ToolCalls()
		if err != nil {
			return nil, fmt.Errorf("reading step %d: %w", step.Number, err)
		}
		for i, call := range calls {
			for _, run := range c.Runs {
				if run.Step != step.Number || run.Call != i || call.Refused != "" {
					continue
				}
				result, err := run.ToolResult()
				if err != nil {
					return nil, fmt.Errorf("reading step %d: %w", step.Number, err)
				}
				past = append(past, plan.Past{Call: call, Result: result, Direct: step.FinishReason == finishDirect})
			}
		}
	}
	return past, nil
}

// finishFixed marks a step that a fixed text answered, without a model.
const finishFixed = "fixed"

// finishDirect marks a step in which a part of the plan was carried out
// without the chat model.
const finishDirect = "direct"

// runningStep is the state of a step that is running.
type runningStep struct {
	agent    *Agent
	trace    *trace
	turn     turn
	prepared Prepared
	input    wire.CallModelInput
	past     []plan.Past
	// ending is what an answer before makes of the next request.
	ending toolcall.Ending
	// cut is what was left out of the newest request.
	cut leftOut
}

// run goes on with the step: a direct call of the plan, the reply at
// the limit, or a call of the chat model.
func (r *runningStep) run(ctx context.Context) (models.Step, error) {
	specs := r.offeredSpecs()
	if call, ok := r.planDirectCall(ctx, specs); ok {
		return r.buildStep(models.ChatResponse{FinishReason: finishDirect}, toolcall.Verdict{Judgment: toolcall.Calls, Calls: []models.ToolCall{call}})
	}
	if r.input.Last {
		return r.replyAtLimit(ctx)
	}
	r.noteCapability()
	answer, verdict, err := r.askAndJudge(ctx, func() (models.ChatRequest, error) { return r.composeRequest(specs) })
	if err != nil {
		r.keepFailure(ctx, err)
		return models.Step{}, err
	}
	r.trace.note(models.StageGuard, "guard "+string(verdict.Judgment))
	return r.buildStep(answer, verdict)
}

// offeredSpecs returns the tools on offer now: those of the plan and those that
// searches for tools have found since, without the ones that keep failing.
func (r *runningStep) offeredSpecs() []models.ToolSpec {
	if r.input.NoTools {
		return nil
	}
	names := append([]string(nil), r.prepared.Allowed...)
	catalogue := r.turn.offer.Specs
	for _, past := range r.past {
		if past.Call.Name == r.turn.offer.Search {
			names = append(names, plan.FoundTools(past.Result.Content, catalogue)...)
		}
	}
	broken := plan.Broken(r.past)
	var specs []models.ToolSpec
	for _, spec := range selectSpecs(r.turn.offer.allSpecs(), names) {
		if !slices.Contains(broken, spec.Name) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// composeRequest builds the request of the step and fits it into the model's
// context.
func (r *runningStep) composeRequest(specs []models.ToolSpec) (models.ChatRequest, error) {
	return r.fitRequest(func(cut leftOut) (models.ChatRequest, error) { return r.buildRequest(specs, cut) })
}

// buildRequest builds the request of the step without what is cut.
func (r *runningStep) buildRequest(specs []models.ToolSpec, cut leftOut) (models.ChatRequest, error) {
	p, c := r.agent, r.turn.context
	groups := 0
	for _, entry := range r.turn.hotMessages(p.Settings.Hot) {
		if entry.Kind == models.KindToolCall {
			groups = min(groups+1, r.agent.Settings.Limits.CarryGroups)
		}
	}
	c.Window = plan.TrimToolEntries(c.Window, plan.Caps{Groups: groups, EntryChars: r.agent.Settings.Limits.CarryChars, Fence: outsideTools, Stop: r.turn.offer.Stop})
	specs = r.cutSpecs(specs, cut)
	// Steps of a plan and the note after a result name tools: without any on
	// offer there are none.
	drawn, guidance := plan.Plan{}, ""
	if len(specs) > 0 && cut < withoutDigests {
		drawn = r.prepared.Plan
		guidance = plan.Guidance(plan.GuidanceInput{Plan: drawn, Parts: r.prepared.Parts, Past: r.past, Protocol: r.turn.capability.Protocol})
	}
	section, err := plan.Section(p.Prompts, drawn, specNames(specs))
	if err != nil {
		r.trace.noteError(models.StagePlan, err)
	}
	request, err := Compose(p.Prompts, Input{
		Context: c, Mode: r.turn.mode, Kind: r.turn.kind, Introduce: r.input.Introduce, Feedback: r.input.Feedback, Tools: specs, Now: r.turn.now, Zone: r.turn.zone,
		HistoryLimit: p.Settings.historyLimit(r.turn.mode), Model: p.Settings.ChatModel, Programme: p.Settings.Programme, AlertsTeam: p.Settings.AlertsTeam,
		IsSmall: r.turn.capability.Size == models.SizeSmall,
		Lines:   r.turn.lines,
		Memory:  cutMemory(r.prepared.Memory, cut), Plan: section, Focus: r.turn.focus.Body, Profile: r.prepared.Profile,
		Playbooks: slices.Contains(specNames(specs), r.turn.offer.Playbook), Guidance: guidance,
	})
	return request, wrap.Error(err, "composing request")
}

// askAndJudge asks the chat model and judges the answer by its form, then by what may
// reach a phone, then by what it advises.
func (r *runningStep) askAndJudge(ctx context.Context, compose composer) (models.ChatResponse, toolcall.Verdict, error) {
	answer, verdict, err := r.askWhole(ctx, compose)
	if answer, ok := r.declinedAnswer(err); ok {
		return answer, toolcall.Verdict{Judgment: toolcall.Words, Text: answer.Text}, nil
	}
	if err != nil {
		return answer, verdict, err
	}
	answer, verdict = r.guardReply(ctx, compose, answer, verdict)
	return answer, r.addTruth(r.judgeAdvice(ctx, verdict)), nil
}

// askWhole asks the chat model for a whole answer. One that its limit cut off ends
// with its last whole sentence; one without any is asked for again, once.
func (r *runningStep) askWhole(ctx context.Context, compose composer) (models.ChatResponse, toolcall.Verdict, error) {
	answer, verdict, err := r.askWithFallback(ctx, compose)
	if err != nil || !toolcall.IsCut(answer) || verdict.Judgment == toolcall.Calls {
		return answer, verdict, err
	}
	if whole := text.CutAtSentence(verdict.Text); verdict.Judgment == toolcall.Words && whole != "" {
		r.trace.note(models.StageGuard, "guard cut at a sentence")
		verdict.Text = whole
		return answer, verdict, nil
	}
	r.trace.note(models.StageGuard, "guard cut off")
	r.ending = toolcall.EndingAfter(verdict)
	again, second, err := r.askWithFallback(ctx, compose)
	switch {
	case err != nil:
		// The first answer is better than none.
	case second.Judgment == toolcall.Words || second.Judgment == toolcall.Calls:
		answer, verdict = again, second
	}
	if toolcall.IsCut(answer) && verdict.Judgment == toolcall.Words {
		if verdict.Text = text.CutAtSentence(verdict.Text); verdict.Text == "" {
			verdict.Judgment = toolcall.Malformed
		}
	}
	return answer, verdict, nil
}

// overflows is how often a request that is too long is shortened and sent again.
const overflows = 5

// askWithFallback asks the chat model in its protocol. An endpoint that takes
// no tools is asked in text, once and from then on; a request that is too long
// is composed again for the room that there is, until it fits.
func (r *runningStep) askWithFallback(ctx context.Context, compose composer) (models.ChatResponse, toolcall.Verdict, error) {
	var refused error
	for tries, tooLong := 0, 0; ; tries++ {
		request, err := compose()
		if err != nil {
			return models.ChatResponse{}, toolcall.Verdict{}, err
		}
		size := toolcall.Tokens(request, 0)
		if tooLong > 0 && size >= tooLong {
			return models.ChatResponse{}, toolcall.Verdict{}, refused // Nothing is left to leave out.
		}
		answer, verdict, err := r.askInProtocol(ctx, request)
		var failed *models.ModelError
		if !errors.As(err, &failed) {
			return answer, verdict, err
		}
		switch failed.Class {
		case models.ModelNoTools:
			learnt, ok := r.agent.learnNoTools(ctx, r.trace, r.turn.capability)
			if !ok {
				return answer, toolcall.Verdict{}, err
			}
			r.turn.capability = learnt
		case models.ModelOverflow:
			if tries >= overflows {
				return answer, toolcall.Verdict{}, err
			}
			r.learnOverflow(ctx, failed, request)
			refused, tooLong = err, size
		case models.ModelBusy, models.ModelRefused, models.ModelDeclined, models.ModelAuth:
			return answer, toolcall.Verdict{}, err
		}
		r.trace.note(models.StageModel, "model again after "+string(failed.Class))
	}
}

// askInProtocol asks the chat model once, in the protocol that its capability
// names.
func (r *runningStep) askInProtocol(ctx context.Context, request models.ChatRequest) (models.ChatResponse, toolcall.Verdict, error) {
	if r.turn.capability.Protocol == models.ProtocolTwoPhase && len(request.Tools) > 0 {
		return r.twoPhase(ctx, request)
	}
	answer, err := r.callModel(ctx, request)
	if r.turn.capability.Protocol == models.ProtocolText && len(request.Tools) > 0 {
		return answer, toolcall.Judge(answer, request.Tools), err
	}
	return answer, toolcall.JudgeNative(answer, r.nativeInput(request.Tools)), err
}

func (r *runningStep) callModel(ctx context.Context, request models.ChatRequest) (models.ChatResponse, error) {
	p := r.agent
	offered, err := toolcall.Offer(p.Prompts, r.turn.capability, request)
	if err != nil {
		return models.ChatResponse{}, fmt.Errorf("offering tools: %w", err)
	}
	began := p.Now()
	answer, err := p.Model.Complete(ctx, offered)
	took := p.Now().Sub(began)
	if err != nil {
		r.measureSilence(ctx, offered, err, took)
		return answer, err
	}
	decision := "model " + string(r.turn.capability.Protocol)
	if answer.Second {
		decision += ", second server"
	}
	r.trace.stages = append(r.trace.stages, models.Stage{
		TurnID: r.input.TurnID, Name: models.StageModel, Decision: decision,
		Model: answer.Model, Usage: answer.Usage, Millis: took.Milliseconds(), CreatedAt: p.Now().UTC(),
	})
	if !answer.Second {
		r.measureAnswer(ctx, offered, answer, took)
	}
	return answer, nil
}

// buildStep returns the row of the step. Text that is not fit for a person is
// not in it: the workflow sees that there is none.
func (r *runningStep) buildStep(answer models.ChatResponse, verdict toolcall.Verdict) (models.Step, error) {
	step := models.Step{
		TurnID: r.input.TurnID, Number: r.input.Step, AfterMessage: r.turn.newestID(), FinishReason: answer.FinishReason,
		Model: answer.Model, PromptVersion: r.agent.Prompts.Version(), Usage: answer.Usage, CreatedAt: r.agent.Now(),
	}
	step.Text = r.screenText(verdict.Text)
	if verdict.Judgment == toolcall.Calls && !r.input.NoTools {
		calls, err := json.Marshal(r.screenCalls(Calls(r.cutCalls(verdict.Calls))))
		if err != nil {
			return step, fmt.Errorf("encoding tool calls: %w", err)
		}
		step.Calls = string(calls)
	}
	trace := Trace{Prepared: r.prepared, Stages: r.trace.stages}
	if step.Text == "" && step.Calls == "" && r.input.Kind == wire.TurnReply {
		trace.Question = r.standInQuestion()
	}
	kept, err := json.Marshal(trace)
	if err != nil {
		return step, fmt.Errorf("encoding trace: %w", err)
	}
	step.Trace = string(kept)
	return step, nil
}

// cutCalls returns the calls of an answer that are read. The first of the others
// stands for all of them, refused, so that none costs the workflow anything.
func (r *runningStep) cutCalls(calls []models.ToolCall) []models.ToolCall {
	most := answerCalls
	if r.input.Kind == wire.TurnSubagent {
		most = subagentCalls
	}
	if len(calls) <= most {
		return calls
	}
	r.trace.note(models.StageTool, "tool calls cut")
	kept := slices.Clone(calls[:most+1])
	kept[most].Arguments = "{}"
	kept[most].Refused = fmt.Sprintf("At most %d tool calls of one answer are carried out; this one and %d after it were not. Go on with the results above.", most, len(calls)-most-1)
	return kept
}

// screenCalls marks the calls that are not carried out, each with the reason
// that the model reads.
func (r *runningStep) screenCalls(calls []models.ToolCall) []models.ToolCall {
	past := append([]plan.Past(nil), r.past...)
	quotes := r.readQuotes()
	limits := plan.Limits{Calls: manyCalls, Searches: r.agent.Settings.Limits.Searches}
	if r.input.Kind == wire.TurnSubagent {
		limits.Calls = runCalls
	}
	for i, call := range calls {
		if call.Refused != "" {
			continue
		}
		if call.Name == r.turn.offer.Stop && r.owesAnswer() {
			calls[i].Refused = models.RefusedSilence
			r.trace.note(models.StageTool, "tool refused silence")
			continue
		}
		if r.turn.capability.Protocol != models.ProtocolNative && quotes.Hold(call) {
			calls[i].Refused = refusedQuote
			r.trace.note(models.StageTool, "tool refused quoted")
			continue
		}
		refusal := plan.Screen(call, plan.ScreenInput{
			Allowed: specNames(r.offeredSpecs()), Search: r.turn.offer.Search, Past: past,
			Limits: limits,
		})
		if refusal.Reason != plan.ReasonNone {
			calls[i].Refused = refusal.Message
			r.trace.note(models.StageTool, "tool refused "+string(refusal.Reason))
			continue
		}
		past = append(past, plan.Past{Call: call, Result: models.ToolResult{Name: call.Name}})
	}
	return calls
}

// owesAnswer reports whether the person is due an answer: they ask, or the exchange
// before ended in silence too.
func (r *runningStep) owesAnswer() bool {
	c := r.turn.context
	answered := true
	for _, entry := range c.Window {
		switch {
		case entry.TurnID == c.Turn.ID && entry.Role == models.RoleUser:
			if strings.ContainsAny(entry.Text, "?？¿؟") {
				return true
			}
		case entry.TurnID == c.Turn.ID:
		case entry.Kind == models.KindToolCall:
			calls, err := models.Step{Calls: entry.Text}.ToolCalls()
			isStop := func(call models.ToolCall) bool { return call.Name == r.turn.offer.Stop && call.Refused == "" }
			answered = answered && (err != nil || !slices.ContainsFunc(calls, isStop))
		case entry.Role == models.RoleAssistant:
			answered = true
		}
	}
	return !answered
}

func specNames(specs []models.ToolSpec) []string {
	out := make([]string, len(specs))
	for i, spec := range specs {
		out[i] = spec.Name
	}
	return out
}

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

func dropEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}
