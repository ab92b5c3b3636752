package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"coachline/internal/wait"
	"coachline/models"
)

// writeTries bounds how often a transaction that lost against another one is
// begun again.
const writeTries = 8

// Reader gives a session for single reads; it runs no transaction of its own
// accord.
func (d *Database) Reader(ctx context.Context) *gorm.DB {
	return d.rows.WithContext(withSession(ctx, &session{ring: d.ring}))
}

// Snapshot runs several reads that see one state of the database. Errors are
// those of Classify.
func (d *Database) Snapshot(ctx context.Context, fn func(tx *gorm.DB) error) error {
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	return Classify(d.Reader(ctx).Transaction(fn, options))
}

// Write runs fn in one transaction. fn may run up to eight times: a transaction
// that lost against another one is rolled back and begun again, so fn assigns
// its results and never adds to them, and must not write in a transaction of
// its own. Errors are those of Classify.
func (d *Database) Write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return d.runAlone(ctx, func(rows *gorm.DB) error {
		return rows.Transaction(func(tx *gorm.DB) error {
			if err := fn(tx); err != nil {
				return err
			}
			return writeAudit(tx)
		})
	})
}

// WriteOne is Write for an fn that runs one statement, which is a transaction by
// itself and needs no BEGIN and COMMIT.
func (d *Database) WriteOne(ctx context.Context, fn func(rows *gorm.DB) error) error {
	return d.runAlone(ctx, fn)
}

func (d *Database) runAlone(ctx context.Context, fn func(rows *gorm.DB) error) error {
	if d.writer != nil {
		select {
		case d.writer <- struct{}{}:
			defer func() { d.written.Store(true); <-d.writer }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	delay := 2 * time.Millisecond
	for try := 1; ; try++ {
		err := fn(d.writes.WithContext(withSession(ctx, &session{ring: d.ring})))
		if err == nil || !isRetryable(err) || try == writeTries {
			return Classify(err)
		}
		if wait.For(ctx, delay+rand.N(delay)) != nil {
			return Classify(err)
		}
		delay *= 2
	}
}

// isRetryable reports whether the database gave up on a transaction because of
// another one; nothing of it was written.
func isRetryable(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		code := lite.Code() & 0xff // the rest says why
		return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
	}
	return false
}

// Classify turns what the drivers say into the sentinels of package models:
// a taken unique key is ErrConflict, a missing row (or a missing row that a
// new one refers to) ErrNotFound. Everything else stays as it is.
func Classify(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.ErrNotFound
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "23505":
			return models.ErrConflict
		case "23503":
			return models.ErrNotFound
		}
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			return models.ErrConflict
		case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
			return models.ErrNotFound
		}
	}
	return err
}

// ForUpdate locks the selected rows until the transaction ends. It does not
// hold up rows that merely refer to them; on SQLite, where a write transaction
// is alone anyway, it adds nothing.
func ForUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
}

// LockParticipant locks and reads a participant's row, removed or not, until
// the transaction ends. A transaction that writes for a participant takes the
// lock first, which puts all writes of one participant in one order.
func LockParticipant(tx *gorm.DB, id string) (models.Participant, error) {
	var p models.Participant
	err := ForUpdate(tx).Where("id = ?", id).Take(&p).Error
	return p, err
}

// LockEnrolled is LockParticipant for those who are still in the programme.
func LockEnrolled(tx *gorm.DB, id string) (models.Participant, error) {
	var p models.Participant
	err := ForUpdate(tx).Where("id = ? AND removed_at IS NULL", id).Take(&p).Error
	return p, err
}

// SaveParticipant writes a participant whose row the transaction has locked,
// under a new version; ErrStale when it changed since it was read. The counters
// that other writes raise are left alone.
func SaveParticipant(tx *gorm.DB, p *models.Participant, now time.Time) error {
	before := p.Version
	p.Version++
	p.UpdatedAt = Instant(now)
	res := tx.Select("*").Omit("next_seq", "memory_version").Where("version = ?", before).UpdateColumns(p)
	if res.Error == nil && res.RowsAffected == 0 {
		return models.ErrStale
	}
	return res.Error
}

// Instant is t as the databases keep it, so that a row that was just written
// and the same row read back are equal.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// InsertOnce inserts a row unless its key is taken; added says which.
func InsertOnce(tx *gorm.DB, row any) (added bool, err error) {
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(row)
	return res.RowsAffected > 0, res.Error
}

// IsPostgres reports whether a statement goes to PostgreSQL; otherwise it is SQLite.
func IsPostgres(tx *gorm.DB) bool { return tx.Name() == string(dialectPostgres) }

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
