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

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/memory"
	"coachline/internal/screening"
	"coachline/internal/seal"
	"coachline/models"
	"coachline/models/wire"
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
	// Limits are those of inbound texts; the zero value has none.
	Limits InboundLimits
	// Sender is the number or service that texts; a sender hold is its own.
	Sender string
	// LateTry is the least time from the report that a text was not delivered to
	// its one later try; 0 has none.
	LateTry time.Duration
	// CrisisTakeOver is how long an alert keeps the coach silent by itself; 0: it
	// does not.
	CrisisTakeOver time.Duration
	// SecondLook says that workers read a weak sign of danger once more before it is
	// acted on.
	SecondLook bool
	// PersonDayMicros is what the model and texts of a person without a budget may cost on
	// a day, in millionths of the currency; 0 is no limit.
	PersonDayMicros int64
	// Log is told of sender holds; nil means the default one.
	Log *slog.Logger
}

// Store is what the process keeps in its database, by noun. It is safe for concurrent
// use, by several processes too.
type Store struct {
	// People and what happens with each of them.
	People      *People
	Inbound     *Inbound
	Outbox      *Outbox
	Turns       *Turns
	MemoryQueue *MemoryQueue
	Notices     *Notices
	Hints       *Hints
	Alerts      *Alerts
	Looks       *Looks
	Attention   *Attention
	TakeOvers   *TakeOvers
	Holds       *Holds
	Erasures    *Erasures
	Cohorts     *Cohorts
	Records     *Records
	Memory      *memory.Store

	// Studies.
	Studies     *Studies
	Allocations *Allocations
	Joins       *Joins

	// Who operates the programme, what they are told and what it costs.
	Users       *Users
	Sessions    *Sessions
	Tokens      *Tokens
	RequestKeys *RequestKeys
	Audit       *Audit
	Views       *Views
	Reports     *Reports
	Webhooks    *Webhooks
	Costs       *Costs
	Budgets     *Budgets

	db    *database.Database
	names *openedNames
	log   *slog.Logger
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
	s := newStore(base, cfg, zone)
	if err := s.Studies.EnsureStudySecrets(ctx); err != nil {
		return nil, errors.Join(err, base.Close())
	}
	return s, nil
}

// newStore puts the nouns together over one database.
func newStore(db *database.Database, cfg Config, zone *time.Location) *Store {
	limits := cfg.Limits
	if limits.Zone == nil {
		limits.Zone = time.UTC
	}
	log := cfg.Log
	if log == nil {
		log = slog.Default()
	}
	names := &openedNames{}
	people := &People{db: db, names: names}
	budgets := &Budgets{db: db, personMicros: cfg.PersonDayMicros, prices: limits.Prices}
	outbox := &Outbox{
		db: db, budgets: budgets, retryDelay: cfg.LateTry, account: db.Index("account"), senderName: cfg.Sender, carrierZone: zone, log: log,
	}
	hints := &Hints{db: db, limits: limits, outbox: outbox}
	joins := &Joins{db: db, limits: limits}
	takeOvers := &TakeOvers{db: db, crisisTakeOver: cfg.CrisisTakeOver}
	return &Store{
		People: people, Outbox: outbox, Hints: hints, Joins: joins, TakeOvers: takeOvers,
		Inbound: &Inbound{db: db, limits: limits, takeOvers: takeOvers, hints: hints, joins: joins, budgets: budgets, secondLook: cfg.SecondLook},
		Turns:   &Turns{db: db, outbox: outbox}, MemoryQueue: &MemoryQueue{db}, Notices: &Notices{db},
		Alerts: &Alerts{db}, Looks: &Looks{db: db, takeOvers: takeOvers}, Attention: &Attention{db}, Holds: &Holds{db}, Erasures: &Erasures{db: db, names: names},
		Cohorts: &Cohorts{db}, Records: &Records{db}, Memory: memory.New(db), Studies: &Studies{db}, Allocations: &Allocations{db},
		Users: &Users{db}, Sessions: &Sessions{db}, Tokens: &Tokens{db}, RequestKeys: &RequestKeys{db}, Audit: &Audit{db},
		Views: &Views{db}, Reports: &Reports{db: db, people: people}, Webhooks: &Webhooks{db}, Costs: &Costs{db}, Budgets: budgets,
		db: db, names: names, log: log,
	}
}

// Database returns the store's database, for the other packages of the process that
// keep rows: SQLite has one writer, and one pool bounds the connections. It is
// closed with the store.
func (s *Store) Database() *database.Database { return s.db }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Close ends all connections; the store is of no use afterwards.
func (s *Store) Close() error {
	s.names.forget()
	return s.db.Close()
}

// The store's files name these functions of package database, which other packages
// share, by their short names.

func classify(err error) error { return database.Classify(err) }

func forUpdate(tx *gorm.DB) *gorm.DB { return database.ForUpdate(tx) }

func insertOnce(tx *gorm.DB, row any) (added bool, err error) { return database.InsertOnce(tx, row) }

func lockParticipant(tx *gorm.DB, id string) (models.Participant, error) {
	return database.LockParticipant(tx, id)
}

func lockEnrolled(tx *gorm.DB, id string) (models.Participant, error) {
	return database.LockEnrolled(tx, id)
}

// saveParticipant is database.SaveParticipant; the end of a pause goes with the pause.
func saveParticipant(tx *gorm.DB, p *models.Participant, now time.Time) error {
	if p.Status != wire.StatusPaused {
		p.PausedUntil = nil
	}
	return database.SaveParticipant(tx, p, now)
}

func instant(t time.Time) time.Time { return database.Instant(t) }
