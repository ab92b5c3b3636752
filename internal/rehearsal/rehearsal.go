// Package rehearsal plays a whole study with simulated people before the first
// real one is asked: the real workflows, rules, activities, relay and store, with
// time that is skipped, a carrier within the process and a scripted model.
//
// Each person has a workflow environment of the Temporal SDK with a clock of its
// own. Within a day of the study people are played one after the other, a few at a
// time; at the end of each day all of them wait for each other, and the sweeps of
// the starter run. So everything that belongs to one person happens in its order
// and at its instant, and what people share (the one sender's holds, budgets, the
// load of a machine) is seen day by day and not minute by minute.
package rehearsal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"

	"runtime"
	"sync"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"coachline/internal/coach"
	"coachline/internal/config"
	"coachline/internal/metrics"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/starter/relay"
	"coachline/worker"
)

const (
	// sender is the programme's number, actor who the audit names.
	sender = "+15017122661"
	actor  = "rehearsal"
	// stuckAfter is the real time after which a workflow that does nothing is a
	// defect.
	stuckAfter = 2 * time.Minute
	dayLength  = 24 * time.Hour
	// recruitment is how long after the start people are enrolled.
	recruitment = 8 * time.Hour
	// mostPeople and mostDays are what the numbers of phones and a machine's memory
	// hold.
	mostPeople = 1000
	mostDays   = 730
	// mostInMemory is how many days of people, at 13 KB each, keep their tables in
	// memory; a larger study has them in a file.
	mostInMemory = 50_000
)

// fastest are the options of a database that one connection uses and that has to
// survive nothing.
const fastest = "?_pragma=synchronous(off)&_pragma=journal_mode(memory)&_pragma=locking_mode(exclusive)&_pragma=cache_size(-65536)"

// workerOptions let a machine that is short of processors stop a workflow's
// goroutine for a while: the limit is meant for code that never yields.
var workerOptions = sdkworker.Options{DeadlockDetectionTimeout: time.Minute}

// Config says what is rehearsed.
type Config struct {
	// Settings are those of the installation.
	Settings config.Config
	// Study is the id of the study, StudySettings what it changes.
	Study         string
	StudySettings models.StudySettings
	People        int
	Days          int
	Seed          uint64
	// Start is the first instant; the zero value is Monday, 2026-03-02, so that a
	// study of weeks meets a change of the clocks.
	Start time.Time
	// Effect is what the treatment adds to the probability of an answer in time.
	Effect float64
	// CarrierFaults, ModelFaults and Undelivered are shares of the calls that fail
	// and of the texts that do not arrive.
	CarrierFaults, ModelFaults, Undelivered float64
	// Progress is told after each day of the study; it may be nil.
	Progress func(day, days int)
	// Export is given the tables as they are at the end of the study; it may be nil.
	Export func(ctx context.Context, rows *store.Store, end time.Time) error
}

// check refuses what cannot be rehearsed.
func (c Config) check() error {
	switch {
	case c.People < 2 || c.People > mostPeople:
		return models.BadField("people", "must be between 2 and %d", mostPeople)
	case c.Days < 1 || c.Days > mostDays:
		return models.BadField("days", "must be between 1 and %d", mostDays)
	case c.Effect < -0.5 || c.Effect > 0.5:
		return models.BadField("effect", "must be between -0.5 and 0.5")
	}
	for name, rate := range map[string]float64{"carrier-faults": c.CarrierFaults, "model-faults": c.ModelFaults, "undelivered": c.Undelivered} {
		if rate < 0 || rate > 0.5 {
			return models.BadField(name, "must be between 0 and 0.5")
		}
	}
	return nil
}

// database is the address of the rehearsal's tables.
func (c Config) database(folder string) string {
	path := ":memory:"
	if c.People*c.Days > mostInMemory {
		path = filepath.Join(folder, "rehearsal.db")
	}
	return "sqlite:" + path + fastest
}

