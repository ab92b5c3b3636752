package main

import (
	"context"
	"fmt"

	"coachline/bench/rig"
	"coachline/internal/agent/sizes"
)

const (
	costTurns = 20
	longText  = 1500
	// farClock is the local time of the daily prompts that tool turns ask for;
	// each asks for another minute.
	farClock = "%02d:%02d"
)

// costShape is one kind of turn with the limits that it has to keep.
type costShape struct {
	name   string
	body   func(n int) string
	events float64 // a turn
	bytes  float64 // a turn, sealed
	turns  int
}

// cost is what a turn leaves in Temporal: events, bytes, billable actions; and how many
// tokens it sends to a model, which part of them the request before it had too, and how
// many calls a reply needs.
func cost(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(0)
	const kilobyte = 1024
	var figures []Figure
	for _, shape := range []costShape{
		{"plain reply", func(n int) string { return rig.Body(n, 0) }, 20, 6 * kilobyte, costTurns},
		{fmt.Sprintf("text of %d characters", longText), func(n int) string { return rig.Body(n, longText) }, 20, 6 * kilobyte, costTurns},
		// A participant has five schedules at most.
		{"one tool", func(n int) string { return rig.DailyBody(n, fmt.Sprintf(farClock, n%24, n)) }, 25, 0, 5},
	} {
		some, err := b.costOf(ctx, shape)
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
	}
	asked, err := sizes.Measure(ctx)
	if err != nil {
		return nil, fmt.Errorf("measuring requests: %w", err)
	}
	for _, one := range asked {
		figures = append(figures, requestFigures(one)...)
	}
	counted, err := sizes.CountCalls(ctx)
	if err != nil {
		return nil, fmt.Errorf("counting calls: %w", err)
	}
	for _, one := range counted {
		figures = append(figures, Figure{
			Case: one.Name, Name: "calls of a model", Unit: "calls", Count: one.Turns, Product: one.PerTurn(), Target: target(one.Limit), Better: Lower,
		})
	}
	return figures, nil
}

const (
	// requestTokens is the most that a plain turn sends to a large model, sharedPercent
	// the least part of it that a server can have in its cache.
	requestTokens, sharedPercent = 3000, 80
)

// requestFigures are the length of a request and the part of it that is not new.
func requestFigures(s sizes.Size) []Figure {
	length := Figure{Case: "a model's request, " + s.Title(), Name: "length", Unit: "tokens", Count: 1, Product: float64(s.Total), Better: Lower}
	shared := Figure{Case: length.Case, Name: "begins as the one before", Unit: "%", Count: 1, Product: float64(s.SharedPercent()), Better: Higher}
	if s.IsPlain && !s.Small {
		length.Target, shared.Target = target(requestTokens), target(sharedPercent)
	}
	return []Figure{length, shared}
}

func (b *Bench) costOf(ctx context.Context, shape costShape) ([]Figure, error) {
	tools := b.Model.ToolCalls()
	product, err := b.turnCost(ctx, b.Product, shape)
	if err != nil {
		return nil, err
	}
	if asked := b.Model.ToolCalls() - tools; shape.bytes == 0 && asked != shape.turns {
		return nil, fmt.Errorf("measuring the cost of a tool: the model asked for %d tools in %d turns", asked, shape.turns)
	}
	var bare rig.Cost
	if shape.bytes > 0 { // The bare workflow has no tools.
		if bare, err = b.turnCost(ctx, b.Bare, shape); err != nil {
			return nil, err
		}
	}
	figures := costFigures("a turn", shape.turns, product, bare)
	for i, limit := range []float64{shape.events, shape.bytes} {
		if limit > 0 {
			figures[i].Target = target(limit)
		}
	}
	for i := range figures {
		figures[i].Case = shape.name
	}
	return figures, nil
}

// costFigures are events, bytes and actions of one of n equal things; a zero cost of
// the bare workflow stands for none.
func costFigures(of string, n int, product, bare rig.Cost) []Figure {
	figure := func(name, unit string, product, bare float64) Figure {
		f := Figure{Name: name + " of " + of, Unit: unit, Count: n, Product: product / float64(n), Better: Lower}
		if bare > 0 {
			f.Bare = pointerTo(bare / float64(n))
		}
		return f
	}
	return []Figure{
		figure("history", "events", float64(product.Events), float64(bare.Events)),
		figure("history", "bytes", float64(product.Bytes), float64(bare.Bytes)),
		figure("billable actions", "actions", float64(product.Actions), float64(bare.Actions)),
	}
}

// turnCost is the cost of a shape's turns of one person, each on its own.
func (b *Bench) turnCost(ctx context.Context, s side, shape costShape) (rig.Cost, error) {
	people, err := b.enrollPeople(ctx, s, 1)
	if err != nil {
		return rig.Cost{}, err
	}
	one := people[0]
	if _, err := b.exchange(ctx, s, one); err != nil {
		return rig.Cost{}, err
	}
	before, err := b.Cost(ctx, s.WorkflowID(one.phone))
	if err != nil {
		return rig.Cost{}, err
	}
	for range shape.turns {
		one.said++
		if _, err := b.sendText(ctx, s, one, shape.body(one.said)); err != nil {
			return rig.Cost{}, err
		}
		// A text that comes before the turn is over shares its workflow task.
		if err := b.Idle(ctx, s.WorkflowID(one.phone)); err != nil {
			return rig.Cost{}, err
		}
	}
	after, err := b.Cost(ctx, s.WorkflowID(one.phone))
	return after.Minus(before), err
}
