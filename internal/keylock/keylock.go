// Package keylock lets one caller at a time work on a key. Work on one sender or
// participant waits for its own key only, so that work on other keys does not
// wait behind it.
package keylock

import (
	"context"
	"sync"
)

// Locks holds a lock for each key in use. It is safe for concurrent use. A lock
// exists while a caller holds it or waits for it.
type Locks struct {
	mu    sync.Mutex
	byKey map[string]*keyLock
}

type keyLock struct {
	token chan struct{}
	users int
}

// New builds Locks.
func New() *Locks { return &Locks{byKey: map[string]*keyLock{}} }

// Lock waits until the key's lock is free or ctx ends; only in the first case
// is there something to unlock.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	lock, ok := l.byKey[key]
	if !ok {
		lock = &keyLock{token: make(chan struct{}, 1)}
		l.byKey[key] = lock
	}
	lock.users++
	l.mu.Unlock()
	release := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(l.byKey, key)
		}
	}
	select {
	case lock.token <- struct{}{}:
		return func() { <-lock.token; release() }, nil
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	}
}