// Run rehearses a study in a database that is gone afterwards, and reports what it
// came to. An error means that the rehearsal could not be played; what went wrong
// in the study itself is in the report.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	began := time.Now()
	if err := cfg.check(); err != nil {
		return Report{}, err
	}
	folder, err := os.MkdirTemp("", "coachline-rehearsal-")
	if err != nil {
		return Report{}, fmt.Errorf("making a folder for the rehearsal: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	r, err := newRun(ctx, cfg, cfg.database(folder))
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	if err := r.addStudy(ctx); err != nil {
		return Report{}, err
	}
	for number := range cfg.People {
		if err := r.newPerson(number); err != nil {
			return Report{}, err
		}
	}
	if err := r.play(); err != nil {
		return Report{}, err
	}
	if report, err = r.newReport(ctx); err != nil {
		return Report{}, err
	}
	if cfg.Export != nil {
		if err := cfg.Export(ctx, r.store, r.until); err != nil {
			return Report{}, fmt.Errorf("exporting the rehearsed study: %w", err)
		}
	}
	report.Took = time.Since(began).Round(time.Millisecond).String()
	return report, nil
}

// run is one rehearsal under way.
type run struct {
	cfg         Config
	ctx         context.Context
	from, until time.Time
	store       *store.Store
	parts       *worker.Parts
	rules       coach.Rules
	metrics     *metrics.Metrics
	suite       *testsuite.WorkflowTestSuite
	study       study
	people      []*person
	byID        map[string]*person
	days        *days

	mu       sync.Mutex
	tally    tally
	failures []Failure
}

// start of a rehearsal where none is named.
var firstMonday = time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC)

// newRun opens a store of its own.
func newRun(ctx context.Context, cfg Config, database string) (*run, error) {
	if cfg.Start.IsZero() {
		cfg.Start = firstMonday
	}
	// Nothing of a rehearsal leaves the process.
	cfg.Settings.Web.SearchURL, cfg.Settings.Web.Fetch = "", config.SwitchOff
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return nil, fmt.Errorf("preparing metrics: %w", err)
	}
	rules, err := cfg.Settings.Coaching.Rules()
	if err != nil {
		return nil, err
	}
	key, err := seal.Generate()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	ring, err := seal.Parse(key)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	rows, err := store.Open(ctx, store.Config{URL: database, MaxConns: 1, Sealer: ring, Sender: sender, LateTry: cfg.Settings.Coaching.LateTry, Limits: store.InboundLimits{
		PerMinute: cfg.Settings.Inbound.TextsPerMinute, PerDay: cfg.Settings.Inbound.TextsPerDay, Mute: cfg.Settings.Inbound.LoopMute,
		Hints: cfg.Settings.Inbound.UnknownSenders == config.UnknownHint,
	}, CrisisTakeOver: cfg.Settings.Worker.CrisisTakeOver, SecondLook: cfg.Settings.Worker.SecondLook == config.SwitchOn})
	if err != nil {
		return nil, fmt.Errorf("opening the rehearsal's database: %w", err)
	}
	if err := giveTextIDs(ctx, rows); err != nil {
		return nil, err
	}
	parts, err := worker.NewParts(cfg.Settings, rows, m)
	if err != nil {
		return nil, err
	}
	r := &run{
		cfg: cfg, ctx: ctx, from: cfg.Start, until: cfg.Start.Add(time.Duration(cfg.Days) * dayLength), store: rows, parts: parts, rules: rules, metrics: m,
		suite: &testsuite.WorkflowTestSuite{}, byID: map[string]*person{},
	}
	r.suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return r, nil
}

// dayOf is the day of the study that an instant belongs to, from 0.
func (r *run) dayOf(at time.Time) int { return int(at.Sub(r.from) / dayLength) }

func (*run) phoneOf(number int) string { return fmt.Sprintf("+1202%07d", 2000000+number) }

// seedOf is the seed of a person's draws.
func seedOf(seed uint64, number int) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "rehearsal %d person %d", seed, number))
}

// drawPerson draws how a person behaves, and returns what the rest is drawn from.
func (c Config) drawPerson(number int) (*rand.Rand, habits) {
	draw, list := rand.New(rand.NewChaCha8(seedOf(c.Seed, number))), Personas()
	return draw, drawHabits(draw, list[number%len(list)], c.Start, c.Days)
}

