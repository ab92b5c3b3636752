package main

import (
	"context"
	"fmt"
	"time"

	"coachline/bench/rig"
)

const phoneTexts = 200

// phone is many texts from one person, who does not wait for answers.
func phone(ctx context.Context, b *Bench) ([]Figure, error) {
	delay := b.Options.delay()
	b.Model.SetDelay(0)
	crowds, err := b.crowds(ctx, []side{b.Product, b.Bare}, 1)
	if err != nil {
		return nil, err
	}
	b.Model.SetDelay(delay)
	var took [2]time.Duration
	var costs [2]rig.Cost
	var calls [2]int
	for i, s := range []side{b.Product, b.Bare} {
		one, before := crowds[i][0], b.Model.Calls()
		start, err := b.Cost(ctx, s.WorkflowID(one.phone))
		if err != nil {
			return nil, err
		}
		if took[i], err = b.flood(ctx, s, one); err != nil {
			return nil, err
		}
		end, err := b.Cost(ctx, s.WorkflowID(one.phone))
		if err != nil {
			return nil, err
		}
		costs[i], calls[i] = end.Minus(start), b.Model.Calls()-before
	}
	figures := []Figure{
		ms("until everything is answered", took[0], took[1]),
		{Name: "history a text", Unit: "events", Better: Lower,
			Product: float64(costs[0].Events) / phoneTexts, Bare: pointerTo(float64(costs[1].Events) / phoneTexts)},
		{Name: "model calls", Unit: "calls", Better: Lower, Product: float64(calls[0]), Bare: pointerTo(float64(calls[1]))},
	}
	for i := range figures {
		figures[i].Count, figures[i].Case = phoneTexts, fmt.Sprintf("model %v, %d texts", delay, phoneTexts)
	}
	return figures, nil
}

// flood sends texts in order and waits for the answer to the last.
func (b *Bench) flood(ctx context.Context, s side, one *person) (time.Duration, error) {
	began := time.Now()
	last := b.Carrier.Expect(one.phone, one.said+phoneTexts)
	for range phoneTexts {
		one.said++
		if err := s.Text(ctx, one.phone, rig.Body(one.said, 0)); err != nil {
			return 0, err
		}
	}
	at, err := last.At(ctx)
	return at.Sub(began), err
}
