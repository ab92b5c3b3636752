// Package prepared keeps a driver's statements compiled from one use to the
// next, each connection its own, as pgx does for PostgreSQL. Parsing and
// planning is a good half of what a short statement costs in SQLite.
//
// The pool's own prepared statements would do it too, but prepare on any
// connection that is free: with one held by a transaction and no other, they
// would wait for ever.
package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// kept bounds the statements of a connection, a few KB each; what was used
// longest ago goes first.
const kept = 256

// Connector opens connections that keep their statements. It is safe for
// concurrent use when the driver is.
type Connector struct {
	driver driver.Driver
	name   string
}

// New opens its connections with d under the given data source name.
func New(d driver.Driver, name string) *Connector { return &Connector{driver: d, name: name} }

// Driver is the driver below.
func (c *Connector) Driver() driver.Driver { return c.driver }

// Connect opens a connection. The driver's must know contexts.
func (c *Connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	below, ok := opened.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("keeping statements: %T knows no contexts", opened), opened.Close())
	}
	statements, err := simplelru.NewLRU[string](kept, drop)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return &conn{connection: below, statements: statements}, nil
}

// connection is a driver's that knows contexts.
type connection interface {
	session
	driver.ConnBeginTx
	runner
}

type session interface {
	driver.Conn
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type runner interface {
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// columns is what the driver's rows say of themselves.
type columns interface {
	driver.Rows
	driver.RowsColumnTypeScanType
	measures
}

type measures interface {
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
}

// conn is used by one goroutine at a time, as database/sql promises.
type conn struct {
	connection
	statements *simplelru.LRU[string, *statement]
	// writing: a transaction that writes is open.
	writing bool
}

// BeginTx begins a transaction.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	below, err := c.connection.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	c.writing = !options.ReadOnly
	return transaction{below, c}, nil
}

type transaction struct {
	driver.Tx
	conn *conn
}

// Commit ends the transaction, also where it fails.
func (t transaction) Commit() error {
	t.conn.writing = false
	return t.Tx.Commit()
}

// Rollback ends the transaction.
func (t transaction) Rollback() error {
	t.conn.writing = false
	return t.Tx.Rollback()
}

// whole is the context that a statement runs under. Those of a transaction that
// writes are short and wait for no lock: they run to their end, because the driver
// starts a goroutine for each that may be interrupted. The pool looks at the
// context between them.
func (c *conn) whole(ctx context.Context) context.Context {
	if c.writing {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// ExecContext runs a statement that gives no rows.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !isRepeated(query) {
		return c.connection.ExecContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	res, err := s.exec.ExecContext(c.whole(ctx), args)
	return res, errors.Join(err, s.release())
}

// QueryContext runs a statement that gives rows; it is free again once they
// are closed.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !isRepeated(query) {
		return c.connection.QueryContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	found, err := s.query.QueryContext(c.whole(ctx), args)
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	told, ok := found.(columns)
	if !ok {
		return nil, errors.Join(fmt.Errorf("keeping statements: %T tells no column types", found), found.Close(), s.release())
	}
	return &rows{columns: told, of: s}, nil
}

// Close closes what was kept, then the connection.
func (c *conn) Close() error {
	c.statements.Purge()
	return c.connection.Close()
}

// take gives the statement of that text, which is then running. The one that
// is kept may be running already, in whose rows this one is asked for: then it
// is another, used once.
func (c *conn) take(ctx context.Context, query string) (*statement, error) {
	s, kept := c.statements.Get(query)
	if kept && !s.running {
		s.running = true
		return s, nil
	}
	compiled, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s = &statement{Stmt: compiled, running: true, dropped: kept}
	var ok bool
	if s.exec, ok = compiled.(driver.StmtExecContext); ok {
		s.query, ok = compiled.(driver.StmtQueryContext)
	}
	if !ok {
		return nil, errors.Join(fmt.Errorf("keeping statements: %T knows no contexts", compiled), compiled.Close())
	}
	if !kept {
		c.statements.Add(query, s)
	}
	return s, nil
}

type statement struct {
	driver.Stmt
	exec    driver.StmtExecContext
	query   driver.StmtQueryContext
	running bool
	// dropped: no longer kept, so it is closed when it has run.
	dropped bool
}

func (s *statement) release() error {
	s.running = false
	if s.dropped {
		return s.Close()
	}
	return nil
}

// drop is told of statements that are kept no longer.
func drop(_ string, s *statement) {
	s.dropped = true
	if !s.running {
		_ = s.Close() // its last use has been told of its errors
	}
}

type rows struct {
	columns
	of *statement
}

// Close may be called more than once.
func (r *rows) Close() error {
	if r.of == nil {
		return nil
	}
	s := r.of
	r.of = nil
	return errors.Join(r.columns.Close(), s.release())
}

// isRepeated reports whether a statement reads or writes rows. Those of the schema
// run once, and scripts are more than one statement.
func isRepeated(query string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch strings.ToUpper(word) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}
