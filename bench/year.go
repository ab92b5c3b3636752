package main

import (
	"context"
	"fmt"

	"coachline/bench/rig"
)

const (
	yearTexts = 365 * 2
	yearEnds  = 50 // texts at each end that are compared
)

// year is one person's history of a year, two texts a day, one after the
// other: the last answers must not take longer than the first.
func year(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(0)
	sides := []side{b.Product, b.Bare}
	crowds, err := b.crowds(ctx, sides, 1)
	if err != nil {
		return nil, err
	}
	took := make([]Durations, len(sides))
	for range yearTexts {
		for i, s := range sides {
			d, err := b.exchange(ctx, s, crowds[i][0])
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], d)
		}
	}
	var costs [2]rig.Cost
	for i, s := range sides {
		if costs[i], err = b.Cost(ctx, s.WorkflowID(crowds[i][0].phone)); err != nil {
			return nil, err
		}
	}
	end := func(d Durations) Durations { return d[yearTexts-yearEnds:] }
	first := ms(fmt.Sprintf("text to carrier, first %d, median", yearEnds), took[0][:yearEnds].Percentile(50), took[1][:yearEnds].Percentile(50))
	last := ms(fmt.Sprintf("text to carrier, last %d, median", yearEnds), end(took[0]).Percentile(50), end(took[1]).Percentile(50))
	last.Target = target(2 * first.Product)
	count := func(name, unit string, product, bare float64) Figure {
		return Figure{Name: name, Unit: unit, Product: product, Bare: pointerTo(bare), Better: Lower}
	}
	figures := []Figure{
		first, last,
		count("runs of the workflow", "runs", float64(costs[0].Runs), float64(costs[1].Runs)),
		count("history of the year", "events", float64(costs[0].Events), float64(costs[1].Events)),
		count("history of the year", "bytes", float64(costs[0].Bytes), float64(costs[1].Bytes)),
		count("billable actions of the year", "actions", float64(costs[0].Actions), float64(costs[1].Actions)),
	}
	for i := range figures {
		figures[i].Case, figures[i].Count = fmt.Sprintf("%d texts", yearTexts), yearTexts
	}
	return figures, nil
}
