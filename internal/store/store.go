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
	"errors"
	"fmt"
	"log/slog"
	"time"

	"coachline/internal/database"
	"coachline/internal/screening"
	"coachline/internal/seal"
)

// Config says where the rows live.
type Config struct {
	// URL is postgres://..., postgresql://..., sqlite:PATH or sqlite::memory:.
	// A query after a SQLite path goes to the driver and beats the defaults:
	// "sqlite:coach.db?_pragma=synchronous(full)".
	URL string
	// Sealer protects personal data at rest; it is required. The index key is
	// that of the database, not the ring's own.
	Sealer *seal.Ring
	// MaxConns bounds the open connections; 0 means 10 on PostgreSQL and 4 on
	// SQLite. An in-memory database always has exactly one.
	MaxConns int
	// Gate holds the limits of inbound texts; the zero value has none.
	Gate InboundLimits
	// Sender is the number or service that texts; a brake is its own.
	Sender string
	// LateTry is the least time from the report that a text was not delivered to
	// its one later try; 0 has none.
	LateTry time.Duration
	// CrisisTakeOver is how long an alert keeps the coach silent by itself; 0: it
	// does not.
	CrisisTakeOver time.Duration
	// Log is told of sender holds; nil means the default one.
	Log *slog.Logger
}

// Store is safe for concurrent use, by several processes too.
type Store struct {
	base *database.Database
	// limits bound the texts of one sender that reach the coach.
	limits InboundLimits
	// retryDelay is how long after the report that a text was not delivered its
	// later retry is made, at least; at most it is twice as long. 0: none is made.
	retryDelay time.Duration
	// crisisTakeOver is that of the Config.
	crisisTakeOver time.Duration
	// account is the key of a hold of the whole account, senderName the sender of
	// people whose study has none of its own. carrierZone is the zone in which the
	// carrier's days begin.
	account     string
	senderName  string
	carrierZone *time.Location
	log         *slog.Logger
	// names are those that searches have opened.
	names openedNames
}

// Open connects and brings the schema up to date. Several processes may do so
// at once. The error names DATABASE_URL when the URL is of an unknown kind,
// and never holds the URL itself, which may carry a password. It is
// database.ErrKeys when the sealer cannot read what is stored.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Sealer == nil {
		return nil, errors.New("opening store: a sealer is required")
	}
	go screening.Load() // so that the first text does not wait for it
	base, err := database.Open(ctx, database.Config{URL: cfg.URL, Ring: cfg.Sealer, MaxConns: cfg.MaxConns})
	if err != nil {
		return nil, err
	}
	if err := base.PrepareKeys(ctx); err != nil {
		return nil, errors.Join(err, base.Close())
	}
	if err := base.SealReasons(ctx); err != nil {
		return nil, errors.Join(err, base.Close())
	}
	zone, err := time.LoadLocation(carrierZone)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("loading the carrier's zone: %w", err), base.Close())
	}
	s := &Store{
		base: base, limits: cfg.Gate, retryDelay: cfg.LateTry, crisisTakeOver: cfg.CrisisTakeOver,
		account: base.Index("account"), senderName: cfg.Sender, carrierZone: zone, log: cfg.Log,
	}
	if s.limits.Zone == nil {
		s.limits.Zone = time.UTC
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if err := s.EnsureStudySecrets(ctx); err != nil {
		return nil, errors.Join(err, base.Close())
	}
	return s, nil
}

// Database returns the store's database, for the other packages of the process that
// keep rows: SQLite has one writer, and one pool bounds the connections. It is
// closed with the store.
func (s *Store) Database() *database.Database { return s.base }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.base.Ping(ctx) }

// Close ends all connections; the store is of no use afterwards.
func (s *Store) Close() error {
	s.names.forget()
	return s.base.Close()
}
