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
	diskPeople = 50
	diskAtOnce = 16
	// diskRest is left to the work that follows replies.
	diskRest = 10 * time.Second
)

// diskRounds are the rounds of many texts: so many of each person are enough
// for some ten seconds on two cores.
var diskRounds = []struct {
	delay time.Duration
	each  int
}{{0, 12}, {500 * time.Millisecond, 6}}

// disk is the whole system on its SQLite files, the program dev in a process of
// its own, seen from outside: its webhooks and API, and its texts at the carrier.
func disk(ctx context.Context, b *Bench) ([]Figure, error) {
	var all []Figure
	for _, step := range []string{"off", "after"} {
		figures, err := b.diskWith(ctx, step)
		if err != nil {
			return nil, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// diskWith measures one setting of the memory step, each kind of work on a folder of
// its own.
func (b *Bench) diskWith(ctx context.Context, step string) ([]Figure, error) {
	var figures []Figure
	for _, part := range []func(context.Context, *rig.Outside) ([]Figure, error){b.diskWork, b.diskBursts} {
		some, err := b.onDisk(ctx, part, "COACH_MEMORY_STEP="+step)
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
	}
	for i := range figures {
		figures[i].Case = "memory step " + step + ", " + figures[i].Case
	}
	return figures, nil
}

func (b *Bench) onDisk(ctx context.Context, work func(context.Context, *rig.Outside) ([]Figure, error), settings ...string) (figures []Figure, err error) {
	b.Model.SetDelay(0)
	o, err := b.StartOutside(ctx, settings...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Stop()) }()
	return work(ctx, o)
}

// diskWork has a fixed number of people text, so many at once.
func (b *Bench) diskWork(ctx context.Context, o *rig.Outside) ([]Figure, error) {
	people, err := b.enrollPeople(ctx, o, b.Options.people(diskPeople))
	if err != nil {
		return nil, err
	}
	if _, err := b.queueUp(ctx, o, people, len(people)); err != nil {
		return nil, err // What is made at first use is there now.
	}
	var figures []Figure
	for _, round := range diskRounds {
		if b.Options.Delay != nil {
			round.delay = *b.Options.Delay
		}
		b.Model.SetDelay(round.delay)
		replies := round.each * len(people)
		some, err := b.diskRound(ctx, o, people, replies)
		if err != nil {
			return nil, err
		}
		figures = append(figures, withCase(some, fmt.Sprintf("model %v, %d people, %d at once", round.delay, len(people), min(diskAtOnce, len(people))), replies)...)
	}
	return figures, nil
}

func (b *Bench) diskRound(ctx context.Context, o *rig.Outside, people []*person, replies int) ([]Figure, error) {
	before, err := o.Processor()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	took, err := b.queueUp(ctx, o, people, replies)
	if err != nil {
		return nil, err
	}
	wall := time.Since(began)
	with, err := o.Processor()
	if err != nil {
		return nil, err
	}
	rest := b.Options.Rest
	if err := wait.For(ctx, rest); err != nil {
		return nil, err
	}
	after, err := o.Processor()
	if err != nil {
		return nil, err
	}
	thousand := func(used time.Duration) float64 { return used.Seconds() * 1000 / float64(replies) }
	return []Figure{
		{Name: "replies", Unit: "/s", Better: Higher, Product: float64(replies) / wall.Seconds()},
		{Name: "processor of 1,000 replies", Unit: "s", Better: Lower, Product: thousand(with - before)},
		{Name: fmt.Sprintf("processor of 1,000 replies and of the %v after", rest), Unit: "s", Better: Lower, Product: thousand(after - before)},
		singleFigure("text to carrier, median", took.Percentile(50)),
		singleFigure("text to carrier, p99", took.Percentile(99)),
	}, nil
}

// queueUp has people text in turn, diskAtOnce of them at a time, until there
// are so many replies.
func (b *Bench) queueUp(ctx context.Context, s side, people []*person, replies int) (Durations, error) {
	free := make(chan *person, len(people))
	for _, p := range people {
		free <- p
	}
	return doInTurn(ctx, replies, diskAtOnce, func(ctx context.Context, _ int) (time.Duration, error) {
		p := <-free
		defer func() { free <- p }()
		return b.exchange(ctx, s, p)
	})
}

// diskBursts has many people text once, at the same time.
func (b *Bench) diskBursts(ctx context.Context, o *rig.Outside) ([]Figure, error) {
	var figures []Figure
	shapes := []burstShape{{60, 500 * time.Millisecond, 0}, {160, 2 * time.Second, 0}}
	if n := b.Options.People; n > 0 {
		shapes = []burstShape{{n, 500 * time.Millisecond, 0}}
	}
	for _, shape := range shapes {
		b.Model.SetDelay(0)
		people, err := b.enrollPeople(ctx, o, shape.people)
		if err != nil {
			return nil, err
		}
		b.Model.SetDelay(shape.delay)
		var lasts, all Durations
		for range burstRounds {
			took, err := doTogether(ctx, people, func(ctx context.Context, p *person) (time.Duration, error) { return b.exchange(ctx, o, p) })
			if err != nil {
				return nil, err
			}
			lasts, all = append(lasts, took.Max()), append(all, took...)
		}
		some := []Figure{singleFigure("text to carrier, median", all.Percentile(50)), singleFigure("last answer", lasts.Max())}
		figures = append(figures, withCase(some, fmt.Sprintf("model %v, %d people", shape.delay, shape.people), len(all))...)
	}
	return figures, nil
}