// newPerson makes a person, whose draws depend on the seed and the number alone.
func (r *run) newPerson(number int) error {
	sum := seedOf(r.cfg.Seed, number)
	p := &person{r: r, number: number, id: "conv_" + hex.EncodeToString(sum[:12]), phone: r.phoneOf(number)}
	p.clock = r.from.Add(recruitment / time.Duration(r.cfg.People) * time.Duration(number)).Truncate(time.Second)
	p.draw, p.habits = r.cfg.drawPerson(number)
	p.carrier = &carrier{person: p}
	set, err := r.parts.NewSet(worker.Outside{Model: newModel(p), Carrier: p.carrier, Pager: pager{r}, Now: p.now})
	if err != nil {
		return err
	}
	p.activities = set
	p.jobs = newJobs(r.suite, set)
	p.jobs.now, p.jobs.later = p.now, p.after
	p.jobs.fault = func(where string, err error) { r.broke(where, p.id, err) }
	p.relay = relay.New(relay.Config{
		Store: relay.StoreOf(r.store), Engine: &engine{run: r, jobs: p.jobs}, Metrics: r.metrics, Logger: slog.New(slog.DiscardHandler), Now: p.now,
	})
	r.people, r.byID[p.id] = append(r.people, p), p
	return nil
}

// newModel makes the model that a person's coach calls.
func newModel(p *person) *model {
	return &model{r: p.r, id: p.id, fails: func() bool { return p.fault(p.r.cfg.ModelFaults) }}
}

// plan puts what is known beforehand into a person's agenda.
func (p *person) plan() {
	p.at(p.clock, func() { p.deliver(p.r.ctx) })
	for _, e := range p.habits.events {
		at := p.r.from.Add(time.Duration(e.day)*dayLength + time.Duration(e.hour)*time.Hour)
		p.at(at, func() { p.act(p.r.ctx, e) })
	}
	for day := 1; day < p.r.cfg.Days; day++ {
		p.at(p.r.from.Add(time.Duration(day)*dayLength), func() { p.r.days.wait(day) })
	}
}

// fault draws whether a call fails.
func (p *person) fault(rate float64) bool { return rate > 0 && p.draw.Float64() < rate }

func (r *run) play() error {
	r.days = newDays(r.cfg.People, 2*runtime.GOMAXPROCS(0))
	operators, err := r.newOperators()
	if err != nil {
		return err
	}
	r.days.ended = func(day int) {
		operators.endDay(day)
		if r.cfg.Progress != nil {
			r.cfg.Progress(day, r.cfg.Days)
		}
	}
	defer operators.relay.Stop(r.ctx)
	r.divide()
	var group sync.WaitGroup
	failed := make([]error, len(r.people))
	for _, p := range r.people {
		// One after the other, in the same order each time: an arm follows from those
		// before it.
		if err := p.enrol(); err != nil {
			return err
		}
		p.plan()
	}
	if err := r.readArms(); err != nil {
		return err
	}
	for i, p := range r.people {
		group.Go(func() {
			r.days.enter()
			defer r.days.leave()
			failed[i] = p.play(r.ctx)
		})
	}
	group.Wait()
	for _, p := range r.people {
		p.relay.Stop(r.ctx)
	}
	r.days.ended(r.cfg.Days)
	for i, err := range failed {
		if err != nil {
			r.broke("workflow", r.people[i].id, err)
		}
	}
	return r.ctx.Err()
}

// broke notes what went wrong.
func (r *run) broke(where, participantID string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, Failure{Where: where, ParticipantID: participantID, Error: err.Error()})
}

func (r *run) count(add func(*tally)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.tally)
}

// pager stands in for the people on call.
type pager struct{ r *run }

// Page implements activities.Pager.
func (g pager) Page(context.Context, models.AlertPage) (bool, error) {
	g.r.count(func(t *tally) { t.Pages++ })
	return true, nil
}

// Failure is something that went wrong in a rehearsal and would not have in a
// study without a defect.
type Failure struct {
	Where         string `json:"where"`
	ParticipantID string `json:"participant_id,omitempty"`
	Error         string `json:"error"`
}

// tally counts what no table holds.
type tally struct {
	Runs, ModelCalls, InputTokens, OutputTokens, ModelFaults, CarrierRefusals, CarrierLost, Undelivered, Pages int
}
