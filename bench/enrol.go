package main

import (
	"context"
	"fmt"
	"time"
)

const enrolPeople = 300

// enrol takes many people into the programme; each is greeted.
func enrol(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(b.Options.delay())
	n := b.Options.people(enrolPeople)
	var rates [2]float64
	took := make([]Durations, 2)
	for i, s := range []side{b.Product, b.Bare} {
		began := time.Now()
		var err error
		if took[i], err = b.enrolAndGreet(ctx, s, b.newcomers(n)); err != nil {
			return nil, err
		}
		rates[i] = float64(n) / time.Since(began).Seconds()
	}
	figures := append(percentileFigures("enrolment to greeting", took), Figure{
		Name: "greeted", Unit: "/s", Better: Higher, Count: n, Product: rates[0], Bare: pointerTo(rates[1]),
	})
	figures[0].Target = nil
	for i := range figures {
		figures[i].Case = fmt.Sprintf("%d people, %d at a time", n, enrolling)
	}
	return figures, nil
}
