package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"coachline/bench/rig"
	"coachline/internal/wait"
)

const (
	promptPeople = 500
	promptProbes = 5
	promptEvents = 17
	// Setting a prompt takes no more than askingShare times what enrolling took;
	// promptMargin is what is left before the first one goes out.
	askingShare  = 2
	promptMargin = 10 * time.Second
)

// prompts has all daily prompts due at the same clock time, spread as the
// settings say (COACH_PREP_TIME, COACH_PROMPT_SPREAD), while a few people text.
func prompts(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(b.Options.delay())
	n := b.Options.people(promptPeople)
	var waves [2]waveResult
	for i, s := range []side{b.Product, b.Bare} {
		var err error
		if waves[i], err = b.wave(ctx, s, n); err != nil {
			return nil, err
		}
		fmt.Fprintf(b.Options.Progress, "prompts: %s: all %d at the carrier after %v; replies before %v, meanwhile %v, p99 %v, last %v (%d of them)\n", s.Name(), n,
			waves[i].late.Max(), waves[i].before.Percentile(50), waves[i].meanwhile.Percentile(50), waves[i].meanwhile.Percentile(99), waves[i].meanwhile.Max(),
			len(waves[i].meanwhile))
	}
	rate := func(w waveResult) float64 { return float64(len(w.late)) / w.late.Max().Seconds() }
	half := ms("half of them at the carrier after", waves[0].late.Percentile(50), waves[1].late.Percentile(50))
	last := ms("all of them at the carrier after", waves[0].late.Max(), waves[1].late.Max())
	meanwhile := ms("reply meanwhile, median", waves[0].meanwhile.Percentile(50), waves[1].meanwhile.Percentile(50))
	meanwhile.Target = target(2 * Milliseconds(waves[0].before.Percentile(50)))
	figures := []Figure{
		{Name: "prompts handed to the carrier", Unit: "/s", Better: Higher, Product: rate(waves[0]), Bare: pointerTo(rate(waves[1])), Target: ratioTarget(0.8)},
		half, last,
		ms("reply before, median", waves[0].before.Percentile(50), waves[1].before.Percentile(50)),
		meanwhile,
		ms("reply meanwhile, p99", waves[0].meanwhile.Percentile(99), waves[1].meanwhile.Percentile(99)),
	}
	cost := costFigures("a prompt", 1, waves[0].cost, waves[1].cost)
	cost[0].Target = target(promptEvents)
	figures = append(figures, cost...)
	for i := range figures {
		figures[i].Case, figures[i].Count = fmt.Sprintf("%d prompts in %v", n, b.Product.Slope().Spread), n
	}
	return figures, nil
}

// waveResult is one side's prompts: when each came after the first was due, how long
// replies took before and meanwhile, and what a prompt left in Temporal.
type waveResult struct {
	late, before, meanwhile Durations
	cost                    rig.Cost
}

func (b *Bench) wave(ctx context.Context, s side, n int) (waveResult, error) {
	var w waveResult
	began := time.Now()
	people, err := b.enrollPeople(ctx, s, n)
	if err != nil {
		return w, err
	}
	asking := time.Duration(askingShare * float64(time.Since(began)))
	probes, err := b.enrollPeople(ctx, s, promptProbes)
	if err != nil {
		return w, err
	}
	ahead := b.Product.Slope().Ahead
	clock := time.Now().UTC().Add(ahead + promptMargin + asking).Truncate(time.Minute).Add(time.Minute)
	begin := clock.Add(-ahead)
	if err := b.setDailyPrompts(ctx, s, people, clock.Format("15:04")); err != nil {
		return w, err
	}
	coming := make([]*rig.Wait, n)
	for i, p := range people {
		coming[i] = b.Carrier.Expect(p.phone, 0)
	}
	one := s.WorkflowID(people[0].phone)
	before, err := b.Cost(ctx, one)
	if err != nil {
		return w, err
	}
	if w.before, err = b.chat(ctx, s, probes, begin.Add(-promptMargin/2)); err != nil {
		return w, err
	}
	if left := time.Until(begin); left < 0 {
		return w, fmt.Errorf("setting %d prompts took %v too long", n, -left)
	} else if err := wait.For(ctx, left); err != nil {
		return w, err
	}
	if w.late, w.meanwhile, err = b.fall(ctx, promptWatch{s, begin, coming, probes}); err != nil {
		return w, err
	}
	after, err := b.Cost(ctx, one)
	w.cost = after.Minus(before)
	return w, err
}

func (b *Bench) setDailyPrompts(ctx context.Context, s side, people []*person, clock string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(enrolling)
	for _, p := range people {
		group.Go(func() error {
			p.said++
			_, err := b.sendText(ctx, s, p, rig.DailyBody(p.said, clock))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("setting prompts: %w", err)
	}
	return nil
}

// chat has probes text one after the other until an instant, once at least.
func (b *Bench) chat(ctx context.Context, s side, probes []*person, until time.Time) (Durations, error) {
	var took Durations
	for i := 0; i == 0 || time.Now().Before(until); i++ {
		d, err := b.exchange(ctx, s, probes[i%len(probes)])
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

// promptWatch is what is about to come to the carrier.
type promptWatch struct {
	side   side
	begin  time.Time
	coming []*rig.Wait
	probes []*person
}

// fall waits for all prompts while the probes go on.
func (b *Bench) fall(ctx context.Context, f promptWatch) (late, meanwhile Durations, err error) {
	chatting, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		var err error
		for err == nil && chatting.Err() == nil {
			var took Durations
			took, err = b.chat(ctx, f.side, f.probes, time.Now())
			meanwhile = append(meanwhile, took...)
		}
		done <- err
	}()
	for _, c := range f.coming {
		at, err := c.At(ctx)
		if err != nil {
			return nil, nil, err
		}
		late = append(late, at.Sub(f.begin))
	}
	stop()
	err = <-done
	return late, meanwhile, err
}
