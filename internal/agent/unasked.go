package agent

import (
	"context"
	"fmt"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// startInitiated begins a step of a turn that no text of a person began and
// that calls no tool: of the stages it has redaction, which fails closed, and
// what is known of the person.
func (a *Agent) startInitiated(ctx context.Context, in StepInput) (runningStep, error) {
	clean, err := a.clean.Turn(in.Context)
	if err != nil {
		return runningStep{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	tr := &trace{turnID: in.Input.TurnID, now: a.Now}
	t := a.turnOf(ctx, tr, in, clean)
	known := Prepared{Memory: a.composeMemory(ctx, tr, t, plan.ReplyOnly()), Newest: t.newestID()}
	return runningStep{agent: a, trace: tr, turn: t, prepared: known, input: in.Input}, nil
}

// runCheckIn asks whether to write, and what. The step holds a text only where
// the model said so clearly; otherwise it holds none, and its trace says why.
func (a *Agent) runCheckIn(ctx context.Context, in StepInput) (models.Step, error) {
	r, err := a.startInitiated(ctx, in)
	if err != nil {
		return models.Step{}, err
	}
	request, err := ComposeCheckIn(a.Prompts, Input{
		Context: r.turn.context, Now: r.turn.now, Zone: r.turn.zone, HistoryLimit: a.Settings.historyLimit(r.turn.mode),
		Model: a.Settings.ChatModel, Programme: a.Settings.Programme, AlertsTeam: a.Settings.AlertsTeam, Lines: r.turn.lines, Memory: r.prepared.Memory,
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("composing check-in: %w", err)
	}
	if request, err = r.asItIs(request)(); err != nil {
		return models.Step{}, err
	}
	answer, err := r.callModel(ctx, request)
	if err != nil {
		return models.Step{}, err
	}
	decided := toolcall.ReadCheckIn(answer.Text)
	r.trace.note(models.StageCheckIn, "check-in "+string(decided.Reason))
	verdict := toolcall.Verdict{Judgment: toolcall.Empty}
	if decided.Reason == toolcall.CheckInSend {
		verdict = r.judgeAdvice(ctx, toolcall.Verdict{Judgment: toolcall.Words, Text: decided.Text})
	}
	return r.buildStep(answer, verdict)
}

// byTask is how the tools of a subagent were chosen: all that it may have.
const byTask = "subagent"

// runSubagent runs one step of a subagent: its task, its results so far, and
// its own tools. Nothing is routed, planned or recalled for it, and it sees
// nothing of the conversation. It asks the chat model as a reply does.
func (a *Agent) runSubagent(ctx context.Context, in StepInput) (models.Step, error) {
	clean, err := a.clean.Turn(in.Context)
	if err != nil {
		return models.Step{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	tr := &trace{turnID: in.Input.TurnID, now: a.Now}
	r := runningStep{
		agent: a, trace: tr, turn: a.turnOf(ctx, tr, in, clean), input: in.Input,
		prepared: Prepared{Allowed: specNames(in.Offer.Specs), Label: byTask},
	}
	if r.past, err = pastOf(clean); err != nil {
		return models.Step{}, err
	}
	request, err := ComposeSubagent(a.Prompts, SubagentInput{
		Context: clean, Task: a.clean.Text(in.Task, 0), Tools: r.offeredSpecs(), Now: r.turn.now, Zone: r.turn.zone,
		Model: a.Settings.ChatModel, Programme: a.Settings.Programme,
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("composing for a subagent: %w", err)
	}
	answer, verdict, err := r.askAndJudge(ctx, r.asItIs(request))
	if err != nil {
		return models.Step{}, err
	}
	return r.buildStep(answer, verdict)
}
