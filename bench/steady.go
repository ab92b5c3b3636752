package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

const (
	steadyRounds = 4
	steadyTexts  = 40 // a round of one person
	steadyRound  = 3 * time.Second
	steadyPeople = 60
)

// steady is inbound texts without a pause: first one person at a time, which
// shows the latency, then many people who each text as soon as they are
// answered, which shows what the system can do.
func steady(ctx context.Context, b *Bench) ([]Figure, error) {
	delay := b.Options.delay()
	b.Model.SetDelay(delay)
	sides := []side{b.Product, b.Bare, b.Webhook}
	alone, err := b.crowds(ctx, sides, 1)
	if err != nil {
		return nil, err
	}
	figures, err := b.latency(ctx, sides, alone)
	if err != nil {
		return nil, err
	}
	n := b.Options.people(steadyPeople)
	crowd, err := b.crowds(ctx, sides, n)
	if err != nil {
		return nil, err
	}
	more, err := b.throughput(ctx, sides, crowd)
	if err != nil {
		return nil, err
	}
	for i := range more {
		more[i].Case = fmt.Sprintf("model %v, %d people", delay, n)
	}
	for i := range figures {
		figures[i].Case = fmt.Sprintf("model %v, 1 person", delay)
	}
	all := append(figures, more...)
	if delay > 0 {
		// The targets are for a model that takes no time.
		for i := range all {
			all[i].Target = nil
		}
	}
	return all, nil
}

// crowds enrols as many people on every side.
func (b *Bench) crowds(ctx context.Context, sides []side, n int) ([][]*person, error) {
	crowds := make([][]*person, len(sides))
	for i, s := range sides {
		var err error
		if crowds[i], err = b.enrollPeople(ctx, s, n); err != nil {
			return nil, err
		}
	}
	return crowds, nil
}

// latency takes turns between the sides, one text after the other.
func (b *Bench) latency(ctx context.Context, sides []side, crowds [][]*person) ([]Figure, error) {
	took := make([]Durations, len(sides))
	for range steadyRounds {
		for i, s := range sides {
			for range steadyTexts {
				d, err := b.exchange(ctx, s, crowds[i][0])
				if err != nil {
					return nil, err
				}
				took[i] = append(took[i], d)
			}
		}
	}
	return percentileFigures("text to carrier", took), nil
}

// percentileFigures is median, p95 and p99 of the three sides; the median has the target.
func percentileFigures(what string, took []Durations) []Figure {
	var figures []Figure
	for _, p := range []struct {
		name  string
		value float64
	}{{"median", 50}, {"p95", 95}, {"p99", 99}} {
		f := ms(what+", "+p.name, took[0].Percentile(p.value), took[1].Percentile(p.value))
		f.Count = len(took[0])
		if len(took) > 2 {
			f.Webhook = pointerTo(Milliseconds(took[2].Percentile(p.value)))
		}
		figures = append(figures, f)
	}
	figures[0].Target = ratioTarget(1.25)
	return figures
}

// tally is what one side did in all its rounds.
type tally struct {
	replies int
	took    Durations
	wall    time.Duration
	usage   usage
}

// throughput has all people text again as soon as they are answered.
func (b *Bench) throughput(ctx context.Context, sides []side, crowds [][]*person) ([]Figure, error) {
	tallies := make([]tally, len(sides))
	for range steadyRounds {
		for i, s := range sides {
			if err := b.round(ctx, s, crowds[i], &tallies[i]); err != nil {
				return nil, err
			}
		}
	}
	rate := func(t tally) float64 { return float64(t.replies) / t.wall.Seconds() }
	per := func(t tally, v float64) float64 { return v / float64(t.replies) }
	cpu := func(t tally) float64 { return per(t, Milliseconds(t.usage.cpu)) }
	kilobytes := func(t tally) float64 { return per(t, float64(t.usage.allocs)/1024) }
	var figures []Figure
	for _, f := range []struct {
		figure Figure
		value  func(tally) float64
	}{
		{Figure{Name: "replies", Unit: "/s", Better: Higher, Target: ratioTarget(0.85)}, rate},
		{Figure{Name: "processor a reply, server and stand-ins too", Unit: "ms", Better: Lower, Target: ratioTarget(1.2)}, cpu},
		{Figure{Name: "memory handed out a reply, server and stand-ins too", Unit: "KiB", Better: Lower}, kilobytes},
	} {
		f.figure.Count, f.figure.Product = tallies[0].replies, f.value(tallies[0])
		f.figure.Bare, f.figure.Webhook = pointerTo(f.value(tallies[1])), pointerTo(f.value(tallies[2]))
		figures = append(figures, f.figure)
	}
	under := percentileFigures("text to carrier", []Durations{tallies[0].took, tallies[1].took, tallies[2].took})
	under[0].Target = nil
	return append(figures, under...), nil
}

// round lets one side work for a while; a text begun in time is waited for.
func (b *Bench) round(ctx context.Context, s side, people []*person, t *tally) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := processor(), time.Now()
	all := make(chan Durations, len(people))
	_, err := doTogether(ctx, people, func(ctx context.Context, p *person) (time.Duration, error) {
		var mine Durations
		for time.Since(began) < steadyRound {
			d, err := b.exchange(ctx, s, p)
			if err != nil {
				return 0, err
			}
			mine = append(mine, d)
		}
		all <- mine
		return 0, nil
	})
	if err != nil {
		return err
	}
	t.wall += time.Since(began)
	t.usage.cpu += processor() - cpu
	runtime.ReadMemStats(&after)
	t.usage.allocs += after.TotalAlloc - before.TotalAlloc
	for range people {
		mine := <-all
		t.took, t.replies = append(t.took, mine...), t.replies+len(mine)
	}
	return nil
}
