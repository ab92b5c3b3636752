package database

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// clockStep is the difference from which a machine's clock is corrected: below it
	// the way to the database and back would count for more.
	clockStep = time.Second
	// clockEvery is how often clocks are compared.
	clockEvery = time.Minute
)

// Clock tells the time of the database, so that processes on machines whose clocks
// differ agree on how long ago one of them has written something. SQLite has no clock
// of its own. It is safe for concurrent use.
type Clock struct {
	db     *Database
	local  func() time.Time
	offset atomic.Int64 // of the database's clock from the machine's
}

// NewClock returns the machine's clock until it has been compared.
func (d *Database) NewClock(local func() time.Time) *Clock { return &Clock{db: d, local: local} }

// Now is the time by the database's clock.
func (c *Clock) Now() time.Time { return c.local().Add(time.Duration(c.offset.Load())) }

// Compare compares the clocks and returns by how much the database's is ahead.
func (c *Clock) Compare(ctx context.Context) (time.Duration, error) {
	tx := c.db.Reader(ctx)
	if !IsPostgres(tx) {
		return 0, nil
	}
	var there time.Time
	before := c.local()
	if err := tx.Raw("SELECT clock_timestamp()").Row().Scan(&there); err != nil {
		return 0, fmt.Errorf("reading the database's clock: %w", err)
	}
	ahead := there.Sub(before.Add(c.local().Sub(before) / 2))
	if ahead.Abs() < clockStep {
		ahead = 0
	}
	c.offset.Store(int64(ahead))
	return ahead, nil
}

// Follow compares the clocks again and again until ctx ends, and logs a new difference.
func (c *Clock) Follow(ctx context.Context, logger *slog.Logger) {
	var known time.Duration
	for ctx.Err() == nil {
		ahead, err := c.Compare(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			logger.Warn("the database's clock cannot be read; its last difference goes on to count", "error", err)
		case err == nil && (ahead-known).Abs() >= clockStep:
			logger.Warn("this machine's clock differs from the database's, whose time counts: set it by NTP", "database_ahead", ahead.Round(time.Millisecond))
			known = ahead
		}
		select {
		case <-ctx.Done():
		case <-time.After(clockEvery):
		}
	}
}
