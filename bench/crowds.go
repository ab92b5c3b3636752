package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"coachline/bench/rig"
	"coachline/internal/wait"
	"coachline/models/wire"
)

const (
	crowdProbes = 50
	// crowdPause is between two texts of a person who texts beside a crowd, more or less
	// by half: people whom one stall kept waiting would text together ever after.
	crowdPause = 2 * time.Second
	// crowdSpan is how long people text before a crowd comes, and after it.
	crowdSpan = 20 * time.Second
	// crowdShare is how many times as long as before it answers may take.
	crowdShare = 3
	// importGreetings a minute is what one long code can send.
	importGreetings = 15
	// importKill is after how much of an import both roles are killed.
	importKill = 10 * time.Second
)

// crowd is much work that comes at once while others text.
type crowd struct {
	what   string
	people int
	// killed: both roles are killed meanwhile, so the slowest answer counts.
	killed bool
	// prepare makes the people ready.
	prepare func(ctx context.Context, b *Bench, n int) (arrival, error)
}

// arrival is when a crowd is to come and how, which ends when all that follows is done.
type arrival struct {
	at   time.Time
	come func(context.Context) error
}

// crowds are the loads of people who text beside a crowd, by their names.
var crowds = map[string]crowd{
	"import":        {what: "people imported", people: 10_000, prepare: prepareImport},
	"import-killed": {what: "people imported, both roles killed", people: 10_000, killed: true, prepare: prepareImport},
	"resumes":       {what: "paused people resumed, each with a text that waits", people: 500, prepare: prepareResumes},
	"wave":          {what: "prompts within a minute", people: 500, prepare: prepareWave},
	"holds":         {what: "prompts within a minute, held for the first half", people: 500, prepare: prepareHeldWave},
}

// beside has people text before, during and after a crowd.
func beside(c crowd) func(context.Context, *Bench) ([]Figure, error) {
	return func(ctx context.Context, b *Bench) (figures []Figure, err error) {
		b.Model.SetDelay(b.Options.delay())
		n := b.Options.people(c.people)
		probes, err := b.enrollPeople(ctx, b.Product, crowdProbes)
		if err != nil {
			return nil, err
		}
		crowd, err := c.prepare(ctx, b, n)
		if err != nil {
			return nil, err
		}
		come := crowd.come
		if c.killed {
			roles, err := b.startChildren(ctx)
			if err != nil {
				return nil, err
			}
			defer func() { err = roles.leave(ctx, err) }()
			come = roles.killedMeanwhile(come)
		}
		var took [3]Durations
		var span time.Duration
		rest := func(ctx context.Context) error { return wait.For(ctx, crowdSpan) }
		until := func(ctx context.Context) error { return wait.For(ctx, max(time.Until(crowd.at), crowdSpan)) }
		for i, work := range []func(context.Context) error{until, come, rest} {
			began := time.Now()
			if took[i], err = b.textBeside(ctx, probes, work); err != nil {
				return nil, err
			}
			if i == 1 {
				span = time.Since(began)
			}
		}
		return withCase(c.figures(took, span), fmt.Sprintf("%d %s", n, c.what), n), nil
	}
}

func (c crowd) figures(took [3]Durations, span time.Duration) []Figure {
	figures := []Figure{singleFigure("all done after", span)}
	for i, when := range []string{"before", "during", "after"} {
		p99, last := singleFigure("reply "+when+", p99", took[i].Percentile(99)), singleFigure("reply "+when+", slowest", took[i].Max())
		switch {
		case i > 0 && !c.killed:
			p99.Target = target(crowdShare * Milliseconds(took[0].Percentile(99)))
		case i == 1:
			last.Target = target(Milliseconds(killBothSlowest))
		}
		figures = append(figures, singleFigure("reply "+when+", median", took[i].Percentile(50)), p99, last)
	}
	return figures
}

func prepareImport(_ context.Context, b *Bench, n int) (arrival, error) {
	numbers := make([]string, n)
	for i, p := range b.newcomers(n) {
		numbers[i] = p.phone
	}
	return arrival{come: func(ctx context.Context) error { return b.Product.Import(ctx, numbers, importGreetings) }}, nil
}

