package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"coachline/bench/rig"
	"coachline/internal/wait"
)

const (
	sleeperPeople = 2000
	sleeperSample = 50 // who enrol over HTTP
	// neverWake is a due time that no run reaches.
	neverWake = 12 * time.Hour
	// sleeperSettle is left to what runs behind the making of so many people; a
	// shorter span of sleep shortens it.
	sleeperSettle = 10 * time.Second
	// A person to wake takes no longer than this to be put to sleep.
	sleeperEach = 100 * time.Millisecond
	// rousing is how many signals a second bring people to a new build.
	rousing = 200
	// A round of signals ends when so many looks found no fewer people left.
	lagLooks = 8
	lagEvery = 500 * time.Millisecond
	// sleeperMany: with fewer people the scatter of an idle server is larger than
	// what each may cost.
	sleeperMany   = 10_000
	sleeperBytes  = 6 * kib
	sleeperTables = 8
)

// sleepers is many people who wait for a daily prompt: what they take in the
// databases and of the processor, how fast some of them wake, how all of them
// come to a new build, and a worker that is started again.
func sleepers(ctx context.Context, b *Bench) (figures []Figure, err error) {
	b.Model.SetDelay(0)
	s := &sleeping{Bench: b, n: b.Options.people(sleeperPeople)}
	if s.seeder, err = b.Product.NewSeeder(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.seeder.Close()) }()
	for _, part := range []func(context.Context) ([]Figure, error){s.talkers, s.bytes, s.processor, s.wake, s.moveToBuild} {
		some, err := part(ctx)
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
		s.printFigures(some)
	}
	return figures, nil
}

// printFigures prints what is known already: with many people the load takes an
// hour, and what ends it early would lose all of it.
func (s *sleeping) printFigures(figures []Figure) {
	for _, one := range figures {
		fmt.Fprintf(s.Options.Progress, "sleepers: %s: %s: %s %s\n", one.Case, one.Name, formatNumber(one.Product), one.Unit)
	}
}

// sleeping is what the parts of the load know of each other.
type sleeping struct {
	*Bench
	seeder *rig.Seeder
	n      int
	next   int
	// idle is the processor time of an hour with the sample alone.
	idle   time.Duration
	people []*person
}

// talkers enrol over HTTP: enrolled, greeted, one text with a wish
// for a daily prompt. What they take is that of a first day, and not deleted
// before the server's retention ends.
func (s *sleeping) talkers(ctx context.Context) ([]Figure, error) {
	if _, err := s.enrollPeople(ctx, s.Product, 1); err != nil {
		return nil, err // What is made at first use is there now.
	}
	before, err := s.settleAndMeasure(ctx)
	if err != nil {
		return nil, err
	}
	if s.idle, err = s.hour(ctx); err != nil {
		return nil, err
	}
	people, err := s.enrollPeople(ctx, s.Product, sleeperSample)
	if err != nil {
		return nil, err
	}
	if err := s.setDailyPrompts(ctx, s.Product, people, time.Now().UTC().Add(neverWake).Format("15:04")); err != nil {
		return nil, err
	}
	after, err := s.settleAndMeasure(ctx)
	if err != nil {
		return nil, err
	}
	cost, err := s.Cost(ctx, s.Product.WorkflowID(people[0].phone))
	if err != nil {
		return nil, err
	}
	const what = "enrolled, greeted, one text"
	return withCase(append(s.sizeFigures(what, before, after, len(people)), historyFigures(cost)...), what, len(people)), nil
}

func historyFigures(cost rig.Cost) []Figure {
	return []Figure{
		{Name: "history of the run that sleeps", Unit: "events", Product: float64(cost.Events), Better: Lower},
		{Name: "history of the run that sleeps", Unit: "bytes", Product: float64(cost.Bytes), Better: Lower},
	}
}

