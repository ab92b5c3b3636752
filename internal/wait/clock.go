package wait

import (
	"context"
	"time"
)

// Clock is what loops of a process take the time from.
type Clock struct {
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
}

type clockKey struct{}

// WithClock returns a context under which ClockOf returns another clock than the machine's.
// Fault injection and skipped time use it.
func WithClock(ctx context.Context, c Clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

// ClockOf returns the clock of a context, which is the machine's unless it was given one.
func ClockOf(ctx context.Context) Clock {
	if c, ok := ctx.Value(clockKey{}).(Clock); ok {
		return c
	}
	return Clock{Now: time.Now, After: time.After}
}

// After returns a channel that gets the time when d has passed on the context's clock.
func After(ctx context.Context, d time.Duration) <-chan time.Time { return ClockOf(ctx).After(d) }
