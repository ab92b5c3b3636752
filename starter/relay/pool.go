package relay

import (
	"context"
	"log/slog"
	"sync"
)

const (
	poolWorkers = 16
	poolQueue   = 1024
)

// pool delivers notices after the caller has been answered. It is bounded: at
// most one worker serves a participant, so that a hanging delivery holds up no
// other participant, and what does not fit into the queue is left to a sweep,
// which finds every undelivered notice.
type pool struct {
	deliver func(ctx context.Context, key string) error
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	jobs    chan string
	workers sync.WaitGroup

	mu     sync.Mutex
	known  map[string]jobState
	closed bool
}

type jobState int

const (
	jobQueued jobState = iota + 1
	jobRunning
	// jobStale means that a notice came after the running job began, which may have read
	// the list already, so the job runs once more.
	jobStale
)

func newPool(deliver func(context.Context, string) error, log *slog.Logger) *pool {
	ctx, cancel := context.WithCancel(context.Background())
	p := &pool{
		deliver: deliver, log: log, ctx: ctx, cancel: cancel,
		jobs: make(chan string, poolQueue), known: map[string]jobState{},
	}
	for range poolWorkers {
		p.workers.Go(p.runJobs)
	}
	return p
}

// addJob queues a job and never blocks.
func (p *pool) addJob(participantID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	switch p.known[participantID] {
	case jobQueued, jobStale:
	case jobRunning:
		p.known[participantID] = jobStale
	default:
		select {
		case p.jobs <- participantID:
			p.known[participantID] = jobQueued
		default:
		}
	}
}

func (p *pool) runJobs() {
	for id := range p.jobs {
		p.markRunning(id)
		p.runJob(id)
		for p.shouldRepeat(id) {
			p.runJob(id)
		}
	}
}

func (p *pool) markRunning(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[id] = jobRunning
}

// shouldRepeat marks a job as running once more when it went stale, and forgets
// it otherwise.
func (p *pool) shouldRepeat(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[id] == jobStale {
		p.known[id] = jobRunning
		return true
	}
	delete(p.known, id)
	return false
}

func (p *pool) runJob(id string) {
	ctx, cancel := context.WithTimeout(p.ctx, 2*tellLimit)
	defer cancel()
	if err := p.deliver(ctx, id); err != nil {
		p.log.Warn("delivery failed, the relay will try again", "key", id, "error", err)
	}
}

// stop takes no more jobs and waits for the ones it has; when ctx ends first,
// they are given up and left to the relay of the next process.
func (p *pool) stop(ctx context.Context) {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.jobs)
	}
	p.mu.Unlock()
	giveUp := context.AfterFunc(ctx, p.cancel)
	defer giveUp()
	p.workers.Wait()
	p.cancel()
}
