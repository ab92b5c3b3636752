package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/bench/rig"
	"coachline/internal/wait"
)

const (
	killPeople = 50
	// killTimes is how often each thing happens.
	killTimes = 5
	// killThinking is how long the model takes and killTaking the carrier, so that many
	// calls are under way when a process ends.
	killThinking = time.Second
	killTaking   = 150 * time.Millisecond
	// killBefore is how long people text before a process ends, killAfter after it.
	killBefore = 4 * time.Second
	killAfter  = 8 * time.Second
	// killSlowest is how long the slowest may wait, killBothSlowest where both roles end.
	killSlowest     = 8 * time.Second
	killBothSlowest = 15 * time.Second
)

// kills has people text while the worker is killed, is stopped, and is killed together
// with the starter. What ended is started again at once.
func kills(ctx context.Context, b *Bench) (figures []Figure, err error) {
	b.Model.SetDelay(killThinking)
	b.Carrier.SetDelay(killTaking)
	defer b.Carrier.SetDelay(0)
	if b.Options.Delay != nil {
		b.Model.SetDelay(*b.Options.Delay)
	}
	n := b.Options.people(killPeople)
	people, err := b.enrollPeople(ctx, b.Product, n)
	if err != nil {
		return nil, err
	}
	roles, err := b.startChildren(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = roles.leave(ctx, err) }()
	for _, event := range []struct {
		name  string
		limit time.Duration
		act   func(context.Context) error
	}{
		{"worker killed", killSlowest, func(ctx context.Context) error { return roles.restart(ctx, (*rig.Child).Kill, rig.Worker) }},
		{"worker stopped", killSlowest, func(ctx context.Context) error { return roles.restart(ctx, (*rig.Child).Stop, rig.Worker) }},
		{"both killed", killBothSlowest, func(ctx context.Context) error {
			return roles.restart(ctx, (*rig.Child).Kill, rig.Worker, rig.Starter)
		}},
	} {
		var all, slowest Durations
		for range killTimes {
			took, err := b.textBeside(ctx, people, func(ctx context.Context) error {
				return errors.Join(wait.For(ctx, killBefore), event.act(ctx), wait.For(ctx, killAfter))
			})
			if err != nil {
				return nil, err
			}
			all, slowest = append(all, took...), append(slowest, took.Max())
		}
		fmt.Fprintf(b.Options.Progress, "kills: %s: slowest %v\n", event.name, slowest)
		last := singleFigure("slowest", all.Max())
		last.Target = target(Milliseconds(event.limit))
		figures = append(figures, withCase([]Figure{
			singleFigure("text to carrier, median", all.Percentile(50)), singleFigure("text to carrier, p99", all.Percentile(99)), last,
		}, fmt.Sprintf("%s %d times, %d people", event.name, killTimes, n), len(all))...)
	}
	return figures, nil
}

// children are the product's roles in processes of their own.
type children struct {
	product *rig.Product
	of      map[rig.Role]*rig.Child
}

// startChildren replaces the roles of this process.
func (b *Bench) startChildren(ctx context.Context) (*children, error) {
	c := &children{product: b.Product, of: map[rig.Role]*rig.Child{}}
	err := b.Product.Stop()
	for _, role := range []rig.Role{rig.Worker, rig.Starter} {
		if err == nil {
			c.of[role], err = b.Product.StartChild(ctx, role)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// restart ends roles and starts them again.
func (c *children) restart(ctx context.Context, end func(*rig.Child) error, roles ...rig.Role) error {
	for _, role := range roles {
		if err := end(c.of[role]); err != nil {
			return err
		}
	}
	for _, role := range roles {
		var err error
		if c.of[role], err = c.product.StartChild(ctx, role); err != nil {
			return err
		}
	}
	return nil
}

// killedMeanwhile kills both roles after a while of some work.
func (c *children) killedMeanwhile(work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		killed := make(chan error, 1)
		go func() {
			killed <- errors.Join(wait.For(ctx, importKill), c.restart(ctx, (*rig.Child).Kill, rig.Worker, rig.Starter))
		}()
		err := work(ctx)
		return errors.Join(err, <-killed)
	}
}

// leave gives the roles back to this process.
func (c *children) leave(ctx context.Context, err error) error {
	return errors.Join(err, c.stop(), c.product.Start(ctx))
}

func (c *children) stop() error {
	var problems error
	for _, child := range c.of {
		if child != nil {
			problems = errors.Join(problems, child.Stop())
		}
	}
	return problems
}
