// Package relay delivers committed rows to Temporal: at once where that works, and
// otherwise by sweeps of what is still pending. It keeps each participant's notices
// in order.
package relay

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.temporal.io/api/serviceerror"
	"golang.org/x/sync/errgroup"

	"coachline/internal/keylock"
	"coachline/internal/metrics"
	"coachline/internal/prices"
	"coachline/internal/wait"
	"coachline/models"
)

const (
	defaultInterval = 2 * time.Second
	defaultMinAge   = 3 * time.Second
	batch           = 1000
	parallel        = 16
	maxBackoff      = time.Minute
	// sweepLimit is how long one sweep begins deliveries; the next one begins with the
	// texts that came meanwhile, however much else waits.
	sweepLimit = 5 * time.Second
)

// Config is what a Relay is made of.
type Config struct {
	Store  Store
	Engine Engine
	// Histories is what Temporal keeps of people who are erased.
	Histories Histories
	// Metrics counts the calls of participants' workflows; it is required.
	Metrics *metrics.Metrics
	Logger  *slog.Logger
	Now     func() time.Time
	// Costs keeps the ledger, at the prices of Prices; nil: there is none.
	Costs   Costs
	Budgets Budgets
	Prices  *prices.List
	// Interval between two sweeps, MinAge of the notices that a sweep touches:
	// long enough for the process that wrote them to have delivered them. Zero
	// values take the defaults (2 s, 3 s).
	Interval time.Duration
	MinAge   time.Duration
	// Escalation is after how long an alert that no operator has acknowledged pages
	// once more; 0: never.
	Escalation time.Duration
	// Retention is how long after their removal people are erased; 0 is never.
	Retention time.Duration
	// StrangerRetention is how long texts of people who were never enrolled are kept; 0
	// is for ever.
	StrangerRetention time.Duration
}

// Relay delivers notices. It is safe for concurrent use, and any number of
// processes may have one on the same database.
type Relay struct {
	cfg   Config
	locks *keylock.Locks
	pool  *pool
	// answering holds one entry for each participant who is being told to answer.
	answering chan struct{}
	// delays is touched by sweepNotices only, never by the deliveries it starts.
	delays map[string]delay
	// restoration is touched by Run only.
	restoration restoration
	// costsDue is when costs are swept next; touched by Run only.
	costsDue time.Time
	// erasing is touched by Run only.
	erasing erasing
}

type delay struct {
	failures int
	until    time.Time
}

// New starts the background deliveries that Later asks for; Stop ends them.
func New(cfg Config) *Relay {
	if cfg.Interval <= 0 {
		cfg.Interval = defaultInterval
	}
	if cfg.MinAge <= 0 {
		cfg.MinAge = defaultMinAge
	}
	r := &Relay{cfg: cfg, locks: keylock.New(), answering: make(chan struct{}, answersAtOnce), delays: map[string]delay{}, restoration: restoration{done: map[string]time.Time{}}}
	r.erasing.paused = map[string]time.Time{}
	r.pool = newPool(r.runJob, cfg.Logger)
	return r
}

// Later has Deliver run in the background and returns at once. What does not
// fit into the bounded queue is left to a sweep.
func (r *Relay) Later(participantID string) { r.pool.addJob(participantID) }

// Stop takes no more background deliveries and waits for those that were
// begun. When ctx ends first they are given up; the next process's first sweep
// finds their notices.
func (r *Relay) Stop(ctx context.Context) { r.pool.stop(ctx) }

// Run sweeps until ctx ends, at once and then about every interval; the jitter
// keeps replicas from sweeping in step. It may run once at a time.
func (r *Relay) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Error("sweeping undelivered rows failed, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-wait.After(ctx, addJitter(r.cfg.Interval)):
		}
	}
}

// Sweep does once what Run does at every interval. It may run once at a time, and
// not beside Run.
func (r *Relay) Sweep(ctx context.Context) error {
	return errors.Join(r.sweepAlerts(ctx), r.sweepEscalations(ctx), r.sweepNotices(ctx), r.sweepHints(ctx), r.cfg.Store.Joins.ExpireJoins(ctx, r.cfg.Now(), batch), r.sweepMemory(ctx), r.restoreTerminated(ctx), r.sweepErasures(ctx), r.sweepCosts(ctx))
}

// addJitter returns d, changed by up to 20 percent at random.
func addJitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// sweepNotices delivers what is due, for several participants concurrently. A
// participant whose delivery fails waits longer each time and delays no other.
func (r *Relay) sweepNotices(ctx context.Context) error {
	now := r.cfg.Now()
	pending, err := r.cfg.Store.Notices.PendingNotices(ctx, now.Add(-r.cfg.MinAge), batch)
	if err != nil {
		return err
	}
	ids := r.dueParticipants(pending, now)
	failed := make([]error, len(ids))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, id := range ids {
		if r.cfg.Now().Sub(now) > sweepLimit {
			ids = ids[:i]
			break
		}
		group.Go(func() error {
			failed[i] = r.Deliver(ctx, id)
			return nil
		})
	}
	_ = group.Wait() // outcomes are kept by participant
	for i, id := range ids {
		r.setDelay(id, failed[i])
	}
	return nil
}

// dueParticipants lists the participants to deliver to, each once, and forgets
// delays of those who have nothing outstanding any more.
func (r *Relay) dueParticipants(pending []models.Notice, now time.Time) []string {
	var ids []string
	seen := map[string]bool{}
	for _, n := range pending {
		if seen[n.ParticipantID] {
			continue
		}
		seen[n.ParticipantID] = true
		if wait, ok := r.delays[n.ParticipantID]; !ok || !now.Before(wait.until) {
			ids = append(ids, n.ParticipantID)
		}
	}
	for id := range r.delays {
		if !seen[id] {
			delete(r.delays, id)
		}
	}
	return ids
}

// isUnreachable says that Temporal did not answer at all. An update that found no
// worker times out and does not count: others may have one.
func isUnreachable(err error) bool {
	var unavailable *serviceerror.Unavailable
	return errors.As(err, &unavailable)
}

func (r *Relay) setDelay(id string, err error) {
	if err == nil {
		delete(r.delays, id)
		return
	}
	wait := r.delays[id]
	wait.failures++
	pause := maxBackoff
	switch {
	case isUnreachable(err):
		// Nothing is wrong with the participant: the next sweep tries again, so
		// that after an outage nothing waits for a pause to end.
		pause = 0
	case wait.failures < 6:
		pause = min(r.cfg.Interval<<wait.failures, maxBackoff)
	}
	wait.until = r.cfg.Now().Add(pause)
	r.delays[id] = wait
	r.cfg.Logger.Warn("relaying failed", "participant", id, "failures", wait.failures, "error", err)
}
