package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"coachline/models"
	"coachline/models/wire"
	"coachline/starter/relay"
	"coachline/worker"
)

// eventsPerTurn is what a turn adds to a history, as far as it counts for the end
// of a run; the test environment has no history.
const eventsPerTurn = 20

// person is one simulated person with everything of the programme that is theirs
// alone: the workflow, its activities, and the clock that all of it reads. What has
// no lock is touched by the environment's loop and by the one activity that it
// waits for.
type person struct {
	r       *run
	id      string
	phone   string
	habits  habits
	draw    *rand.Rand
	agenda  agenda
	relay   *relay.Relay
	carrier *carrier
	number  int
	arm     string
	stratum string
	heard   conversation
	// activities are registered in every run, jobs runs those of no workflow.
	activities *worker.Set
	jobs       *jobs

	mu    sync.Mutex
	env   *testsuite.TestWorkflowEnvironment // nil between two runs
	clock time.Time                          // while no run is under way
	start *wire.ParticipantState             // of the run that is to begin
	// signals and updates are what this run was told and may not have taken when it
	// ended.
	signals []wire.InboxItem
	updates []*updated
	turns   int
}

func (p *person) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.env != nil {
		return p.env.Now().UTC().Truncate(time.Microsecond)
	}
	return p.clock
}

// at has something done at an instant.
func (p *person) at(at time.Time, do func()) {
	it := p.agenda.add(at, do)
	p.mu.Lock()
	env := p.env
	p.mu.Unlock()
	if env != nil {
		p.armItem(env, it)
	}
}

func (p *person) after(pause time.Duration, do func()) { p.at(p.now().Add(pause), do) }

// armItem has the environment of a run do an item at its time.
func (p *person) armItem(env *testsuite.TestWorkflowEnvironment, it *item) {
	env.RegisterDelayedCallback(func() {
		if p.agenda.take(it) {
			it.do()
		}
	}, max(it.at.Sub(env.Now()), time.Nanosecond))
}

// runs reports whether the workflow runs or is about to begin.
func (p *person) runs() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.env != nil || p.start != nil
}

// begin has the workflow begin with the first of the arguments.
func (p *person) begin(args []any) error {
	state, ok := args[0].(wire.ParticipantState)
	if !ok {
		return fmt.Errorf("the workflow begins with a %T", args[0])
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.start = &state
	return nil
}

// signal tells the workflow of a text.
func (p *person) signal(received wire.InboxItem) {
	p.mu.Lock()
	p.signals = append(p.signals, received)
	env := p.env
	p.mu.Unlock()
	if env != nil {
		env.SignalWorkflow(wire.SignalMessageReceived, received)
	}
}

// updated is an update of the workflow; one that a run did not take goes to the
// next one.
type updated struct {
	options client.UpdateWorkflowOptions
	mu      sync.Mutex
	taken   bool
}

// Accept implements the callbacks of an update.
func (u *updated) Accept() { u.take() }

// Reject implements the callbacks of an update. The same update would be rejected
// for ever.
func (u *updated) Reject(error) { u.take() }

// Complete implements the callbacks of an update.
func (u *updated) Complete(any, error) { u.take() }

func (u *updated) take() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.taken = true
}

func (u *updated) isTaken() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.taken
}

func (p *person) update(options client.UpdateWorkflowOptions) {
	u := &updated{options: options}
	p.mu.Lock()
	p.updates = append(p.updates, u)
	env := p.env
	p.mu.Unlock()
	if env != nil {
		env.UpdateWorkflow(options.UpdateName, options.UpdateID, u, options.Args...)
	}
}

// play runs everything that happens to the person until the end of the study.
func (p *person) play(ctx context.Context) error {
	for ctx.Err() == nil {
		p.mu.Lock()
		state := p.start
		p.start = nil
		p.mu.Unlock()
		if state != nil {
			if err := p.runWorkflow(*state); err != nil {
				return err
			}
			continue
		}
		it := p.agenda.next()
		if it == nil || !it.at.Before(p.r.until) {
			return nil
		}
		p.mu.Lock()
		if it.at.After(p.clock) {
			p.clock = it.at
		}
		p.mu.Unlock()
		if p.agenda.take(it) {
			it.do()
		}
	}
	return ctx.Err()
}

func (p *person) runWorkflow(state wire.ParticipantState) error {
	env := p.r.suite.NewTestWorkflowEnvironment()
	env.SetStartTime(p.clock)
	env.SetTestTimeout(stuckAfter)
	env.SetWorkerOptions(workerOptions)
	env.SetWorkflowRunTimeout(p.r.until.Sub(p.clock))
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: models.WorkflowID(p.id), TaskQueue: wire.QueueCoach})
	env.SetOnTimerFiredListener(func(string) { p.countEvents(env) })
	p.activities.Register(env)
	p.mu.Lock()
	p.env, p.turns = env, 0
	signals, updates := p.signals, p.updates
	p.mu.Unlock()
	for _, it := range p.agenda.open() {
		p.armItem(env, it)
	}
	env.RegisterDelayedCallback(func() {
		for _, s := range signals {
			env.SignalWorkflow(wire.SignalMessageReceived, s)
		}
		for _, u := range updates {
			env.UpdateWorkflow(u.options.UpdateName, u.options.UpdateID, u, u.options.Args...)
		}
	}, time.Nanosecond)
	env.ExecuteWorkflow(wire.WorkflowType, state)
	return p.endRun(env)
}

// countEvents tells the workflow how long its history would be.
func (p *person) countEvents(env *testsuite.TestWorkflowEnvironment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	env.SetCurrentHistoryLength(eventsPerTurn * p.turns)
}

func (p *person) endRun(env *testsuite.TestWorkflowEnvironment) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock, p.env = env.Now().UTC().Truncate(time.Microsecond), nil
	err := env.GetWorkflowError()
	var next *workflow.ContinueAsNewError
	if errors.As(err, &next) {
		var state wire.ParticipantState
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &state); err != nil {
			return fmt.Errorf("reading the state of %s: %w", p.id, err)
		}
		p.start = &state
		p.keepUntaken(state.Inbox.LastSeq)
		p.r.count(func(t *tally) { t.Runs++ })
		return nil
	}
	p.signals, p.updates = nil, nil
	if err != nil && p.clock.Before(p.r.until) {
		return fmt.Errorf("the workflow of %s failed on %s: %w", p.id, p.clock.Format(time.RFC3339), err)
	}
	return nil
}

// keepUntaken keeps what the ended run was told and has not taken: the next run is
// told again.
func (p *person) keepUntaken(lastSeq int64) {
	var signals []wire.InboxItem
	for _, s := range p.signals {
		if s.Seq > lastSeq {
			signals = append(signals, s)
		}
	}
	var updates []*updated
	for _, u := range p.updates {
		if !u.isTaken() {
			updates = append(updates, u)
		}
	}
	p.signals, p.updates = signals, updates
}
