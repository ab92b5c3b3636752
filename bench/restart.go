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
	restartPeople = 300
	restartProbes = 20
	kib           = 1024
)

// restart is the worker, in a process of its own, with many people asleep:
// what each costs a worker that has run their last turn, what they cost one
// that has not, and how long it takes to be ready and to answer again.
func restart(ctx context.Context, b *Bench) (figures []Figure, err error) {
	b.Model.SetDelay(0)
	n := b.Options.people(restartPeople)
	if err := b.Product.StopWorker(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Product.Stop(), b.Product.Start(ctx)) }()
	var probes, people []*person
	empty, err := b.measureWorker(ctx, func() error {
		probes, err = b.enrollPeople(ctx, b.Product, restartProbes)
		return err
	}, &probes)
	if err != nil {
		return nil, err
	}
	busy, err := b.measureWorker(ctx, func() error {
		people, err = b.enrollPeople(ctx, b.Product, n)
		return err
	}, &probes)
	if err != nil {
		return nil, err
	}
	asleep, err := b.measureWorker(ctx, func() error { return nil }, &people)
	if err != nil {
		return nil, err
	}
	each := func(s spell) float64 { return float64(s.memory-empty.memory) / float64(n) / kib }
	milliseconds := func(name string, d time.Duration) Figure {
		return Figure{Name: name, Unit: "ms", Product: Milliseconds(d), Better: Lower}
	}
	ready := milliseconds("worker started to ready", asleep.ready)
	// A start does not depend on the number of sleepers: the limit is half as
	// much again as with few asleep.
	ready.Target = target(1.5 * Milliseconds(empty.ready))
	figures = []Figure{
		{Name: "worker memory each, after their turn", Unit: "KiB", Product: each(busy), Better: Lower},
		{Name: "worker memory each, asleep", Unit: "KiB", Product: each(asleep), Better: Lower, Target: target(2)},
		milliseconds("worker started to ready, few asleep", empty.ready),
		ready,
		milliseconds("worker started to the first answer", asleep.first),
		milliseconds("first answers of sleepers, median", asleep.took.Percentile(50)),
	}
	for i := range figures {
		figures[i].Case, figures[i].Count = fmt.Sprintf("%d people asleep", n), n
	}
	return figures, nil
}

// spell is one run of a worker process.
type spell struct {
	memory       int64
	ready, first time.Duration
	took         Durations
}

// measureWorker starts a worker, has the work done, lets some probes text so that
// everything is there that is made at first use, and reads the memory.
func (b *Bench) measureWorker(ctx context.Context, work func() error, probes *[]*person) (s spell, err error) {
	began := time.Now()
	child, err := b.Product.StartChild(ctx, rig.Worker)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, child.Stop()) }()
	s.ready = child.Ready
	if err := work(); err != nil {
		return s, err
	}
	for i, p := range (*probes)[:min(restartProbes, len(*probes))] {
		d, err := b.exchange(ctx, b.Product, p)
		if err != nil {
			return s, err
		}
		if s.took = append(s.took, d); i == 0 {
			s.first = time.Since(began)
		}
	}
	// What the collection finds depends on what is still under way.
	if err := wait.For(ctx, time.Second); err != nil {
		return s, err
	}
	s.memory, err = child.Memory()
	return s, err
}
