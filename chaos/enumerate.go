package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"coachline/dev/temporal"
)

// job is one run: a scenario with one fault.
type job struct {
	point  point
	effect effect
	fault  fault
}

// outcome is what became of a job.
type outcome struct {
	job
	hit     bool
	verdict verdict
	took    time.Duration
}

// enumerate runs the scenarios; right: every run ended as it had to.
func enumerate(ctx context.Context, o options, out io.Writer) (right bool, err error) {
	s, err := newSurroundings(ctx, temporal.Config{}, o.cache)
	if err != nil {
		return false, err
	}
	defer func() {
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	if o.short {
		return enumerateShort(ctx, o, s, out)
	}
	right = true
	for _, r := range newRounds(o, s, out) {
		ok, err := r.run(ctx)
		if err != nil {
			return false, fmt.Errorf("scenario %s: %w", r.scenario.name, err)
		}
		right = right && ok
	}
	return right, nil
}

// newRounds are those of the scenarios that were asked for.
func newRounds(o options, s *environment, out io.Writer) []*round {
	var list []*round
	shared := &output{to: out}
	for _, sc := range scenarios() {
		if o.scenario == "" || o.scenario == sc.name {
			list = append(list, &round{scenario: sc, options: o, environment: s, output: shared})
		}
	}
	return list
}

// enumerateShort runs the jobs of the short form, all scenarios at a time.
func enumerateShort(ctx context.Context, o options, s *environment, out io.Writer) (bool, error) {
	list := newRounds(o, s, out)
	var group sync.WaitGroup
	right := make([]bool, len(list))
	for i, r := range list {
		jobs := shortJobs[r.scenario.name]
		r.options.installations = (len(jobs) + shortRuns - 1) / shortRuns
		group.Go(func() { right[i] = r.report(len(jobs), r.runAll(ctx, nil, jobs)) })
	}
	group.Wait()
	return !slices.Contains(right, false), nil
}

// shortRuns are made one after the other on one installation.
const shortRuns = 4

// output is what the rounds print to.
type output struct {
	mu sync.Mutex
	to io.Writer
}

func (o *output) printf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.to, format, args...)
}

// round is one scenario with all its faults.
type round struct {
	*environment
	*output
	scenario *scenario
	options  options
}

func (r *round) newInstallation(ctx context.Context) (*installation, error) {
	return newInstallation(ctx, r.environment, r.scenario)
}

func (r *round) run(ctx context.Context) (right bool, err error) {
	l, err := r.newInstallation(ctx)
	if err != nil {
		return false, err
	}
	first := l.run(r.scenario, job{})
	points := trimReads(l.passed)
	if len(first.verdict) > 0 {
		return false, fmt.Errorf("without a fault: %s", strings.Join(first.verdict, "; "))
	}
	jobs := r.planJobs(points)
	if r.options.list {
		for _, p := range points {
			r.printf("%-10s %s %v\n", r.scenario.name, p.point, p.faults())
		}
		return true, l.close()
	}
	outcomes := r.runAll(ctx, l, jobs)
	return r.report(len(points), outcomes), nil
}

// trimReads leaves out the reads behind the last call with an effect: they are
// those of a system that waits.
func trimReads(points []observedPoint) []observedPoint {
	last := 0
	for i, p := range points {
		if p.effect != reads {
			last = i + 1
		}
	}
	return points[:last]
}

func (r *round) planJobs(points []observedPoint) []job {
	var jobs []job
	for _, p := range points {
		for _, f := range p.faults() {
			if r.options.point != "" && r.options.point != p.String() || r.options.fault != "" && r.options.fault != string(f) {
				continue
			}
			jobs = append(jobs, job{p.point, p.effect, f})
		}
	}
	return jobs
}

// runAll spreads the jobs over installations. One whose run went wrong is left behind:
// what it holds would disturb the next run.
func (r *round) runAll(ctx context.Context, first *installation, jobs []job) []outcome {
	todo := make(chan job)
	results := make(chan outcome)
	var group sync.WaitGroup
	for n := range min(r.options.installations, len(jobs)) {
		group.Go(func() {
			l := first
			if n > 0 {
				l = nil
			}
			for j := range todo {
				if l == nil {
					var err error
					if l, err = r.newInstallation(ctx); err != nil {
						results <- outcome{job: j, hit: true, verdict: verdict{err.Error()}}
						continue
					}
				}
				o := l.run(r.scenario, j)
				// How often a read of a turn is made may differ between runs.
				if !o.hit && r.options.short {
					o.verdict.add("the point was not reached")
				}
				results <- o
				if len(o.verdict) > 0 {
					_ = l.close()
					l = nil
				}
			}
			if l != nil {
				_ = l.close()
			}
		})
	}
	go func() {
		for _, j := range jobs {
			todo <- j
		}
		close(todo)
		group.Wait()
		close(results)
	}()
	var outcomes []outcome
	for o := range results {
		if len(o.verdict) > 0 || r.options.verbose {
			r.printf("%s: %s, fault %s, hit %t, %s: %s\n", r.scenario.name, o.point, o.fault, o.hit, o.took.Round(time.Second), strings.Join(o.verdict, "; "))
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

func (l *installation) run(sc *scenario, j job) outcome {
	o := outcome{job: j}
	if err := l.await(l.ready); err != nil {
		o.verdict.add("before the turn: %v", err)
		return o
	}
	t, err := l.enrol()
	if err != nil {
		o.verdict.add("before the turn: %v", err)
		return o
	}
	began := time.Now()
	l.watch(j.point, j.fault)
	acted := sc.act(t)
	settled := t.settle()
	o.hit = l.unwatch()
	o.took = time.Since(began)
	if acted != nil {
		o.verdict.add("%v", acted)
	}
	if settled != nil {
		o.verdict.add("not settled %v", settled)
	}
	o.verdict = append(o.verdict, t.judge(sc.want)...)
	return o
}

// report prints the counts and how each failure is run again.
func (r *round) report(points int, outcomes []outcome) (right bool) {
	missed, wrong := 0, 0
	for _, o := range outcomes {
		if !o.hit {
			missed++
		}
		if len(o.verdict) > 0 {
			wrong++
		}
	}
	word := "right"
	if wrong > 0 {
		word = "WRONG"
	}
	r.printf("%-10s %4d points %5d runs %3d not reached %3d wrong  %s\n", r.scenario.name, points, len(outcomes), missed, wrong, word)
	for _, o := range outcomes {
		if len(o.verdict) > 0 {
			r.printf("  again: go run ./chaos -scenario %s -point %q -fault %s\n", r.scenario.name, o.point.String(), o.fault)
		}
	}
	return wrong == 0
}
