package main

import (
	"context"
	"errors"
	"time"

	"coachline/bench/rig"
)

const coldRounds = 3

// cold is from nothing, server and tables included, to the first greeting, and
// from a stopped product to the next answer.
func cold(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(0)
	var whole, up, first Durations
	for range coldRounds {
		began := time.Now()
		greeted, err := b.fromNothing(ctx)
		if err != nil {
			return nil, err
		}
		whole = append(whole, greeted.Sub(began))
	}
	people, err := b.enrollPeople(ctx, b.Product, 1)
	if err != nil {
		return nil, err
	}
	for range coldRounds {
		if err := b.Product.Stop(); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := b.Product.Start(ctx); err != nil {
			return nil, err
		}
		up = append(up, time.Since(began))
		if _, err := b.exchange(ctx, b.Product, people[0]); err != nil {
			return nil, err
		}
		first = append(first, time.Since(began))
	}
	figure := func(name string, took Durations) Figure {
		return Figure{Name: name, Unit: "ms", Count: coldRounds, Better: Lower, Product: Milliseconds(took.Percentile(50))}
	}
	return []Figure{
		figure("server, tables and product from nothing to a greeting, median", whole),
		figure("product started to ready, median", up),
		figure("product started to an answer, median", first),
	}, nil
}

// fromNothing builds a rig of its own and enrols one person on it.
func (b *Bench) fromNothing(ctx context.Context) (at time.Time, err error) {
	r, err := rig.Start(ctx, b.Options.Config)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	greeting := r.Carrier.Expect(coldPhone, 0)
	if err := r.Product.Enrol(ctx, coldPhone); err != nil {
		return at, err
	}
	return greeting.At(ctx)
}

const coldPhone = "+12125550100"
