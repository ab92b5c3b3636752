package main

import (
	"context"
	"fmt"
	"time"
)

const (
	engineWorkflows = 1000
	engineAlones    = 100
)

// engineAlone is the server without the product, as the engine's public load
// tools measure it: a workflow with one activity that echoes, and one that ends
// with a signal.
func engineAlone(ctx context.Context, b *Bench) ([]Figure, error) {
	e, err := b.StartEngine(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Stop()
	n, number := b.Options.people(engineWorkflows), 0
	var figures []Figure
	for _, kind := range []struct {
		name string
		one  func(context.Context, int) (time.Duration, error)
	}{{"one echo activity", e.Echo}, {"one signal", e.Signal}} {
		for _, shape := range []struct{ n, atOnce int }{{min(engineAlones, n), 1}, {n, enrolling}} {
			began, first := time.Now(), number
			took, err := doInTurn(ctx, shape.n, shape.atOnce, func(ctx context.Context, i int) (time.Duration, error) { return kind.one(ctx, first+i) })
			if err != nil {
				return nil, err
			}
			number += shape.n
			some := []Figure{
				{Name: "workflows", Unit: "/s", Better: Higher, Product: float64(shape.n) / time.Since(began).Seconds()},
				singleFigure("start to result, median", took.Percentile(50)),
				singleFigure("start to result, p95", took.Percentile(95)),
				singleFigure("start to result, p99", took.Percentile(99)),
			}
			figures = append(figures, withCase(some, fmt.Sprintf("no product, %s, %d at once", kind.name, shape.atOnce), shape.n)...)
		}
	}
	return figures, nil
}
