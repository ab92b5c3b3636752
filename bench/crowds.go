package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"coachline/internal/wait"
)

const (
	importPeople = 10_000
	importProbes = 50
	// importPause is between two texts of a person who texts beside an import.
	importPause = 2 * time.Second
	// importSpan is how long people text before an import, and after it.
	importSpan = 20 * time.Second
	// importShare is how many times as long as before it answers may take.
	importShare = 3
	// importGreetings a minute is what one long code can send.
	importGreetings = 15
)

// imports has people text before, during and after the import of a file.
func imports(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(b.Options.delay())
	n := b.Options.people(importPeople)
	probes, err := b.enrollPeople(ctx, b.Product, importProbes)
	if err != nil {
		return nil, err
	}
	rest := func(ctx context.Context) error { return wait.For(ctx, importSpan) }
	before, err := b.textBeside(ctx, probes, rest)
	if err != nil {
		return nil, err
	}
	numbers := make([]string, n)
	for i, p := range b.newcomers(n) {
		numbers[i] = p.phone
	}
	began := time.Now()
	during, err := b.textBeside(ctx, probes, func(ctx context.Context) error { return b.Product.Import(ctx, numbers, importGreetings) })
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	after, err := b.textBeside(ctx, probes, rest)
	if err != nil {
		return nil, err
	}
	figures := []Figure{singleFigure("all enrolled after", took)}
	for _, span := range []struct {
		name string
		took Durations
	}{{"before", before}, {"during", during}, {"after", after}} {
		median, p99 := singleFigure("reply "+span.name+", median", span.took.Percentile(50)), singleFigure("reply "+span.name+", p99", span.took.Percentile(99))
		if span.name != "before" {
			p99.Target = target(importShare * Milliseconds(before.Percentile(99)))
		}
		figures = append(figures, median, p99)
	}
	return withCase(figures, fmt.Sprintf("%d people imported", n), n), nil
}

// textBeside has people text, each with a pause after an answer, until work is done,
// and returns how long the answers took. Every text is waited for.
func (b *Bench) textBeside(ctx context.Context, people []*person, work func(context.Context) error) (Durations, error) {
	working, done := context.WithCancel(ctx)
	var failed error
	go func() { defer done(); failed = work(ctx) }()
	var mu sync.Mutex
	var all Durations
	turn := make(chan int, len(people))
	for i := range people {
		turn <- i
	}
	_, err := doTogether(ctx, people, func(ctx context.Context, p *person) (time.Duration, error) {
		_ = wait.For(working, importPause*time.Duration(<-turn)/time.Duration(len(people))) // not all at once
		for first := true; first || working.Err() == nil; first = false {
			took, err := b.exchange(ctx, b.Product, p)
			if err != nil {
				done()
				return 0, err
			}
			mu.Lock()
			all = append(all, took)
			mu.Unlock()
			_ = wait.For(working, importPause) // ends early when the work is done
		}
		return 0, nil
	})
	<-working.Done()
	if err == nil {
		err = failed
	}
	return all, err
}
