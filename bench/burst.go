package main

import (
	"context"
	"fmt"
	"time"
)

// burstShape is one text each from many people at the same time.
type burstShape struct {
	people int
	delay  time.Duration
	// within is the time in which all must be answered; 0 is no target.
	within time.Duration
}

const burstRounds = 2

// burst has many people text once, at the same time.
func burst(ctx context.Context, b *Bench) ([]Figure, error) {
	shapes := []burstShape{
		{60, 0, 0},
		{60, 500 * time.Millisecond, 1200 * time.Millisecond},
		{160, 2 * time.Second, 4 * time.Second},
	}
	if b.Options.People > 0 || b.Options.Delay != nil {
		shapes = []burstShape{{b.Options.people(60), b.Options.delay(), 0}}
	}
	var figures []Figure
	for _, shape := range shapes {
		some, err := b.burstOf(ctx, shape)
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
	}
	return figures, nil
}

func (b *Bench) burstOf(ctx context.Context, shape burstShape) ([]Figure, error) {
	sides := []side{b.Product, b.Bare}
	b.Model.SetDelay(0)
	crowds, err := b.crowds(ctx, sides, shape.people)
	if err != nil {
		return nil, err
	}
	b.Model.SetDelay(shape.delay)
	took := make([]Durations, len(sides))
	for range burstRounds {
		for i, s := range sides {
			some, err := doTogether(ctx, crowds[i], func(ctx context.Context, p *person) (time.Duration, error) { return b.exchange(ctx, s, p) })
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], some...)
		}
	}
	last := ms("last answer", took[0].Max(), took[1].Max())
	last.Count = len(took[0])
	if shape.within > 0 {
		last.Target = target(Milliseconds(shape.within))
	}
	middle := percentileFigures("text to carrier", took)[:1]
	middle[0].Target = nil
	figures := append(middle, last)
	for i := range figures {
		figures[i].Case = fmt.Sprintf("model %v, %d people", shape.delay, shape.people)
	}
	return figures, nil
}