// prepareResumes pauses people, each of whom texts once more.
func prepareResumes(ctx context.Context, b *Bench, n int) (arrival, error) {
	people, err := b.enrollPeople(ctx, b.Product, n)
	if err != nil {
		return arrival{}, err
	}
	coming := make([]*rig.Wait, n)
	change := func(ctx context.Context, status wire.Status, then func(ctx context.Context, i int) error) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(enrolling)
		for i, p := range people {
			group.Go(func() error {
				if err := b.Product.SetStatus(ctx, p.phone, status); err != nil {
					return err
				}
				return then(ctx, i)
			})
		}
		return group.Wait()
	}
	err = change(ctx, wire.StatusPaused, func(ctx context.Context, i int) error {
		people[i].said++
		coming[i] = b.Carrier.Expect(people[i].phone, people[i].said)
		return b.Product.Text(ctx, people[i].phone, rig.Body(people[i].said, 0))
	})
	return arrival{come: func(ctx context.Context) error {
		if err := change(ctx, wire.StatusActive, func(context.Context, int) error { return nil }); err != nil {
			return err
		}
		return awaitAll(ctx, coming)
	}}, err
}

func awaitAll(ctx context.Context, coming []*rig.Wait) error {
	for _, one := range coming {
		if _, err := one.At(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepareWave has people ask for a daily prompt at one time.
func prepareWave(ctx context.Context, b *Bench, n int) (arrival, error) {
	people, begin, err := b.askForPrompts(ctx, n)
	coming := make([]*rig.Wait, len(people))
	for i, p := range people {
		coming[i] = b.Carrier.Expect(p.phone, 0)
	}
	return arrival{at: begin, come: func(ctx context.Context) error { return awaitAll(ctx, coming) }}, err
}

// prepareHeldWave is prepareWave with a hold that ends in its midst: what fell due before
// is left out.
func prepareHeldWave(ctx context.Context, b *Bench, n int) (arrival, error) {
	_, begin, err := b.askForPrompts(ctx, n)
	spread := b.Product.Slope().Spread
	if err == nil {
		err = b.Product.Hold(ctx, begin.Add(spread/2))
	}
	return arrival{at: begin, come: func(ctx context.Context) error { return wait.For(ctx, spread+promptMargin) }}, err
}

// askForPrompts enrols people who ask for a daily prompt at one time, and returns when
// the first of them is due.
func (b *Bench) askForPrompts(ctx context.Context, n int) ([]*person, time.Time, error) {
	began := time.Now()
	people, err := b.enrollPeople(ctx, b.Product, n)
	if err != nil {
		return nil, time.Time{}, err
	}
	asking := time.Duration(askingShare * float64(time.Since(began)))
	ahead := b.Product.Slope().Ahead
	clock := time.Now().UTC().Add(ahead + crowdSpan + promptMargin + asking).Truncate(time.Minute).Add(time.Minute)
	return people, clock.Add(-ahead), b.setDailyPrompts(ctx, b.Product, people, clock.Format("15:04"))
}

// textBeside has people text, each with a pause after an answer, until work is done,
// and returns how long the answers took. Every text is waited for.
func (b *Bench) textBeside(ctx context.Context, people []*person, work func(context.Context) error) (Durations, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	working, done := context.WithCancel(ctx)
	go func() {
		defer done()
		if err := work(ctx); err != nil {
			fail(err)
		}
	}()
	var mu sync.Mutex
	var all Durations
	turn := make(chan int, len(people))
	for i := range people {
		turn <- i
	}
	_, err := doTogether(ctx, people, func(ctx context.Context, p *person) (time.Duration, error) {
		_ = wait.For(working, crowdPause*time.Duration(<-turn)/time.Duration(len(people))) // not all at once
		for first := true; first || working.Err() == nil; first = false {
			took, err := b.exchange(ctx, b.Product, p)
			if err != nil {
				done()
				return 0, err
			}
			mu.Lock()
			all = append(all, took)
			mu.Unlock()
			_ = wait.For(working, crowdPause/2+rand.N(crowdPause)) // ends early when the work is done
		}
		return 0, nil
	})
	<-working.Done()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return all, err
}
