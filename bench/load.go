package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"coachline/bench/rig"
)

// side is one of the systems that are measured.
type side interface {
	Name() string
	// Enrol takes a phone into the programme; a greeting follows by itself.
	Enrol(ctx context.Context, phone string) error
	// Text delivers one text and returns when the webhook is answered.
	Text(ctx context.Context, phone, body string) error
	WorkflowID(phone string) string
}

// Options are what a run asks of every load; zero values leave a load its own.
type Options struct {
	People int
	// Delay of the model; nil leaves a load its own.
	Delay *time.Duration
	// Rest bounds how long disk waits for the work that follows replies.
	Rest time.Duration
	// Progress is told what a long load has come to so far.
	Progress io.Writer
}

// people is the asked number or the load's own.
func (o Options) people(own int) int {
	if o.People > 0 {
		return o.People
	}
	return own
}

func (o Options) delay() time.Duration {
	if o.Delay != nil {
		return *o.Delay
	}
	return 0
}

// Load is one kind of work.
type Load struct {
	Name string
	// Default loads run when none is named; together they take less than five
	// minutes on two cores.
	Default bool
	// Limit bounds the load in time.
	Limit time.Duration
	// Outside: the load needs model and carrier alone and starts the whole
	// system itself.
	Outside bool
	Run     func(context.Context, *Bench) ([]Figure, error)
}

// All lists every load in the order in which they run.
func All() []Load {
	loads := []Load{
		{Name: "cost", Default: true, Limit: time.Minute, Run: cost},
		{Name: "steady", Default: true, Limit: 4 * time.Minute, Run: steady},
		{Name: "burst", Default: true, Limit: 2 * time.Minute, Run: burst},
		{Name: "prompts", Limit: time.Hour, Run: prompts},
		{Name: "restart", Default: true, Limit: time.Hour, Run: restart},
		{Name: "kills", Limit: time.Hour, Run: kills},
		{Name: "ceilings", Limit: 20 * time.Minute, Run: ceilings},
		{Name: "disk", Limit: time.Hour, Outside: true, Run: disk},
	}
	for _, name := range slices.Sorted(maps.Keys(crowds)) {
		loads = append(loads, Load{Name: name, Limit: time.Hour, Run: beside(crowds[name])})
	}
	return loads
}

// Bench is a rig with the people on it.
type Bench struct {
	*rig.Rig
	Options Options
	numbers atomic.Int64
}

// New is a rig without people.
func New(r *rig.Rig, o Options) *Bench { return &Bench{Rig: r, Options: o} }

// enrolling is how many requests are under way at once.
const enrolling = 16

// person is a participant of one side; said counts their texts.
type person struct {
	phone string
	said  int
}

// newcomers are people who are not enrolled yet.
func (b *Bench) newcomers(n int) []*person {
	people := make([]*person, n)
	for i := range people {
		people[i] = &person{phone: fmt.Sprintf("+1212%07d", 2_000_000+b.numbers.Add(1))}
	}
	return people
}

// enrollPeople enrols newcomers and waits until they are greeted.
func (b *Bench) enrollPeople(ctx context.Context, s side, n int) ([]*person, error) {
	people := b.newcomers(n)
	_, err := b.enrolAndGreet(ctx, s, people)
	return people, err
}

// enrolAndGreet enrols people and returns how long each greeting took.
func (b *Bench) enrolAndGreet(ctx context.Context, s side, people []*person) (Durations, error) {
	took := make(Durations, len(people))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(enrolling)
	for i, p := range people {
		group.Go(func() error {
			greeting := b.Carrier.Expect(p.phone, 0)
			began := time.Now()
			if err := s.Enrol(ctx, p.phone); err != nil {
				return err
			}
			at, err := greeting.At(ctx)
			took[i] = at.Sub(began)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("enrolling people of side %s: %w", s.Name(), err)
	}
	return took, nil
}

// exchange is one text and the wait for its answer: the time from the call to
// the carrier's receipt.
func (b *Bench) exchange(ctx context.Context, s side, p *person) (time.Duration, error) {
	p.said++
	return b.sendText(ctx, s, p, rig.Body(p.said, 0))
}

func (b *Bench) sendText(ctx context.Context, s side, p *person, body string) (time.Duration, error) {
	answer := b.Carrier.Expect(p.phone, p.said)
	began := time.Now()
	if err := s.Text(ctx, p.phone, body); err != nil {
		return 0, err
	}
	at, err := answer.At(ctx)
	return at.Sub(began), err
}

// doTogether has all people do the same at the same time.
func doTogether(ctx context.Context, people []*person, do func(context.Context, *person) (time.Duration, error)) (Durations, error) {
	var mu sync.Mutex
	var took Durations
	var problems error
	var group sync.WaitGroup
	for _, p := range people {
		group.Go(func() {
			d, err := do(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				problems = errors.Join(problems, err)
				return
			}
			took = append(took, d)
		})
	}
	group.Wait()
	// All or an error: a percentile over those who were answered would hide
	// the others.
	return took, problems
}

// doInTurn does work n times, so much of it at once, and returns how long each
// took.
func doInTurn(ctx context.Context, n, atOnce int, work func(ctx context.Context, i int) (time.Duration, error)) (Durations, error) {
	took := make(Durations, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() (err error) {
			took[i], err = work(ctx, i)
			return err
		})
	}
	return took, group.Wait()
}

// usage is the processor time and the memory handed out in this process.
type usage struct {
	cpu    time.Duration
	allocs uint64
}

func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func ms(name string, product, bare time.Duration) Figure {
	b := Milliseconds(bare)
	return Figure{Name: name, Unit: "ms", Product: Milliseconds(product), Bare: &b, Better: Lower}
}

// singleFigure builds a figure of a duration that has no other side.
func singleFigure(name string, took time.Duration) Figure {
	return Figure{Name: name, Unit: "ms", Product: Milliseconds(took), Better: Lower}
}

// withCase completes figures of so many people.
func withCase(figures []Figure, what string, n int) []Figure {
	for i := range figures {
		figures[i].Case, figures[i].Count = what, n
	}
	return figures
}

func ratioTarget(limit float64) *Target { return &Target{Limit: limit, OfRatio: true} }
func target(limit float64) *Target      { return &Target{Limit: limit} }
func pointerTo(v float64) *float64      { return &v }
