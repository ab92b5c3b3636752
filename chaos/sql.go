package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// connector passes the statements of an instance through its faults.
type connector struct {
	driver.Connector
	instance *instance
}

// Connect opens a connection below.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.instance.isDead() {
		return nil, errDead
	}
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	below, ok := opened.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T knows no contexts", opened), opened.Close())
	}
	return &conn{connection: below, instance: c.instance}, nil
}

// connection is what both drivers of the product provide.
type connection interface {
	driver.Conn
	driver.Pinger
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
}

// conn is used by one goroutine at a time.
type conn struct {
	connection
	instance *instance
	// broken: a fault has hit it; only a rollback passes, as the server's own
	// when a connection is lost.
	broken bool
	inTx   bool
	// wrote names the first write of the open transaction.
	wrote string
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool {
	if valid, ok := c.connection.(driver.Validator); ok && !valid.IsValid() {
		return false
	}
	return !c.broken
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *conn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.connection.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// BeginTx begins a transaction, which is no point: its first statement is one.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if c.broken || c.instance.isDead() {
		return nil, errLost
	}
	below, err := c.connection.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	c.inTx, c.wrote = true, ""
	return &transaction{below: below, conn: c, ctx: ctx}, nil
}

// ExecContext runs a statement.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.statement(ctx, query, func() error {
		result, err = c.connection.ExecContext(ctx, query, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// QueryContext runs a statement that gives rows.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = c.statement(ctx, query, func() error {
		rows, err = c.connection.QueryContext(ctx, query, args)
		return err
	})
	if err == nil {
		return rows, nil
	}
	if rows != nil {
		_ = rows.Close() // Its answer is lost.
	}
	return nil, err
}

func (c *conn) statement(ctx context.Context, query string, do func() error) error {
	if c.broken {
		return errLost
	}
	name, write := statementName(query)
	op := operation{kind: "sql", name: name, lost: errLost}
	if write && c.inTx && c.wrote == "" {
		c.wrote = name
	}
	if write && !c.inTx {
		op.effect = writes
	}
	err := c.instance.call(ctx, op, do)
	c.broken = errors.Is(err, errLost) || errors.Is(err, errDead)
	return err
}

// transaction makes commits a point.
type transaction struct {
	below driver.Tx
	conn  *conn
	ctx   context.Context //nolint:containedctx // driver.Tx has no contexts
}

// Commit commits. A commit that is refused before it reached the server is a
// rollback.
func (t *transaction) Commit() error {
	c := t.conn
	c.inTx = false
	if c.broken || c.instance.isDead() {
		return errors.Join(errLost, t.below.Rollback())
	}
	if c.wrote == "" {
		return t.below.Commit()
	}
	done := false
	op := operation{kind: "sql", name: "COMMIT " + c.wrote, effect: writes, lost: errLost}
	err := c.instance.call(t.ctx, op, func() error {
		done = true
		return t.below.Commit()
	})
	if !done {
		err = errors.Join(err, t.below.Rollback())
	}
	c.broken = errors.Is(err, errLost) || errors.Is(err, errDead)
	return err
}

// Rollback always reaches the database: a server rolls back by itself when it
// loses the connection.
func (t *transaction) Rollback() error {
	t.conn.inTx = false
	return t.below.Rollback()
}