// printTables tells of the largest tables.
func (s *sleeping) printTables(what string, grown rig.Sizes, n int) {
	for _, name := range grown.Largest(sleeperTables) {
		fmt.Fprintf(s.Options.Progress, "sleepers: %s: %s: %.0f bytes each\n", what, name, float64(grown.Tables[name])/float64(n))
	}
}

// sizeFigures are the bytes that were added for each person. The server's are left
// out where it keeps its state in memory, not where its files had space left.
func (s *sleeping) sizeFigures(what string, before, after rig.Sizes, n int) []Figure {
	grown := after.Minus(before)
	s.printTables(what, grown, n)
	each := func(bytes int64) float64 { return float64(bytes) / float64(n) }
	figures := []Figure{{Name: "in the product's tables, each", Unit: "bytes", Better: Lower, Product: each(grown.Product)}}
	if after.Server > 0 {
		figures = append(figures,
			Figure{Name: "in the server's tables, each", Unit: "bytes", Better: Lower, Product: each(grown.Server)},
			Figure{Name: "in all tables, each", Unit: "bytes", Better: Lower, Product: each(grown.Server + grown.Product)},
		)
	}
	return figures
}

// settleAndMeasure returns the sizes once nothing is under way.
func (s *sleeping) settleAndMeasure(ctx context.Context) (rig.Sizes, error) {
	if err := s.seeder.Settle(ctx); err != nil {
		return rig.Sizes{}, err
	}
	if err := s.waitSettled(ctx); err != nil {
		return rig.Sizes{}, err
	}
	return s.Sizes(ctx)
}

func (s *sleeping) waitSettled(ctx context.Context) error {
	return wait.For(ctx, min(sleeperSettle, s.Options.Asleep))
}

// hour is the processor that everything uses in an hour, from the span that
// was asked for.
func (s *sleeping) hour(ctx context.Context) (time.Duration, error) {
	before, err := s.Processor()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := wait.For(ctx, s.Options.Asleep); err != nil {
		return 0, err
	}
	after, err := s.Processor()
	return time.Duration(float64(after-before) * float64(time.Hour) / float64(time.Since(began))), err
}

// textUntil puts people to sleep until an instant.
func (s *sleeping) textUntil(ctx context.Context, people []*person, wake time.Time) error {
	first := s.next
	s.next += len(people)
	_, err := doInTurn(ctx, len(people), enrolling, func(ctx context.Context, i int) (time.Duration, error) {
		return 0, s.seeder.Sleep(ctx, people[i].phone, first+i, wake)
	})
	if err != nil {
		return err
	}
	return s.waitAsleep(ctx, people[len(people)-1])
}

