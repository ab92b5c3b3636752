package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"coachline/internal/agent"
	"coachline/internal/llm"
	"coachline/internal/prices"
	"coachline/internal/segments"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
	"coachline/worker"
)

// recorder passes requests on and writes down what they cost.
type recorder struct {
	client *llm.Client
	prices *prices.List

	mu       sync.Mutex
	requests []models.ChatRequest
	cost     Cost
	behind   bool
	// earlier are the prompts of the conversation so far, run those of all
	// conversations of the run.
	earlier, run *prefixes
}

// prefixes are prompts as text, for finding what a new one repeats. It is safe
// for use by several goroutines.
type prefixes struct {
	mu   sync.Mutex
	seen []string
}

// Complete implements agent.Model.
func (r *recorder) Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	answer, err := r.client.Complete(ctx, req)
	prompt, encodeErr := json.Marshal([]any{req.Model, req.Tools, req.Messages})
	if encodeErr != nil {
		return answer, fmt.Errorf("writing down a request: %w", encodeErr)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req)
	one := Cost{Calls: 1, Prompt: answer.Usage.Prompt, Completion: answer.Usage.Completion, Cached: answer.Usage.Cached}
	if err != nil {
		one.Failed = 1
	}
	used := prices.Used{Input: int64(one.Prompt), Cached: int64(one.Cached), Output: int64(one.Completion)}
	if micros := r.prices.Model(cmp.Or(answer.Model, req.Model), used); micros != nil {
		one.Micros = *micros
	} else {
		one.Unpriced = 1
	}
	if r.behind {
		one.Background = 1
	}
	one.Prefix = one.Prompt * r.earlier.commonPrefix(string(prompt)) / max(len(prompt), 1)
	one.RunPrefix = one.Prompt * r.run.commonPrefix(string(prompt)) / max(len(prompt), 1)
	r.cost = r.cost.Add(one)
	return answer, err
}

// commonPrefix is the longest common beginning, in bytes, with an earlier
// prompt; the prompt is one from then on.
func (p *prefixes) commonPrefix(prompt string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	longest := 0
	for _, earlier := range p.seen {
		n := 0
		for n < min(len(earlier), len(prompt)) && earlier[n] == prompt[n] {
			n++
		}
		longest = max(longest, n)
	}
	p.seen = append(p.seen, prompt)
	return longest
}

// take returns the requests and the cost so far, and begins anew.
func (r *recorder) take() ([]models.ChatRequest, Cost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, cost := r.requests, r.cost
	r.requests, r.cost = nil, Cost{}
	return requests, cost
}

func (r *recorder) setBackground(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind = on
}

// carrier takes every text. Nothing else is asked of it.
type carrier struct {
	worker.CarrierClient
	store *store.Store

	mu    sync.Mutex
	count int
	sent  []Sent
	// first is when the first reply since the newest take was sent.
	first time.Time
}

// Send implements activities.Carrier.
func (c *carrier) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	row, err := c.store.Outbox.Row(ctx, sms.OutboxID)
	if err := errors.Join(err, sms.MayWrite(ctx)); err != nil {
		return models.Receipt{}, fmt.Errorf("reading what is sent: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if row.Kind == models.KindReply && c.first.IsZero() {
		c.first = time.Now()
	}
	c.sent = append(c.sent, Sent{Kind: row.Kind, Body: sms.Body, Segments: segments.Count(sms.Body).Segments})
	return models.Receipt{ProviderSID: fmt.Sprintf("SM%032x", c.count), Status: wire.OutboxDelivered}, nil
}

// Find implements activities.Carrier; no send is ever in doubt here.
func (c *carrier) Find(context.Context, models.SMS, time.Duration) (models.Lookup, error) {
	return models.Lookup{At: time.Now()}, nil
}

// take returns what was sent, and how long after an instant the first reply was; begins anew.
func (c *carrier) take(since time.Time) (sent []Sent, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent = c.sent
	if !c.first.IsZero() {
		took = c.first.Sub(since)
	}
	c.sent, c.first = nil, time.Time{}
	return sent, took
}

// exchange writes down the step whose last turn is given.
func (p *conversation) exchange(text string, last int) (Exchange, error) {
	out := Exchange{Text: text, Before: p.progress.before, Secrets: p.driver.secrets}
	out.Sent, out.Took = p.carrier.take(p.progress.wrote)
	out.Requests, out.Cost = p.model.take()
	for number := p.progress.turn + 1; number <= last; number++ {
		turn, err := p.store.Turns.TurnContext(p.ctx, models.TurnID(personID, number), 0)
		if err != nil {
			return out, fmt.Errorf("reading turn %d: %w", number, err)
		}
		calls, err := callsOf(turn)
		if err != nil {
			return out, fmt.Errorf("reading turn %d: %w", number, err)
		}
		out.Calls = append(out.Calls, calls...)
		out.Outcome = turn.Turn.Outcome
		out.Guards = append(out.Guards, guardsOf(turn)...)
	}
	var err error
	out.After, err = p.readStored()
	return out, err
}

// guardsOf lists what the checks of outgoing texts decided in a turn.
func guardsOf(turn models.TurnContext) (out []string) {
	for _, step := range turn.Steps {
		var kept agent.Trace
		if json.Unmarshal([]byte(step.Trace), &kept) != nil {
			continue // The step was not asked of a model.
		}
		for _, stage := range kept.Stages {
			if slices.Contains([]models.StageName{models.StageGuard, models.StageScreen, models.StageAdvice}, stage.Name) {
				out = append(out, stage.Decision)
			}
		}
	}
	return out
}

func callsOf(turn models.TurnContext) ([]Call, error) {
	var out []Call
	for _, step := range turn.Steps {
		asked, err := step.ToolCalls()
		if err != nil {
			return nil, err
		}
		for i, call := range asked {
			one := Call{Tool: call.Name, Failed: call.Refused != "", Result: call.Refused}
			// What is no JSON object has no arguments; its call has failed.
			_ = json.Unmarshal([]byte(call.Arguments), &one.Args)
			for _, run := range turn.Runs {
				if run.Step != step.Number || run.Call != i {
					continue
				}
				result, err := run.ToolResult()
				if err != nil {
					return nil, err
				}
				one.Failed, one.Result = run.Failed, result.Content
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// readStored is what the tables hold of the person now.
func (p *conversation) readStored() (Stored, error) {
	var out Stored
	facts, err := p.memory.Facts(p.ctx, personID)
	if err != nil {
		return out, fmt.Errorf("reading facts: %w", err)
	}
	for _, fact := range facts {
		out.Facts = append(out.Facts, fact.Text)
	}
	profile, err := p.store.People.Profile(p.ctx, personID)
	if err != nil {
		return out, fmt.Errorf("reading profile: %w", err)
	}
	out.Profile = map[string]string{"success_count": fmt.Sprint(profile.SuccessCount), "total_prompts": fmt.Sprint(profile.TotalPrompts)}
	for field, text := range profile.All() {
		out.Profile[field.Name] = *text
	}
	value, err := p.env.QueryWorkflow(wire.QuerySchedules)
	var schedules []wire.Schedule
	if err == nil {
		err = value.Get(&schedules)
	}
	if err != nil {
		return out, fmt.Errorf("asking the workflow: %w", err)
	}
	out.Schedules = []string{}
	for _, s := range schedules {
		times := s.At
		if s.Type == wire.ScheduleRandom {
			times = s.From + "-" + s.To
		}
		out.Schedules = append(out.Schedules, times)
	}
	slices.Sort(out.Schedules)
	return out, nil
}
