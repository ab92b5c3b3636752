package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"coachline/bench/rig"
	"coachline/internal/sim/openai"
	"coachline/internal/wait"
)

// ceilingPrices are those of deploy/prices.example.json, with the stand-in at the price of
// gpt-4.1-mini.
const ceilingPrices = `{"currency": "USD", "models": {%q: {"input": 0.40, "cached_input": 0.10, "output": 1.60}},
	"destinations": {"+1": {"outbound": 0.0083, "inbound": 0.0083, "carrier_fee": 0.003}}}`

// ceilingSettings are the programme's defaults where a load of the benchmark has others,
// every tool, and prices, without which no limit of money counts. They stand in a file
// until remove.
func ceilingSettings() (settings []string, remove func() error, err error) {
	file, err := os.CreateTemp("", "prices-*.json")
	if err != nil {
		return nil, nil, fmt.Errorf("making the price list: %w", err)
	}
	remove = func() error { return os.Remove(file.Name()) }
	_, err = fmt.Fprintf(file, ceilingPrices, openai.Model)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("writing the price list: %w", err), remove())
	}
	return []string{
		"COACH_PRICES_FILE=" + file.Name(), "COACH_TEXTS_PER_DAY=300", "COACH_MEMORY_STEP=after",
		"COACH_WEB_SEARCH_URL={outside}" + rig.SearchPath, "COACH_WEB_FETCH=on", "COACH_WEB_ALLOW={host}", "COACH_SUBAGENTS=on", "COACH_MESSAGE_TOOL=on",
	}, remove, nil
}

const (
	// dayTexts is more than a person's texts of a day that reach the coach.
	dayTexts = 310
	// strangers text within an hour, each from a number of its own; every other one in a
	// crisis.
	strangers = 200
)

// ceilings is what a hostile model and hostile texters can make the product spend: a
// turn, a person's day, an hour of strangers.
func ceilings(ctx context.Context, b *Bench) ([]Figure, error) {
	people, err := b.enrollPeople(ctx, b.Product, 1)
	if err != nil {
		return nil, err
	}
	one := people[0]
	turn, err := b.spend(ctx, func() error { return b.textGreedily(ctx, one) })
	if err != nil {
		return nil, err
	}
	day, err := b.spend(ctx, func() error {
		for range dayTexts {
			if err := b.textGreedily(ctx, one); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	hour, err := b.spend(ctx, func() error {
		for i, p := range b.newcomers(strangers) {
			body := "who are you?"
			if i%2 == 1 {
				body = "I want to kill myself"
			}
			if err := b.Product.Text(ctx, p.phone, body); err != nil {
				return err
			}
		}
		return wait.For(ctx, settleTime)
	})
	if err != nil {
		return nil, err
	}
	all, err := b.Product.Spending(ctx)
	figures := ceilingFigures("a turn", turn, turnLimit)
	figures = append(figures, ceilingFigures("a person and day", day, dayLimit)...)
	figures = append(figures, ceilingFigures("strangers and hour", hour, hourLimit)...)
	return append(figures, ceilingFigures("installation and hour", all, dayLimit+hourLimit)...), err
}

// What each may cost by default, in USD. The installation has one hostile person.
const (
	turnLimit = 0.10
	dayLimit  = 2
	hourLimit = 5
)

// settleTime is how long texts to strangers may take after the last one came.
const settleTime = 10 * time.Second

// spend returns what some work has cost.
func (b *Bench) spend(ctx context.Context, work func() error) (rig.Spending, error) {
	before, err := b.Product.Spending(ctx)
	if err != nil {
		return before, err
	}
	if err := work(); err != nil {
		return before, err
	}
	after, err := b.Product.Spending(ctx)
	return after.Minus(before), err
}

// textGreedily sends a text for which the model asks for all it may, and waits until the
// person's workflow is idle again.
func (b *Bench) textGreedily(ctx context.Context, p *person) error {
	p.said++
	taken := b.Carrier.Taken()
	if err := b.Product.Text(ctx, p.phone, rig.GreedyBody(p.said)); err != nil {
		return err
	}
	// A text above a limit asks no model and is answered by nothing.
	asked := b.Model.Calls()
	for waited := time.Duration(0); b.Carrier.Taken() == taken && b.Model.Calls() == asked && waited < noAnswer; waited += lookEvery {
		if err := wait.For(ctx, lookEvery); err != nil {
			return fmt.Errorf("waiting for an answer: %w", err)
		}
	}
	return b.Idle(ctx, b.Product.WorkflowID(p.phone))
}

const (
	lookEvery = 10 * time.Millisecond
	noAnswer  = 300 * time.Millisecond
)

// ceilingFigures are one spending, with a target for the money.
func ceilingFigures(of string, spent rig.Spending, most float64) []Figure {
	var figures []Figure
	for i, one := range rig.Counted {
		figure := Figure{Case: of, Name: one.Name, Unit: "count", Count: 1, Product: float64(spent[i]), Better: Lower}
		if one.Name == rig.Money || one.Name == rig.MoneyIn {
			figure.Unit, figure.Product = "USD", figure.Product/1e6
		}
		if one.Name == rig.Money {
			figure.Target = target(most)
		}
		figures = append(figures, figure)
	}
	return figures
}
