package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/models"
	"coachline/models/wire"
	"coachline/workflows"
)

const (
	// answerTime is how long after a text the step is looked at, look how long
	// until the next look where a turn still runs. Both are the environment's
	// time, which stands still while a model is asked.
	answerTime = time.Minute
	look       = 10 * time.Second
	mostLooks  = 1000
)

// progress is where a conversation stands.
type progress struct {
	steps  []Exchange
	before Stored
	// turn is the newest turn of the steps so far.
	turn  int
	texts int
	// wrote is when the person's newest text was delivered, by the clock of this machine.
	wrote  time.Time
	broken *brokenTools
	err    error

	mu sync.Mutex
	// leaving are turns that something is to be remembered of.
	leaving []wire.RememberInput
}

// Remember implements activities.Background: what follows a reply is done
// before the next step.
func (p *progress) Remember(_ context.Context, in wire.RememberInput) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving = append(p.leaving, in)
	return nil
}

func (p *conversation) run() ([]Exchange, error) {
	state := wire.ParticipantState{
		ParticipantID: personID, Zone: p.script.Person.Zone, Status: wire.StatusActive,
		Mode: resident{Person: p.script.Person}.mode(), Greeted: !p.script.Person.New, Restore: !p.script.Person.New,
	}
	if state.Restore {
		p.progress.turn = 1 // The one that stored the profile.
	}
	// The workflow answers no query before it has begun.
	p.schedule(time.Second, func() error { return p.beginStep(0) })
	p.env.ExecuteWorkflow(workflows.Participant, state)
	if p.progress.err == nil && len(p.progress.steps) < len(p.script.Steps) {
		return nil, fmt.Errorf("the workflow ended early: %w", errors.Join(p.env.GetWorkflowError(), p.ctx.Err()))
	}
	return p.progress.steps, p.progress.err
}

// guard is a callback that ends the conversation at its first error.
func (p *conversation) guard(do func() error) func() {
	return func() {
		err := p.ctx.Err()
		if err == nil {
			err = do()
		}
		if err != nil {
			p.progress.err = err
			p.env.CancelWorkflow()
		}
	}
}

func (p *conversation) schedule(after time.Duration, do func() error) {
	p.env.RegisterDelayedCallback(p.guard(do), after)
}

// open begins a step: its wait, then its text.
func (p *conversation) beginStep(number int) error {
	if number == len(p.script.Steps) {
		p.env.CancelWorkflow()
		return nil
	}
	step := p.script.Steps[number]
	p.progress.broken.names = step.Broken
	if step.Text == "" {
		var err error
		if p.progress.before, err = p.readStored(); err != nil {
			return err
		}
		p.schedule(max(step.Wait, answerTime), func() error { return p.finishStep(number, 0) })
		return nil
	}
	p.schedule(step.Wait, func() error {
		if err := p.discardWaiting(); err != nil {
			return err
		}
		if err := p.sendText(step.Text); err != nil {
			return err
		}
		p.schedule(answerTime, func() error { return p.finishStep(number, 0) })
		return nil
	})
	return nil
}

// discardWaiting leaves out what happened while time passed before a text: it
// belongs to no step.
func (p *conversation) discardWaiting() error {
	p.model.take()
	p.carrier.take(time.Now())
	view, err := p.status()
	if err != nil {
		return err
	}
	p.progress.turn = max(p.progress.turn, view.Turns)
	p.progress.before, err = p.readStored()
	return err
}

// sendText delivers a text as the starter does.
func (p *conversation) sendText(body string) error {
	p.progress.texts++
	p.progress.wrote = time.Now()
	in := models.Inbound{
		ProviderSID: fmt.Sprintf("SM%032d", p.progress.texts), From: phone, To: ourPhone, Body: body, ReceivedAt: p.env.Now().UTC(),
	}
	got, err := p.store.Inbound.AcceptInbound(p.ctx, in)
	if err != nil {
		return fmt.Errorf("delivering a text: %w", err)
	}
	if got.Inbound.Seq == 0 {
		return fmt.Errorf("rules answer %q, and no model is asked (%s%s%s)", body, got.Inbound.Intent, got.Inbound.Limit, got.Inbound.Danger)
	}
	p.env.SignalWorkflow(wire.SignalMessageReceived, wire.InboxItem{
		MessageID: got.Inbound.ID, Seq: got.Inbound.Seq, ReceivedAt: got.Inbound.ReceivedAt,
	})
	return nil
}

// finishStep ends a step once no turn runs: what follows the reply is done, and the
// step is written down.
func (p *conversation) finishStep(number, looks int) error {
	view, err := p.status()
	if err != nil {
		return err
	}
	if view.InTurn || view.Waiting > 0 {
		if looks == mostLooks {
			return fmt.Errorf("step %d: the turn does not end", number+1)
		}
		p.schedule(look, func() error { return p.finishStep(number, looks+1) })
		return nil
	}
	if !p.driver.rests || p.hasRested(number+1) {
		if err := p.runMemoryStep(); err != nil {
			return err
		}
	}
	done, err := p.exchange(p.script.Steps[number].Text, view.Turns)
	if err != nil {
		return fmt.Errorf("step %d: %w", number+1, err)
	}
	p.progress.steps = append(p.progress.steps, done)
	p.progress.turn = view.Turns
	return p.beginStep(number + 1)
}

// hasRested reports whether the conversation rests before a step, or ends.
func (p *conversation) hasRested(next int) bool {
	return next == len(p.script.Steps) || p.script.Steps[next].Wait >= p.driver.settings.Replies.HotWindow
}

func (p *conversation) status() (wire.StatusView, error) {
	var view wire.StatusView
	value, err := p.env.QueryWorkflow(wire.QueryStatus)
	if err == nil {
		err = value.Get(&view)
	}
	if err != nil {
		return view, fmt.Errorf("asking the workflow: %w", err)
	}
	return view, nil
}

// runMemoryStep runs what follows the replies so far, as the activity that it is.
func (p *conversation) runMemoryStep() error {
	p.progress.mu.Lock()
	leaving := p.progress.leaving
	p.progress.leaving = nil
	p.progress.mu.Unlock()
	p.model.setBackground(true)
	defer p.model.setBackground(false)
	for i, in := range leaving {
		env := p.suite.NewTestActivityEnvironment()
		env.SetTestTimeout(patience)
		env.RegisterActivity(p.keeping)
		_, err := env.ExecuteActivity(p.keeping.Remember, in)
		if failed := (*temporal.ApplicationError)(nil); errors.As(err, &failed) && failed.Type() == wire.ErrTypeModelBusy {
			// The engine tries it again later; here the next memory step does.
			p.progress.mu.Lock()
			p.progress.leaving = append(slices.Clone(leaving[i:]), p.progress.leaving...)
			p.progress.mu.Unlock()
			return nil
		}
		if err != nil {
			return fmt.Errorf("remembering turn %s: %w", in.TurnID, err)
		}
	}
	return nil
}
