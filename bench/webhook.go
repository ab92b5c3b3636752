package main

import (
	"context"
	"time"

	"coachline/bench/rig"
	"coachline/internal/wait"
)

const (
	webhookPeople = 40
	webhookTexts  = 5 // of each person
	webhookLimit  = 20 * time.Millisecond
	// webhookEvery is the time between two webhooks: more than any programme
	// gets, and little enough that the figure is not the queue of a burst.
	webhookEvery = 20 * time.Millisecond
)

// webhook is how long the carrier waits for an answer while the model hangs.
func webhook(ctx context.Context, b *Bench) ([]Figure, error) {
	b.Model.SetDelay(0)
	people, err := b.enrollPeople(ctx, b.Product, b.Options.people(webhookPeople))
	if err != nil {
		return nil, err
	}
	others, err := b.enrollPeople(ctx, b.Webhook, len(people))
	if err != nil {
		return nil, err
	}
	product, err := b.hanging(ctx, b.Product, people)
	if err != nil {
		return nil, err
	}
	least, err := b.hanging(ctx, b.Webhook, others)
	if err != nil {
		return nil, err
	}
	figures := percentileFigures("webhook answered", []Durations{product, least})
	for i := range figures {
		figures[i].Case, figures[i].Target = "model hangs", nil
		figures[i].Bare, figures[i].Webhook = nil, figures[i].Bare
	}
	figures[2].Target = target(Milliseconds(webhookLimit))
	return figures, nil
}

// hanging sends texts at a steady pace while the model hangs, and waits
// afterwards until all of them are answered.
func (b *Bench) hanging(ctx context.Context, s side, people []*person) (Durations, error) {
	release := b.Model.Hang()
	defer release()
	var took Durations
	var answers []*rig.Wait
	for range webhookTexts {
		for _, p := range people {
			p.said++
			began := time.Now()
			if err := s.Text(ctx, p.phone, rig.Body(p.said, 0)); err != nil {
				return nil, err
			}
			took = append(took, time.Since(began))
			if err := wait.For(ctx, webhookEvery-time.Since(began)); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range people {
		answers = append(answers, b.Carrier.Expect(p.phone, p.said))
	}
	release()
	for _, answer := range answers {
		if _, err := answer.At(ctx); err != nil {
			return nil, err
		}
	}
	return took, nil
}
