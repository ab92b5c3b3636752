package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"coachline/internal/wait"
)

// handle is an open database: the connections, and what puts writes in order.
type handle struct {
	rows *gorm.DB
	// writes are rows on PostgreSQL. On SQLite they have a connection of their
	// own: its page cache stays good, because no other connection changes the
	// file, where each write of one connection empties those of all others.
	writes *gorm.DB
	pools  []*sql.DB
	// writer admits one write at a time on SQLite, which has one writer
	// anyway: waiting here is fair, waiting in its busy handler is not. Nil on
	// PostgreSQL.
	writer chan struct{}
	// written says that the log of SQLite has grown since it was last copied into the file.
	written atomic.Bool
	// stop ends the copying, and returns when it has ended. Nil where there is none.
	stop func()
}

const (
	// checkpointEvery is how often what was written is copied from SQLite's log into the
	// file. Writers go on meanwhile: left to SQLite, a commit would wait for the disk.
	checkpointEvery = time.Second
	// checkpointPages is the length of the log, 64 MB, from which a commit copies it all
	// the same, so that it begins anew.
	checkpointPages = 16_000
)

// startCheckpoints copies SQLite's log again and again until stop is called. What fails
// is tried again by the next, or by the commit that finds the log too long.
func (h *handle) startCheckpoints() {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for wait.For(ctx, checkpointEvery) == nil {
			if h.written.Swap(false) {
				_, err := h.pools[0].ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
				h.written.CompareAndSwap(false, err != nil)
			}
		}
	})
	h.stop = func() { cancel(); ended.Wait() }
}

func (h *handle) closePools() error {
	if h.stop != nil {
		h.stop()
	}
	var err error
	for _, pool := range h.pools {
		err = errors.Join(err, pool.Close())
	}
	return err
}

// file is a SQLite file that this process has open. Its parts share it, so that
// they wait for each other here instead of in the busy handler, which sleeps.
type file struct {
	mu    sync.Mutex
	users int
	open  *handle
}

// files are by name and options.
var files struct {
	mu    sync.Mutex
	known map[string]*file
}

func fileOf(name string) *file {
	files.mu.Lock()
	defer files.mu.Unlock()
	if files.known == nil {
		files.known = map[string]*file{}
	}
	if files.known[name] == nil {
		files.known[name] = &file{}
	}
	return files.known[name]
}

// acquireHandle opens the file for one more user; the first one opens it.
// release is to be called once.
func (f *file) acquireHandle(ctx context.Context, first func(context.Context) (*handle, error)) (h *handle, release func() error, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users == 0 {
		if f.open, err = first(ctx); err != nil {
			return nil, nil, err
		}
	}
	f.users++
	return f.open, sync.OnceValue(f.releaseHandle), nil
}

// releaseHandle closes the file when its last user is done.
func (f *file) releaseHandle() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	if f.users > 0 {
		return nil
	}
	return f.open.closePools()
}

// ErrNoListen says that the database has no notifications: SQLite.
var ErrNoListen = errors.New("the database has no notifications")

// Listen calls received with the payload of each notification of a channel of
// PostgreSQL, over a connection of its own, until ctx ends or the connection
// fails. ready is called when nothing is missed any more. ErrNoListen on SQLite.
// channel is a name of ours, never input.
func (d *Database) Listen(ctx context.Context, channel string, ready func(), received func(payload string)) (err error) {
	if d.dial == nil {
		return ErrNoListen
	}
	conn, err := d.dial(ctx)
	if err != nil {
		return fmt.Errorf("connecting to listen: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	ready()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("waiting for notifications: %w", err)
		}
		received(n.Payload)
	}
}
