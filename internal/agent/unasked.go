package agent

import (
	"context"
	"fmt"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// unasked begins a round of a turn that nobody's text began and that calls no
// tool: of the stages it has redaction, which fails closed, and what is known of
// the person.
func (a *Agent) unasked(ctx context.Context, in Round) (round, error) {
	clean, err := a.clean.Turn(in.Context)
	if err != nil {
		return round{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	tr := &trace{turnID: in.Input.TurnID, now: a.Now}
	t := a.turnOf(ctx, tr, in, clean)
	known := Prepared{Memory: a.remembered(ctx, tr, t, plan.ReplyOnly()), Newest: t.newest()}
	return round{agent: a, trace: tr, turn: t, prepared: known, input: in.Input}, nil
}

// checkIn asks whether to write, and what. The round holds the words only where
// the model said so clearly; otherwise it holds none, and its trace says why
// (P55, A64, W21).
func (a *Agent) checkIn(ctx context.Context, in Round) (models.Step, error) {
	r, err := a.unasked(ctx, in)
	if err != nil {
		return models.Step{}, err
	}
	request, err := ComposeCheckIn(a.Prompts, Input{
		Context: r.turn.context, Now: r.turn.now, Zone: r.turn.zone, HistoryLimit: a.Settings.HistoryLimit,
		Model: a.Settings.ChatModel, Programme: a.Settings.Programme, Memory: r.prepared.Memory,
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("composing check-in: %w", err)
	}
	answer, err := r.complete(ctx, r.fitted(request))
	if err != nil {
		return models.Step{}, err
	}
	decided := toolcall.ReadCheckIn(answer.Text)
	r.trace.note(models.StageCheckIn, "check-in "+string(decided.Reason))
	verdict := toolcall.Verdict{Judgment: toolcall.Empty}
	if decided.Reason == toolcall.CheckInSend {
		verdict = toolcall.Verdict{Judgment: toolcall.Words, Text: decided.Text}
	}
	return r.step(answer, verdict)
}

// byTask is how the tools of a subagent were chosen: all that it may have.
const byTask = "subagent"

// subagent is one round of a subagent: its task, what it looked up so far, and
// its own tools (P51, W17). Nothing is routed, planned or recalled for it, and
// it sees nothing of the conversation. It asks the chat model as a reply does.
func (a *Agent) subagent(ctx context.Context, in Round) (models.Step, error) {
	clean, err := a.clean.Turn(in.Context)
	if err != nil {
		return models.Step{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	tr := &trace{turnID: in.Input.TurnID, now: a.Now}
	r := round{
		agent: a, trace: tr, turn: a.turnOf(ctx, tr, in, clean), input: in.Input,
		prepared: Prepared{Allowed: names(in.Offer.Specs), Label: byTask},
	}
	if r.past, err = pastOf(clean); err != nil {
		return models.Step{}, err
	}
	request, err := ComposeSubagent(a.Prompts, SubagentInput{
		Context: clean, Task: a.clean.Text(in.Task, 0), Tools: r.specs(), Now: r.turn.now, Zone: r.turn.zone,
		Model: a.Settings.ChatModel, Programme: a.Settings.Programme,
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("composing for a subagent: %w", err)
	}
	answer, verdict, err := r.answered(ctx, r.fitted(request))
	if err != nil {
		return models.Step{}, err
	}
	return r.step(answer, verdict)
}
