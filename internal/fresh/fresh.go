// Package fresh holds what is asked for again once it is old.
package fresh

import (
	"sync"
	"time"
)

// Value is a value and when it was read. The zero Value holds none; it is safe for
// concurrent use.
type Value[T any] struct {
	mu    sync.Mutex
	value T
	at    time.Time
}

// Read returns the value, and reads it first where there is none or it is as old as
// believed. Of those who find it old one reads; the others go on with the old one
// meanwhile and do not wait.
func (v *Value[T]) Read(now time.Time, believed time.Duration, read func() T) T {
	v.mu.Lock()
	value, at := v.value, v.at
	if !at.IsZero() && now.Sub(at) < believed {
		v.mu.Unlock()
		return value
	}
	if !at.IsZero() {
		v.at = now
	}
	v.mu.Unlock()
	value = read()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.at.IsZero() || v.at.Equal(now) { // What was changed meanwhile is newer.
		v.value, v.at = value, now
	}
	return v.value
}

// Change replaces the value by what change makes of it and returns that.
func (v *Value[T]) Change(now time.Time, change func(T) T) T {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.value, v.at = change(v.value), now
	return v.value
}
