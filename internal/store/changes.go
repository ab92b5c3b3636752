package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wait"
)

const (
	// changeBuffer is how many changes wait for a slow follower; what is more is
	// told as one change of everything.
	changeBuffer = 64
	// changePoll is how often changes are looked for on SQLite while a page
	// follows them.
	changePoll = 100 * time.Millisecond
	// viewerAge is how long the database keeps telling of changes after the last
	// sign of a follower.
	viewerAge = time.Minute
	// changePause is the wait before a broken connection is opened again.
	changePause = time.Second
	// lateCommit is longer than transactions take.
	lateCommit = 2 * time.Second
)

// everything stands for a change of any participant.
const everything = "*"

// Changes tells followers of what other transactions, also of other processes,
// have committed. While no page follows it does nothing, and the triggers of the
// tables tell of nothing. It is safe for concurrent use.
type Changes struct {
	db  *database.Database
	log *slog.Logger
	now func() time.Time

	mu        sync.Mutex
	followers map[chan string]struct{}
	stop      context.CancelFunc
	done      chan struct{}
}

// NewChanges follows the changes of a store's database.
func NewChanges(s *Store, now func() time.Time) *Changes {
	return &Changes{db: s.db, log: s.log, now: now, followers: map[chan string]struct{}{}}
}

// Follow sends the id of each participant of whom something has changed, until
// ctx ends: "*" stands for changes of everybody, and for changes that the reader
// has missed, at the beginning or because it was slow. The channel is closed at
// the end.
func (c *Changes) Follow(ctx context.Context) (<-chan string, error) {
	follower := make(chan string, changeBuffer)
	follower <- everything // what changed before the caller followed
	c.mu.Lock()
	c.followers[follower] = struct{}{}
	if c.stop == nil {
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		c.stop, c.done = stop, make(chan struct{})
		go c.run(running, c.done)
	}
	c.mu.Unlock()
	context.AfterFunc(ctx, func() { c.leave(follower) })
	return follower, nil
}

// leave ends a follower, and with the last one the connection.
func (c *Changes) leave(follower chan string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.followers, follower)
	close(follower)
	if len(c.followers) == 0 {
		c.stop()
		c.stop = nil
	}
}

// tell passes a change on to every follower. One whose buffer is full gets
// everything in place of what it misses.
func (c *Changes) tell(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for follower := range c.followers {
		told := id
		if len(follower) == changeBuffer-1 {
			told = everything
		}
		select {
		case follower <- told:
		default: // it has an unread everything
		}
	}
}

// run keeps the database telling of changes until ctx ends.
func (c *Changes) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	id := rand.Text()
	var group sync.WaitGroup
	group.Go(func() { c.keepViewer(ctx, id) })
	for ctx.Err() == nil {
		err := c.db.Listen(ctx, "coachline_changes", func() { c.tell(everything) }, c.tell)
		if errors.Is(err, database.ErrNoListen) {
			err = c.poll(ctx)
		}
		if ctx.Err() == nil {
			c.log.Warn("following changes failed, trying again", "error", err)
			_ = wait.For(ctx, changePause)
		}
	}
	group.Wait()
}

// keepViewer tells the triggers that a page follows, and in the end that they do
// not any more. Before the viewer's row is there the triggers tell of nothing, so
// followers then hear of everything, and once more when transactions that did not see
// the row have ended.
func (c *Changes) keepViewer(ctx context.Context, id string) {
	for ctx.Err() == nil {
		isNew, err := c.renewViewer(ctx, id)
		pause := viewerAge / 3
		if err != nil && ctx.Err() == nil {
			c.log.Warn("asking for changes failed, trying again", "error", err)
			pause = changePause
		}
		if isNew {
			c.tell(everything)
			_ = wait.For(ctx, lateCommit)
			c.tell(everything)
		}
		_ = wait.For(ctx, pause)
	}
	err := c.db.Write(context.WithoutCancel(ctx), func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM change_viewers WHERE id = ?", id).Error
	})
	if err != nil {
		c.log.Warn("ending the watch for changes failed; it expires by itself", "error", err)
	}
}

// renewViewer moves the end of a viewer's row, and reports whether it had to be made.
func (c *Changes) renewViewer(ctx context.Context, id string) (isNew bool, err error) {
	err = c.db.Write(ctx, func(tx *gorm.DB) error {
		now := instant(c.now())
		if err := tx.Exec("DELETE FROM change_viewers WHERE expires_at <= ? AND id <> ?", now, id).Error; err != nil {
			return err
		}
		until := now.Add(viewerAge)
		moved := tx.Exec("UPDATE change_viewers SET expires_at = ? WHERE id = ?", until, id)
		if isNew = moved.RowsAffected == 0; moved.Error != nil || !isNew {
			return moved.Error
		}
		return tx.Exec("INSERT INTO change_viewers (id, expires_at) VALUES (?, ?)", id, until).Error
	})
	return isNew && err == nil, err
}

// poll reads the table of changes, which SQLite's triggers fill.
func (c *Changes) poll(ctx context.Context) error {
	var last int64
	if err := c.db.Reader(ctx).Raw("SELECT coalesce(max(id), 0) FROM changes").Scan(&last).Error; err != nil {
		return fmt.Errorf("reading changes: %w", err)
	}
	c.tell(everything)
	for ctx.Err() == nil {
		var rows []struct {
			ID            int64
			ParticipantID string
		}
		if err := c.db.Reader(ctx).Raw("SELECT id, participant_id FROM changes WHERE id > ? ORDER BY id", last).Scan(&rows).Error; err != nil {
			return fmt.Errorf("reading changes: %w", err)
		}
		for _, row := range rows {
			last = row.ID
			c.tell(row.ParticipantID)
		}
		if len(rows) > 0 {
			// Other processes may not have read the newest yet.
			err := c.db.WriteOne(ctx, func(tx *gorm.DB) error { return tx.Exec("DELETE FROM changes WHERE id <= ?", last-1000).Error })
			if err != nil {
				return fmt.Errorf("removing changes: %w", err)
			}
		}
		_ = wait.For(ctx, changePoll)
	}
	return nil
}
