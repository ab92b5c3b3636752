package agent

import (
	"context"
	"fmt"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/agent/toolcall"
	"coachline/models"
	"coachline/models/wire"
)

// planDirectCall returns the next step of the plan as a call, where it can be
// carried out without the chat model: with models that are offered tools as
// text.
func (r *runningStep) planDirectCall(ctx context.Context, specs []models.ToolSpec) (models.ToolCall, bool) {
	if r.turn.capability.Protocol == models.ProtocolNative || len(specs) == 0 || r.input.Last {
		return models.ToolCall{}, false
	}
	next, ok := plan.Next(r.prepared.Plan, r.past)
	if !ok {
		return models.ToolCall{}, false
	}
	allowed := r.turn.newCatalogue(specs)
	if call, ok := plan.Concrete(next, allowed, r.past); ok {
		r.trace.note(models.StagePlan, "plan step direct")
		return call, true
	}
	request, err := plan.ResolverRequest(r.agent.Prompts, plan.ResolverInput{
		Query: r.turn.queryText(), Step: next, Tools: specs, Past: r.past, Model: r.agent.Settings.SmallModel,
	})
	if err != nil {
		r.trace.noteError(models.StagePlan, err)
		return models.ToolCall{}, false
	}
	answer, err := r.agent.askSmallModel(ctx, r.trace, question{stage: models.StagePlan, request: request, limit: smallLimit})
	if err != nil {
		return models.ToolCall{}, false
	}
	call, ok := plan.Resolve(answer, allowed, r.past)
	if ok {
		r.trace.note(models.StagePlan, "plan step resolved")
	}
	return call, ok
}

// twoPhase lets one JSON answer pick a tool and a second one fill it in; when
// none is picked, or none can be read, it asks for a text.
func (r *runningStep) twoPhase(ctx context.Context, request models.ChatRequest) (models.ChatResponse, toolcall.Verdict, error) {
	ask := toolcall.Ask{Capability: r.turn.capability, Request: request}
	name, answer, err := r.chooseTool(ctx, ask)
	if err != nil {
		return answer, toolcall.Verdict{}, err
	}
	if name != "" {
		call, answer, ok, err := r.fillArguments(ctx, ask, name)
		if err != nil {
			return answer, toolcall.Verdict{}, err
		}
		if ok {
			return answer, toolcall.Verdict{Judgment: toolcall.Calls, Calls: []models.ToolCall{call}}, nil
		}
	}
	words, err := r.requestWords(request)
	if err != nil {
		return answer, toolcall.Verdict{}, err
	}
	answer, err = r.callModel(ctx, words)
	return answer, toolcall.JudgeNative(answer, r.nativeInput(nil)), err
}

// requestWords returns a request for a text alone, whose instructions name no
// tool. A subagent's instructions name none as they are.
func (r *runningStep) requestWords(request models.ChatRequest) (models.ChatRequest, error) {
	if r.input.Kind == wire.TurnSubagent {
		return request, nil
	}
	return r.composeRequest(nil)
}

// chooseTool asks for the name of one tool, and again after an answer that
// cannot be read. The name is empty when none is picked.
func (r *runningStep) chooseTool(ctx context.Context, ask toolcall.Ask) (name string, answer models.ChatResponse, err error) {
	for range 1 + toolcall.ChoiceRetries {
		request, err := toolcall.AskChoice(r.agent.Prompts, ask)
		if err != nil {
			return "", answer, fmt.Errorf("writing choice: %w", err)
		}
		if answer, err = r.askRaw(ctx, request); err != nil {
			return "", answer, err
		}
		name, err := toolcall.ReadChoice(answer.Text, ask.Request.Tools)
		if err == nil {
			return name, answer, nil
		}
		ask.Problem = err.Error()
	}
	return "", answer, nil
}

