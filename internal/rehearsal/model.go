package rehearsal

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"coachline/internal/sim/openai"
	"coachline/models"
	"coachline/starter/relay"
	"coachline/worker"
)

// model is the scripted coach of make dev without its server. Faults come by rate.
type model struct {
	r  *run
	id string
	// fails draws whether a call fails; nil never.
	fails func() bool
	mu    sync.Mutex
	calls int
}

// charsPerToken is a usual rule of thumb; the script has no tokens.
const charsPerToken = 4

// Complete implements the model of the activities.
func (m *model) Complete(_ context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	m.mu.Lock()
	m.calls++
	id := fmt.Sprintf("%s_%d", m.id, m.calls)
	m.mu.Unlock()
	if m.fails != nil && m.fails() {
		m.r.count(func(t *tally) { t.ModelFaults++ })
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Status: 503, Message: "the rehearsal refuses this call"}
	}
	answer, err := openai.FollowRequest(toRequest(req), id)
	if err != nil {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelRefused, Status: 400, Message: err.Error()}
	}
	out := models.ChatResponse{
		Text: answer.Text, Model: req.Model, FinishReason: "stop",
		Usage: models.Usage{Prompt: max(len(answer.Prompt)/charsPerToken, 1), Completion: max(len(answer.Text)/charsPerToken, 1)},
	}
	m.r.count(func(t *tally) {
		t.ModelCalls, t.InputTokens, t.OutputTokens = t.ModelCalls+1, t.InputTokens+out.Usage.Prompt, t.OutputTokens+out.Usage.Completion
	})
	for _, call := range answer.Calls {
		out.Calls = append(out.Calls, models.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
		out.FinishReason = "tool_calls"
	}
	return out, nil
}

// toRequest gives a request the form that the script reads.
func toRequest(req models.ChatRequest) openai.Request {
	ask := openai.Request{Model: req.Model, Messages: make([]openai.Message, len(req.Messages)), Tools: make([]openai.Tool, len(req.Tools))}
	for i, m := range req.Messages {
		message := openai.Message{Role: m.Role, Content: openai.Content(m.Content), ToolCallID: m.ToolCallID}
		for _, call := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, openai.ToolCall{
				ID: call.ID, Type: "function", Function: openai.Function{Name: call.Name, Arguments: call.Arguments},
			})
		}
		ask.Messages[i] = message
	}
	for i, spec := range req.Tools {
		ask.Tools[i].Function.Name, ask.Tools[i].Function.Description, ask.Tools[i].Function.Parameters = spec.Name, spec.Description, spec.Schema
	}
	return ask
}

// Embed implements the model of the activities: vectors are optional, and a
// rehearsal has none.
func (*model) Embed(context.Context, []string) ([][]float32, error) {
	return nil, &models.ModelError{Class: models.ModelRefused, Message: "a rehearsal has no embeddings"}
}

// staffDelay is how long operators take to look at what calls for them.
const staffDelay = 4 * time.Hour

// operators is what runs beside people: the sweeps of the starter and the operators.
type operators struct {
	r     *run
	clock time.Time
	relay *relay.Relay
}

// newOperators has the sweeps find every person's workflow.
func (r *run) newOperators() (*operators, error) {
	s := &operators{r: r, clock: r.from}
	now := func() time.Time { return s.clock }
	set, err := r.parts.NewSet(worker.Outside{Model: &model{r: r, id: actor}, Carrier: &carrier{}, Pager: pager{r}, Now: now})
	if err != nil {
		return nil, err
	}
	j := newJobs(r.suite, set)
	j.now = now
	j.fault = func(where string, err error) { r.broke(where, "", err) }
	s.relay = relay.New(relay.Config{
		Store: relay.StoreOf(r.store), Engine: &engine{run: r, jobs: j}, Metrics: r.metrics, Logger: slog.New(slog.DiscardHandler), Now: now,
		Costs: r.store.Costs, Budgets: r.store.Budgets, Prices: r.cfg.Settings.Costs.Prices, Escalation: r.cfg.Settings.Worker.AlertEscalation,
	})
	return s, nil
}

// endDay sweeps once, at the end of a day. No person is played meanwhile.
func (s *operators) endDay(day int) {
	s.clock = s.r.from.Add(time.Duration(day) * dayLength)
	if err := s.relay.Sweep(s.r.ctx); err != nil {
		s.r.broke("sweep", "", err)
	}
}

// attend has an operator look at a person, if something calls for it.
func (p *person) attend() {
	_, err := p.r.store.Attention.ClearAttention(p.r.ctx, models.AttentionClearing{ParticipantID: p.id, Note: "seen in the rehearsal", Actor: actor, Now: p.now()})
	if err != nil {
		p.r.broke("attention", p.id, err)
		return
	}
	p.deliver(p.r.ctx)
}
