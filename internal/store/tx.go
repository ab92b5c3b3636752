package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"coachline/internal/database"
	"coachline/models"
)

// writeTries bounds how often a transaction that lost against another one is
// begun again.
const writeTries = 8

// reader gives a session for single reads.
func (s *Store) reader(ctx context.Context) *gorm.DB {
	return s.db.WithContext(database.WithSealer(ctx, s.sealer))
}

// snapshot runs several reads that see one state of the database.
func (s *Store) snapshot(ctx context.Context, fn func(tx *gorm.DB) error) error {
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	return classify(s.reader(ctx).Transaction(fn, options))
}

// write runs fn in one transaction. fn may run more than once: a transaction
// that lost against another one is rolled back and begun again, so fn assigns
// its results and never adds to them.
func (s *Store) write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	if s.writer != nil {
		select {
		case s.writer <- struct{}{}:
			defer func() { <-s.writer }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	delay := 2 * time.Millisecond
	for try := 1; ; try++ {
		err := s.reader(ctx).Transaction(fn)
		if err == nil || !retryable(err) || try == writeTries {
			return classify(err)
		}
		if pause(ctx, delay+rand.N(delay)) != nil {
			return classify(err)
		}
		delay *= 2
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryable: the database gave up on a transaction because of another one;
// nothing of it was written.
func retryable(err error) bool {
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

// classify turns what the drivers say into the sentinels of package models:
// a taken unique key is ErrConflict, a missing row (or a missing row that a
// new one refers to) ErrNotFound. Everything else stays as it is.
func classify(err error) error {
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

// forUpdate locks the selected rows until the transaction ends. It does not
// hold up rows that merely refer to them; on SQLite, where a write transaction
// is alone anyway, it adds nothing.
func forUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
}

// insertOnce inserts a row unless its key is taken; added says which.
func insertOnce(tx *gorm.DB, row any) (added bool, err error) {
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(row)
	return res.RowsAffected > 0, res.Error
}

// lockParticipant locks and reads a participant's row, removed or not.
func lockParticipant(tx *gorm.DB, id string) (models.Participant, error) {
	var p models.Participant
	err := forUpdate(tx).Where("id = ?", id).Take(&p).Error
	return p, err
}

// lockEnrolled is lockParticipant for those who are still in the programme.
func lockEnrolled(tx *gorm.DB, id string) (models.Participant, error) {
	var p models.Participant
	err := forUpdate(tx).Where("id = ? AND removed_at IS NULL", id).Take(&p).Error
	return p, err
}

// instant is t as the databases keep it, so that a row that was just written
// and the same row read back are equal.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