// fillArguments asks for the arguments of a tool; ok is false when no answer
// can be read.
func (r *runningStep) fillArguments(ctx context.Context, ask toolcall.Ask, name string) (call models.ToolCall, answer models.ChatResponse, ok bool, err error) {
	call = models.ToolCall{Name: name, Arguments: "{}"}
	for _, spec := range ask.Request.Tools {
		if spec.Name == name && !toolcall.TakesArguments(spec) {
			return call, answer, true, nil
		}
	}
	ask.Problem = ""
	for range 1 + toolcall.ArgumentRetries {
		request, err := toolcall.AskArguments(r.agent.Prompts, ask, name)
		if err != nil {
			return call, answer, false, fmt.Errorf("writing arguments: %w", err)
		}
		if answer, err = r.askRaw(ctx, request); err != nil {
			return call, answer, false, err
		}
		if call.Arguments, err = toolcall.ReadArguments(answer.Text); err == nil {
			return call, answer, true, nil
		}
		ask.Problem = err.Error()
	}
	return call, answer, false, nil
}

// askRaw sends the request to the chat model unchanged.
func (r *runningStep) askRaw(ctx context.Context, request models.ChatRequest) (models.ChatResponse, error) {
	p := r.agent
	began := p.Now()
	answer, err := p.Model.Complete(ctx, request)
	if err == nil {
		r.trace.stages = append(r.trace.stages, models.Stage{
			TurnID: r.input.TurnID, Name: models.StageModel, Decision: "model two_phase",
			Model: answer.Model, Usage: answer.Usage, Millis: p.Now().Sub(began).Milliseconds(), CreatedAt: p.Now().UTC(),
		})
	}
	return answer, err
}

// replyAtLimit writes the reply of a turn whose steps are used up: a few
// sentences on its results that begin with a caveat. Without text the workflow
// falls back to a fixed text.
func (r *runningStep) replyAtLimit(ctx context.Context) (models.Step, error) {
	p := r.agent
	var candidates []string
	for _, step := range r.turn.context.Steps {
		if words := Clean(step.Text); words != "" && step.Calls == "" {
			candidates = append(candidates, words)
		}
	}
	answer := recall.DigestAnswer{Failed: true}
	if activity := recall.TurnActivity(r.doneCalls()); activity != "" {
		ask, err := recall.LimitRequest(p.Prompts, recall.LimitAsk{
			Query: r.turn.queryText(), Activity: activity, Language: r.turn.context.Participant.Locale, Model: p.Settings.SmallModel,
		})
		if err == nil {
			answer.Text, err = p.askSmallModel(ctx, r.trace, question{stage: models.StageLimit, request: ask, limit: smallLimit})
		}
		answer.Failed = err != nil
	}
	words, ok := recall.LimitReply(answer, candidates)
	r.trace.note(models.StageLimit, map[bool]string{true: "limit digest", false: "limit apology"}[ok])
	verdict := r.addTruth(r.judgeAdvice(ctx, toolcall.JudgeNative(models.ChatResponse{Text: words}, toolcall.Native{})))
	return r.buildStep(models.ChatResponse{FinishReason: "limit"}, verdict)
}

// doneCalls returns the calls of this turn with their results. What the
// conversation held before is no work of this turn, and a reply must not report
// it as such.
func (r *runningStep) doneCalls() []models.ChatMessage {
	var out []models.ChatMessage
	for i, past := range r.past {
		call := past.Call
		call.ID = fmt.Sprintf("c%d", i)
		out = append(out,
			models.ChatMessage{Role: "assistant", ToolCalls: []models.ToolCall{call}},
			models.ChatMessage{Role: "tool", Content: past.Result.Content, ToolCallID: call.ID})
	}
	return out
}

// runHabitPrompt writes a daily prompt; it has its own request, and of the
// stages only what is known of the person.
func (a *Agent) runHabitPrompt(ctx context.Context, in StepInput) (models.Step, error) {
	r, err := a.startInitiated(ctx, in)
	if err != nil {
		return models.Step{}, err
	}
	known := r.turn.context
	request, err := ComposeHabitPrompt(a.Prompts, HabitInput{
		Person: known.Participant, Profile: known.Profile, Memory: r.prepared.Memory, Zone: r.turn.zone, Now: r.turn.now,
		Model: a.Settings.ChatModel, Programme: a.Settings.Programme, Recent: known.Recent,
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("composing habit prompt: %w", err)
	}
	r.noteCapability()
	answer, verdict, err := r.askAndJudge(ctx, r.asItIs(request))
	if err != nil {
		r.keepFailure(ctx, err)
		return models.Step{}, err
	}
	return r.buildStep(answer, verdict)
}
