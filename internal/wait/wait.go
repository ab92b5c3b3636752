// Package wait waits for a while, or until a context ends.
package wait

import (
	"context"
	"time"
)

// For returns after d, or with the context's cause as soon as ctx ends. A d of
// zero or less returns at once.
func For(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
