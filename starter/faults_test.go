package starter

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

var errDown = errors.New("down")

// statement is one that a store runs, without quotes around names.
type statement struct {
	query string
	inTx  bool
}

// faults stand between a store and its database. They are safe for concurrent use.
type faults struct {
	mu        sync.Mutex
	statement func(s statement, run func() error) error
	commit    func(queries string, run func() error) error
}

// onStatement has each statement run by a function; nil ends that.
func (f *faults) onStatement(run func(s statement, run func() error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statement = run
}

// onCommit has each commit run by a function, which gets the statements of the
// transaction. Where it does not run the commit, the transaction is rolled back.
func (f *faults) onCommit(run func(queries string, run func() error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit = run
}

// fail has every statement fail from now on; nil ends that.
func (f *faults) fail(err error) {
	if err == nil {
		f.onStatement(nil)
		return
	}
	f.onStatement(func(statement, func() error) error { return err })
}

// failOnce has the next statement with a part fail.
func (f *faults) failOnce(part string) {
	var done atomic.Bool
	f.onStatement(func(s statement, run func() error) error {
		if strings.Contains(s.query, part) && !done.Swap(true) {
			return errDown
		}
		return run()
	})
}

// between runs a function once, after the next statement with a part that is in no
// transaction.
func (f *faults) between(part string, fn func()) {
	var done atomic.Bool
	f.onStatement(func(s statement, run func() error) error {
		err := run()
		if !s.inTx && strings.Contains(s.query, part) && !done.Swap(true) {
			fn()
		}
		return err
	})
}

func unquote(query string) string { return strings.NewReplacer("`", "", `"`, "").Replace(query) }

func (f *faults) runStatement(s statement, run func() error) error {
	f.mu.Lock()
	hook := f.statement
	f.mu.Unlock()
	if hook == nil {
		return run()
	}
	return hook(s, run)
}

func (f *faults) runCommit(queries string, run func() error) error {
	f.mu.Lock()
	hook := f.commit
	f.mu.Unlock()
	if hook == nil {
		return run()
	}
	return hook(queries, run)
}

// wrap passes what a pool does through the faults.
func (f *faults) wrap(below driver.Connector) driver.Connector {
	return faultyConnector{Connector: below, faults: f}
}

type faultyConnector struct {
	driver.Connector
	faults *faults
}

func (c faultyConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	below, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T knows no contexts", opened), opened.Close())
	}
	return &faultyConn{driverConn: below, faults: c.faults}, nil
}

type driverConn interface {
	driver.Conn
	driver.Pinger
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// faultyConn is used by one goroutine at a time.
type faultyConn struct {
	driverConn
	faults *faults
	// queries are those of the open transaction.
	queries strings.Builder
	inTx    bool
}

func (c *faultyConn) Ping(ctx context.Context) error {
	return c.faults.runStatement(statement{}, func() error { return c.driverConn.Ping(ctx) })
}

func (c *faultyConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	c.queries.Reset()
	below, err := c.driverConn.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return faultyTx{Tx: below, conn: c}, nil
}

func (c *faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	c.queries.WriteString(unquote(query) + "\n")
	err = c.faults.runStatement(statement{unquote(query), c.inTx}, func() error {
		result, err = c.driverConn.ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

func (c *faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	c.queries.WriteString(unquote(query) + "\n")
	err = c.faults.runStatement(statement{unquote(query), c.inTx}, func() error {
		rows, err = c.driverConn.QueryContext(ctx, query, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

type faultyTx struct {
	driver.Tx
	conn *faultyConn
}

func (t faultyTx) Rollback() error {
	t.conn.inTx = false
	return t.Tx.Rollback()
}

func (t faultyTx) Commit() error {
	committed := false
	err := t.conn.faults.runCommit(t.conn.queries.String(), func() error {
		committed, t.conn.inTx = true, false
		return t.Tx.Commit()
	})
	if !committed {
		return errors.Join(err, t.Rollback())
	}
	return err
}
