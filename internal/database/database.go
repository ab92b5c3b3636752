// Package database opens a PostgreSQL or SQLite database, brings its schema up
// to date and gives it to GORM in one form for both.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	sqlitedriver "modernc.org/sqlite"

	"coachline/internal/database/prepared"
	"coachline/internal/seal"
	"coachline/internal/wrap"
)

const (
	dialectPostgres = goose.DialectPostgres
	dialectSQLite   = goose.DialectSQLite3

	postgresConns = 10
	sqliteConns   = 4
)

// Config says where the rows live.
type Config struct {
	// URL is postgres://..., postgresql://..., sqlite:PATH or sqlite::memory:.
	URL string
	// Ring seals the columns with personal data; it is required.
	Ring *seal.Ring
	// MaxConns bounds the open connections; 0 means 10 on PostgreSQL and 4 on
	// SQLite. An in-memory database always has exactly one.
	MaxConns int
	// AsFound leaves the schema as it is; one that is older than this build, or a file
	// that does not exist, is an error.
	AsFound bool
}

// Database is an open database with an up-to-date schema. It is safe for
// concurrent use, by several processes too; all parts of one process share one.
type Database struct {
	*handle
	ring    *seal.Ring
	release func() error
	// dial opens a connection outside of the pool; nil on SQLite.
	dial func(ctx context.Context) (*pgx.Conn, error)
}

// database is a pool and what has to be known to use it.
type database struct {
	dialect goose.Dialect
	pool    *sql.DB
	// writes is the pool for writes, where that is another one.
	writes *sql.DB
	// lite makes the pools of SQLite when they are needed; nil on PostgreSQL.
	lite func() (pool, writes *sql.DB)
	// dial opens a connection outside of the pool; nil on SQLite.
	dial func(ctx context.Context) (*pgx.Conn, error)
	// file names what the parts of a process share; empty where each has its own.
	file    string
	asFound bool
}