// waitAsleep waits for the person whose run began last. Of many runs the worker is
// minutes behind, so that only the load's own limit bounds the wait.
func (s *sleeping) waitAsleep(ctx context.Context, last *person) error {
	for {
		err := s.Idle(ctx, s.Product.WorkflowID(last.phone))
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (s *sleeping) bytes(ctx context.Context) ([]Figure, error) {
	before, err := s.rewriteAndMeasure(ctx)
	if err != nil {
		return nil, err
	}
	s.people = s.newcomers(s.n)
	began := time.Now()
	if err := s.textUntil(ctx, s.people, time.Now().UTC().Add(neverWake).Truncate(time.Minute)); err != nil {
		return nil, err
	}
	fmt.Fprintf(s.Options.Progress, "sleepers: %d people asleep after %v\n", s.n, time.Since(began).Round(time.Second))
	after, err := s.settleAndMeasure(ctx)
	if err != nil {
		return nil, err
	}
	cost, err := s.Cost(ctx, s.Product.WorkflowID(s.people[0].phone))
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d asleep in a new run", s.n)
	figures := s.sizeFigures(what, before, after, s.n)
	figures[len(figures)-1].Target = target(sleeperBytes)
	figures = append(figures, historyFigures(cost)...)
	dense, err := s.rewriteAndMeasure(ctx)
	if err != nil {
		return nil, err
	}
	if len(dense.Tables) > 0 {
		grown := dense.Minus(before)
		s.printTables("written anew", grown, s.n)
		figures = append(figures, Figure{
			Name: "in all tables written anew, each", Unit: "bytes", Better: Lower, Product: float64(grown.Server+grown.Product) / float64(s.n),
		})
	}
	return withCase(figures, what, s.n), nil
}

// rewriteAndMeasure returns the sizes without what was replaced, where the backend can.
func (s *sleeping) rewriteAndMeasure(ctx context.Context) (rig.Sizes, error) {
	if _, err := s.settleAndMeasure(ctx); err != nil {
		return rig.Sizes{}, err
	}
	if _, err := s.Rewrite(ctx); err != nil {
		return rig.Sizes{}, err
	}
	return s.Sizes(ctx)
}

func (s *sleeping) processor(ctx context.Context) ([]Figure, error) {
	if err := s.waitSettled(ctx); err != nil {
		return nil, err
	}
	used, err := s.hour(ctx)
	if err != nil {
		return nil, err
	}
	seconds := func(name string, d time.Duration) Figure {
		return Figure{Name: name, Unit: "s", Better: Lower, Product: d.Seconds()}
	}
	each := Figure{
		Name: "processor time of an hour asleep, beyond that of the sample alone, each", Unit: "ms", Better: Lower,
		Product: Milliseconds(used-s.idle) / float64(s.n),
	}
	if s.n >= sleeperMany {
		each.Target = target(1)
	}
	return withCase([]Figure{
		seconds("processor time of an hour, the sample alone", s.idle),
		seconds("processor of an hour asleep, server, product and database", used),
		each,
	}, fmt.Sprintf("%d asleep, %v", s.n, s.Options.Asleep), s.n), nil
}

// wake lets a hundredth of all people have their prompt at one instant.
func (s *sleeping) wake(ctx context.Context) ([]Figure, error) {
	people := s.newcomers(max(s.n/100, 1))
	at := time.Now().UTC().Add(promptMargin + sleeperEach*time.Duration(len(people))).Truncate(time.Second)
	if err := s.textUntil(ctx, people, at); err != nil {
		return nil, err
	}
	if left := time.Until(at); left < 0 {
		return nil, fmt.Errorf("putting %d people to sleep took %v too long", len(people), -left)
	}
	coming := make([]*rig.Wait, len(people))
	for i, p := range people {
		coming[i] = s.Carrier.Expect(p.phone, 0)
	}
	var late Durations
	for _, c := range coming {
		came, err := c.At(ctx)
		if err != nil {
			return nil, err
		}
		late = append(late, came.Sub(at))
	}
	return withCase([]Figure{
		singleFigure("prompts at the carrier, half of them after", late.Percentile(50)),
		singleFigure("prompts at the carrier, all of them after", late.Max()),
	}, fmt.Sprintf("%d of %d wake at one instant", len(people), s.n), len(people)), nil
}

// moveToBuild starts a worker of another build beside the one that is, wakes
// all by signal, and at last leaves the new one alone and starts it
// again.
func (s *sleeping) moveToBuild(ctx context.Context) (figures []Figure, err error) {
	old, err := s.Build(ctx)
	if err != nil {
		return nil, err
	}
	program, err := s.AnotherBuild()
	if err != nil {
		return nil, err
	}
	child, err := s.Product.StartChildOf(ctx, program)
	if err != nil {
		return nil, err
	}
	stop := child.Stop
	defer func() { err = errors.Join(err, stop()) }()
	build, err := s.MakeCurrent(ctx, old)
	if err != nil {
		return nil, err
	}
	if figures, err = s.wakeAll(ctx, build); err != nil {
		return nil, err
	}
	if err := errors.Join(child.Stop(), s.Product.StopWorker()); err != nil {
		return nil, err
	}
	stop = func() error { return nil }
	defer func() { err = errors.Join(err, s.Product.Stop(), s.Product.Start(ctx)) }()
	again, err := s.restartAsleep(ctx, program)
	return append(figures, again...), err
}

// wakeAll signals all who are not on the build, and those again who did
// their task on the old one before the server's queues had heard of the new one.
func (s *sleeping) wakeAll(ctx context.Context, build string) ([]Figure, error) {
	left, err := s.NotOnBuild(ctx, build)
	if err != nil {
		return nil, err
	}
	all := left
	used, err := s.Processor()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var signalled time.Duration
	rounds := 0
	for len(left) > 0 {
		if err := s.signal(ctx, left); err != nil {
			return nil, fmt.Errorf("%d of %d people are not on the new build: %w", len(left), len(all), err)
		}
		if rounds++; rounds == 1 {
			signalled = time.Since(began)
		}
		if left, err = s.listLeftBehind(ctx, build); err != nil {
			return nil, err
		}
	}
	whole := time.Since(began)
	after, err := s.Processor()
	if err != nil {
		return nil, err
	}
	cost, err := s.Cost(ctx, s.Product.WorkflowID(s.people[0].phone))
	if err != nil {
		return nil, err
	}
	return withCase([]Figure{
		{Name: "signalled", Unit: "/s", Better: Higher, Product: float64(len(all)) / signalled.Seconds()},
		singleFigure("all of them on the new build after", whole),
		{Name: "rounds of signals", Unit: "rounds", Better: Lower, Product: float64(rounds)},
		{Name: "processor of a move, server, product and database", Unit: "ms", Better: Lower, Product: Milliseconds(after-used) / float64(len(all))},
		{Name: "runs of a workflow by then", Unit: "runs", Better: Lower, Product: float64(cost.Runs)},
	}, fmt.Sprintf("%d to a new build, %d a second", len(all), rousing), len(all)), nil
}

// listLeftBehind returns those who are not on the build yet, once their number has
// stopped falling: signals to those whose task still waits would only delay it.
func (s *sleeping) listLeftBehind(ctx context.Context, build string) ([]string, error) {
	least := math.MaxInt
	for look := 0; look < lagLooks; look++ {
		left, err := s.CountNotOnBuild(ctx, build)
		if err != nil || left == 0 {
			return nil, err
		}
		if left < least {
			least, look = left, 0
		}
		if err := wait.For(ctx, lagEvery); err != nil {
			return nil, err
		}
	}
	return s.NotOnBuild(ctx, build)
}

// signal wakes workflows at the pace of the load.
func (s *sleeping) signal(ctx context.Context, ids []string) error {
	began := time.Now()
	_, err := doInTurn(ctx, len(ids), enrolling, func(ctx context.Context, i int) (time.Duration, error) {
		turn := began.Add(time.Duration(i) * time.Second / rousing)
		if err := wait.For(ctx, time.Until(turn)); err != nil {
			return 0, err
		}
		return 0, s.seeder.Rouse(ctx, ids[i])
	})
	return err
}

// restartAsleep is a worker started with all asleep.
func (s *sleeping) restartAsleep(ctx context.Context, program string) (figures []Figure, err error) {
	began := time.Now()
	child, err := s.Product.StartChildOf(ctx, program)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, child.Stop()) }()
	memory, err := child.Memory()
	if err != nil {
		return nil, err
	}
	var first time.Duration
	var took Durations
	for i, p := range s.people[:min(restartProbes, len(s.people))] {
		d, err := s.exchange(ctx, s.Product, p)
		if err != nil {
			return nil, err
		}
		if took = append(took, d); i == 0 {
			first = time.Since(began)
		}
	}
	return withCase([]Figure{
		singleFigure("worker started to ready", child.Ready),
		singleFigure("worker started to the first answer", first),
		singleFigure("first answers of sleepers, median", took.Percentile(50)),
		{Name: "worker memory, ready", Unit: "MB", Better: Lower, Product: float64(memory) / 1e6},
	}, fmt.Sprintf("%d asleep, worker started again", s.n), s.n), nil
}
