// Package store keeps the rows: participants, conversation, inbox, outbox and
// notices, on PostgreSQL or SQLite through one code path. Everything that
// belongs together is written in one transaction; texts, names and numbers are
// sealed before they reach the database.
//
// Every write that concerns one participant takes that participant's row lock
// first. Writes of one participant are therefore in one order on both
// databases, and notice ids rise in commit order for each participant.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/database"
)

// Sealer protects personal data at rest; package seal provides it. Index is a
// keyed hash: equal values give equal indexes, and nobody without the key can
// compute one.
type Sealer interface {
	Seal([]byte) ([]byte, error)
	Open([]byte) ([]byte, error)
	Index(string) string
}

// Config says where the rows live.
type Config struct {
	// URL is postgres://..., postgresql://..., sqlite:PATH or sqlite::memory:.
	// A query after a SQLite path goes to the driver and beats the defaults:
	// "sqlite:coach.db?_pragma=synchronous(full)".
	URL string
	// Sealer is required.
	Sealer Sealer
	// MaxConns bounds the open connections; 0 means 10 on PostgreSQL and 4 on
	// SQLite. An in-memory database always has exactly one.
	MaxConns int
}

// Store is safe for concurrent use, by several processes too.
type Store struct {
	db     *gorm.DB
	pool   *sql.DB
	sealer Sealer
	// writer admits one write at a time on SQLite, which has one writer
	// anyway: waiting here is fair, waiting in its busy handler is not. Nil on
	// PostgreSQL.
	writer chan struct{}
}

// Open connects and brings the schema up to date. Several processes may do so
// at once. The error names DATABASE_URL when the URL is of an unknown kind,
// and never holds the URL itself, which may carry a password.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Sealer == nil {
		return nil, errors.New("opening store: a sealer is required")
	}
	base, err := database.Open(ctx, cfg.URL, cfg.MaxConns)
	if err != nil {
		return nil, err
	}
	s := &Store{db: base.Rows, pool: base.Pool, sealer: cfg.Sealer}
	if base.OneWriter {
		s.writer = make(chan struct{}, 1)
	}
	return s, nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.PingContext(ctx); err != nil {
		return fmt.Errorf("reaching database: %w", err)
	}
	return nil
}

// Close ends all connections; the store is of no use afterwards.
func (s *Store) Close() error {
	if err := s.pool.Close(); err != nil {
		return fmt.Errorf("closing store: %w", err)
	}
	return nil
}