// Open connects and applies the migrations that are missing. Several processes
// may do so at once. The error names DATABASE_URL when the URL is of an unknown
// kind, and never holds the URL itself, which may carry a password.
func Open(ctx context.Context, cfg Config) (*Database, error) {
	if cfg.Ring == nil {
		return nil, errors.New("opening database: a key ring is required")
	}
	base, err := connectURL(cfg, connectorWrapper(ctx))
	if err != nil {
		return nil, err
	}
	base.asFound = cfg.AsFound
	d := &Database{ring: cfg.Ring, dial: base.dial}
	if base.file != "" {
		d.handle, d.release, err = fileOf(base.file).acquireHandle(ctx, base.openHandle)
	} else if d.handle, err = base.openHandle(ctx); err == nil {
		d.release = d.closePools
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Ping reports whether the database answers.
func (d *Database) Ping(ctx context.Context) error {
	return wrap.Error(d.pools[0].PingContext(ctx), "reaching database")
}

// Close ends the connections, those of a file behind its last user; the database
// is of no use afterwards.
func (d *Database) Close() error {
	return wrap.Error(d.release(), "closing database")
}

// openHandle opens the database and brings the schema up to date. On an error
// nothing stays open.
func (d database) openHandle(ctx context.Context) (*handle, error) {
	if d.lite != nil {
		d.pool, d.writes = d.lite()
	}
	h := &handle{pools: []*sql.DB{d.pool}}
	if d.writes != nil {
		h.pools = append(h.pools, d.writes)
	}
	err := d.openSessions(ctx, h)
	if err != nil {
		return nil, errors.Join(err, h.closePools())
	}
	return h, nil
}

func (d database) openSessions(ctx context.Context, h *handle) error {
	if err := firstConnect(ctx, d); err != nil {
		return err
	}
	migrate := applyMigrations
	if d.asFound {
		migrate = checkMigrated
	}
	err := migrate(ctx, d)
	if err != nil {
		return err
	}
	if h.rows, err = d.openSession(d.pool); err != nil {
		return err
	}
	h.writes = h.rows
	if d.writes != nil {
		if h.writes, err = d.openSession(d.writes); err == nil {
			h.startCheckpoints()
		}
	}
	if d.dialect == dialectSQLite {
		h.writer = make(chan struct{}, 1)
	}
	return err
}

func (d database) openSession(pool *sql.DB) (*gorm.DB, error) {
	rows, err := gorm.Open(d.newDialector(pool), &gorm.Config{
		Logger:                 logger.Discard,
		NamingStrategy:         Naming{},
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		// Columns are read in the order of the model's fields, so that those which
		// name a row come before those that are bound to it.
		QueryFields: true,
	})
	return rows, wrap.Error(err, "opening database")
}

func (d database) newDialector(pool *sql.DB) gorm.Dialector {
	if d.dialect == dialectPostgres {
		return postgres.New(postgres.Config{Conn: pool})
	}
	return &sqlite.Dialector{DriverName: "sqlite", Conn: pool}
}

func connectURL(cfg Config, wrap wrapper) (database, error) {
	if path, ok := strings.CutPrefix(cfg.URL, "sqlite:"); ok {
		return connectSQLite(path, cfg, wrap)
	}
	if strings.HasPrefix(cfg.URL, "postgres://") || strings.HasPrefix(cfg.URL, "postgresql://") {
		return connectPostgres(cfg.URL, cfg.MaxConns, wrap)
	}
	return database{}, errors.New("reading DATABASE_URL: it must begin with postgres://, postgresql:// or sqlite: and a path")
}

func connectPostgres(address string, maxConns int, wrap wrapper) (database, error) {
	conf, err := pgx.ParseConfig(address)
	if err != nil {
		// pgx masks the password of a URL that it could read, and repeats one
		// that it could not.
		return database{}, errors.New("reading DATABASE_URL: not a valid PostgreSQL URL")
	}
	pool := sql.OpenDB(wrap.wrapConnector(stdlib.GetConnector(*conf, stdlib.OptionAfterConnect(readUTC))))
	if maxConns == 0 {
		maxConns = postgresConns
	}
	pool.SetMaxOpenConns(maxConns)
	pool.SetMaxIdleConns(maxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	dial := func(ctx context.Context) (*pgx.Conn, error) { return pgx.ConnectConfig(ctx, conf.Copy()) }
	return database{dialect: dialectPostgres, pool: pool, dial: dial}, nil
}

// readUTC makes instants come back in UTC instead of the machine's zone, as
// they do from SQLite.
func readUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name:  "timestamptz",
		OID:   pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

func connectSQLite(address string, cfg Config, wrap wrapper) (database, error) {
	path, query, _ := strings.Cut(address, "?")
	if path == "" {
		return database{}, errors.New("reading DATABASE_URL: no file named after sqlite")
	}
	options, err := sqliteOptions(query)
	if err != nil {
		return database{}, err
	}
	memory, maxConns := path == ":memory:", cfg.MaxConns
	if memory {
		maxConns = 1 // each connection would have a database of its own
	} else if cfg.AsFound {
		if _, err := os.Stat(path); err != nil {
			return database{}, fmt.Errorf("reading the database's file, which a starter or worker makes when it starts: %w", err)
		}
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return database{}, fmt.Errorf("creating the database's folder: %w", err)
	}
	if maxConns == 0 {
		maxConns = sqliteConns
	}
	name := path + "?" + options.Encode()
	d := database{dialect: dialectSQLite, lite: func() (pool, writes *sql.DB) {
		if maxConns > 1 {
			writes = sqlitePool(fmt.Sprintf("%s&_pragma=wal_autocheckpoint(%d)", name, checkpointPages), 1, wrap)
		}
		return sqlitePool(name, max(1, maxConns-1), wrap), writes
	}}
	if memory || wrap != nil {
		return d, nil // Wrapped connections belong to one user of the file.
	}
	if d.file, err = filepath.Abs(path); err != nil {
		return database{}, fmt.Errorf("reading DATABASE_URL: %w", err)
	}
	d.file += "?" + options.Encode()
	return d, nil
}

func sqlitePool(name string, conns int, wrap wrapper) *sql.DB {
	pool := sql.OpenDB(wrap.wrapConnector(prepared.New(&sqlitedriver.Driver{}, name)))
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool
}

// sqliteOptions adds the defaults to a URL's query: a write-ahead log, waiting
// instead of failing on a locked file (write transactions take the lock when
// they begin), foreign keys, journals of single statements in memory (a file's
// are 64 KB at a time, taken from the system and given back), and instants as
// sortable UTC text. A pragma or
// option that the query names stays as the query has it.
func sqliteOptions(query string) (url.Values, error) {
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("reading the query of DATABASE_URL: %w", err)
	}
	for _, pragma := range []string{"busy_timeout(10000)", "foreign_keys(1)", "journal_mode(WAL)", "synchronous(normal)", "temp_store(memory)"} {
		name, _, _ := strings.Cut(pragma, "(")
		if !namesPragma(options["_pragma"], name) {
			options.Add("_pragma", pragma)
		}
	}
	if !options.Has("_txlock") {
		options.Set("_txlock", "immediate")
	}
	// Queries compare instants as text, so these two are not up for choice.
	options.Set("_time_format", "sqlite")
	options.Set("_timezone", "UTC")
	return options, nil
}

func namesPragma(pragmas []string, name string) bool {
	for _, p := range pragmas {
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(p)), name) {
			return true
		}
	}
	return false
}

// wrapper changes a connector of database/sql; nil changes nothing.
type wrapper func(driver.Connector) driver.Connector

func (w wrapper) wrapConnector(c driver.Connector) driver.Connector {
	if w == nil {
		return c
	}
	return w(c)
}

type wrapperKey struct{}

// WithConnector returns a context under which Open passes the connectors of its
// pools through wrap, which sees every connection, statement and commit. Fault
// injection uses it. A file of SQLite that is opened so is not shared with the
// other parts of the process.
func WithConnector(ctx context.Context, wrap func(driver.Connector) driver.Connector) context.Context {
	return context.WithValue(ctx, wrapperKey{}, wrapper(wrap))
}

func connectorWrapper(ctx context.Context) wrapper {
	wrap, _ := ctx.Value(wrapperKey{}).(wrapper)
	return wrap
}
