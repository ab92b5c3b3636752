package starter

import (
	"context"
	"sync"
)

// joined makes one read for callers who ask at the same time, such as pages that are
// all redrawn after one change. A caller gets what was read from an instant after
// its call on, so that no page misses the change that it reacts to: a caller who comes
// during a read shares the next one. It is safe for concurrent use.
type joined[T any] struct {
	// read is run without the end of any caller.
	read func(ctx context.Context) (T, error)

	mu      sync.Mutex
	running bool
	waiting *shared[T]
}

// shared is a read, and its result once done is closed.
type shared[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// get returns the result of a read that begins after the call.
func (j *joined[T]) get(ctx context.Context) (T, error) {
	j.mu.Lock()
	if j.waiting == nil {
		j.waiting = &shared[T]{done: make(chan struct{})}
	}
	own := j.waiting
	if !j.running {
		j.running = true
		go j.run(context.WithoutCancel(ctx))
	}
	j.mu.Unlock()
	select {
	case <-own.done:
		return own.value, own.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// run reads for those who wait, until none does.
func (j *joined[T]) run(ctx context.Context) {
	for {
		j.mu.Lock()
		next := j.waiting
		if j.waiting = nil; next == nil {
			j.running = false
			j.mu.Unlock()
			return
		}
		j.mu.Unlock()
		next.value, next.err = j.read(ctx)
		close(next.done)
	}
}
