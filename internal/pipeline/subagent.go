package pipeline

import (
	"context"
	"fmt"

	"coachline/internal/reply"
	"coachline/internal/reply/protocol"
	"coachline/models"
)

// byTask is how the tools of a subagent were chosen: all that it may have.
const byTask = "subagent"

// subagent is one round of a subagent: its task, what it looked up so far, and
// its own tools (P51, W17). Nothing is routed, planned or recalled for it, and
// it sees nothing of the conversation. It asks the chat model as a reply does.
func (p *Pipeline) subagent(ctx context.Context, in Round) (models.Step, error) {
	clean, err := p.redacted(in.Context)
	if err != nil {
		return models.Step{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	tr := &trace{turnID: in.Input.TurnID, now: p.Now}
	r := round{
		pipeline: p, trace: tr, turn: p.turnOf(ctx, tr, in, clean), input: in.Input,
		prepared: Prepared{Allowed: names(in.Offer.Specs), Label: byTask},
	}
	if r.past, err = pastOf(clean); err != nil {
		return models.Step{}, err
	}
	request, err := reply.ComposeSubagent(p.Prompts, reply.SubagentInput{
		Context: clean, Task: p.caches.clean(in.Task, 0), Tools: r.specs(), Now: r.turn.now, Zone: r.turn.zone,
		Model: p.Settings.ChatModel, Programme: p.Settings.Programme,
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("composing for a subagent: %w", err)
	}
	request, _ = protocol.Fit(request, r.turn.cap.ContextTokens)
	answer, verdict, err := r.answered(ctx, request)
	if err != nil {
		return models.Step{}, err
	}
	return r.step(answer, verdict)
}
