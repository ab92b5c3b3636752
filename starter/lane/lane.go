// Package lane lets one caller at a time work on a key. Work of one sender or
// participant waits for its own key only, so that work on other keys does not
// wait behind it.
package lane

import (
	"context"
	"sync"
)

// Lanes holds a lock for each key in use. It is safe for concurrent use. A lock
// exists while a caller holds it or waits for it.
type Lanes struct {
	mu    sync.Mutex
	lanes map[string]*one
}

type one struct {
	token chan struct{}
	users int
}

// New builds Lanes.
func New() *Lanes { return &Lanes{lanes: map[string]*one{}} }

// Enter waits until the key's lock is free or ctx ends; only in the first case
// is there something to leave.
func (l *Lanes) Enter(ctx context.Context, key string) (leave func(), err error) {
	l.mu.Lock()
	lane, ok := l.lanes[key]
	if !ok {
		lane = &one{token: make(chan struct{}, 1)}
		l.lanes[key] = lane
	}
	lane.users++
	l.mu.Unlock()
	gone := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if lane.users--; lane.users == 0 {
			delete(l.lanes, key)
		}
	}
	select {
	case lane.token <- struct{}{}:
		return func() { <-lane.token; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}
