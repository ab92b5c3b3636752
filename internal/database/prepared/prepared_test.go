package prepared

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
)

// counting counts what the driver below compiles.
type counting struct {
	sqlite.Driver
	compiled, closed int
	interruptible    bool // the newest statement
}

func (c *counting) Open(name string) (driver.Conn, error) {
	below, err := c.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &countingConn{connection: below.(connection), on: c}, nil
}

type countingConn struct {
	connection
	on *counting
}

func (c *countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.connection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.on.compiled++
	return &countingStmt{whole: s.(whole), on: c.on}, nil
}

type whole interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countingStmt struct {
	whole
	on *counting
}

func (s *countingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.on.interruptible = ctx.Done() != nil
	return s.whole.ExecContext(ctx, args)
}

func (s *countingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.on.interruptible = ctx.Done() != nil
	return s.whole.QueryContext(ctx, args)
}

func (s *countingStmt) Close() error {
	s.on.closed++
	return s.whole.Close()
}

func open(t *testing.T) (*sql.DB, *counting) {
	t.Helper()
	below := &counting{}
	pool := sql.OpenDB(New(below, filepath.Join(t.TempDir(), "rows.db")))
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	exec(t, pool, "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
	for i := range 3 {
		exec(t, pool, "INSERT INTO notes (id, body) VALUES (?, ?)", i, fmt.Sprint("note ", i))
	}
	return pool, below
}

func exec(t *testing.T, pool *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := pool.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func body(t *testing.T, pool *sql.DB, id int) (found string, err error) {
	t.Helper()
	err = pool.QueryRowContext(t.Context(), "SELECT body FROM notes WHERE id = ?", id).Scan(&found)
	return found, err
}

func TestStatementsAreCompiledOnce(t *testing.T) {
	pool, below := open(t)
	for range 5 {
		for i := range 3 {
			if got, err := body(t, pool, i); err != nil || got != fmt.Sprint("note ", i) {
				t.Fatalf("note %d: %q, %v", i, got, err)
			}
		}
	}
	// One INSERT and one SELECT; the schema's statement is not kept.
	if below.compiled != 2 || below.closed != 0 {
		t.Fatalf("compiled %d and closed %d statements", below.compiled, below.closed)
	}
	if err := pool.Close(); err != nil || below.closed != 2 {
		t.Fatalf("closing: %v, %d statements closed", err, below.closed)
	}
}

// The same text inside its own rows must not disturb them.
func TestAStatementInsideItsOwnRows(t *testing.T) {
	pool, below := open(t)
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const all = "SELECT id FROM notes ORDER BY id"
	var seen []int
	outer, err := tx.QueryContext(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outer.Close() }()
	for outer.Next() {
		var id, inner int
		if err := outer.Scan(&id); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRowContext(t.Context(), all).Scan(&inner); err != nil || inner != 0 {
			t.Fatalf("inside: %d, %v", inner, err)
		}
		seen = append(seen, id)
	}
	if err := errors.Join(outer.Err(), tx.Commit()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(seen) != "[0 1 2]" {
		t.Fatalf("the outer rows were %v", seen)
	}
	// INSERT, the outer SELECT and three inner ones, which are closed again.
	if below.compiled != 5 || below.closed != 3 {
		t.Fatalf("compiled %d and closed %d statements", below.compiled, below.closed)
	}
}

func TestAStatementThatFailedIsUsedAgain(t *testing.T) {
	pool, below := open(t)
	const insert = "INSERT INTO notes (id, body) VALUES (?, ?)"
	_, err := pool.ExecContext(t.Context(), insert, 1, "taken")
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		t.Fatalf("a taken key: %v", err)
	}
	exec(t, pool, insert, 9, "free")
	if got, err := body(t, pool, 9); err != nil || got != "free" {
		t.Fatalf("after the failure: %q, %v", got, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := pool.ExecContext(ended, insert, 10, "late"); !errors.Is(err, context.Canceled) {
		t.Fatalf("an ended context: %v", err)
	}
	if below.compiled != 2 {
		t.Fatalf("compiled %d statements", below.compiled)
	}
}

// A changed table changes what a kept statement means.
func TestKeptStatementsSeeANewSchema(t *testing.T) {
	pool, _ := open(t)
	columns := func() int {
		found, err := pool.QueryContext(t.Context(), "SELECT * FROM notes")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = found.Close() }()
		names, err := found.Columns()
		if err = errors.Join(err, found.Err()); err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	before := columns()
	exec(t, pool, "ALTER TABLE notes ADD COLUMN mood TEXT")
	if after := columns(); before != 2 || after != 3 {
		t.Fatalf("%d columns before, %d after", before, after)
	}
}

func TestThoseUsedLongestAgoAreClosed(t *testing.T) {
	pool, below := open(t)
	for i := range 300 {
		var n int
		if err := pool.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*) + %d FROM notes", i)).Scan(&n); err != nil || n != 3+i {
			t.Fatalf("statement %d: %d, %v", i, n, err)
		}
	}
	if open := below.compiled - below.closed; open != 256 {
		t.Fatalf("%d statements are open", open)
	}
}

// What writes in a transaction runs to its end, and the transaction ends with its
// context all the same.
func TestWritesAreNotInterrupted(t *testing.T) {
	pool, below := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check := func(when string, want bool) {
		t.Helper()
		if below.interruptible != want {
			t.Fatalf("%s: interruptible is %v", when, below.interruptible)
		}
	}
	run := func(in interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	}) error {
		_, err := in.ExecContext(ctx, "UPDATE notes SET body = ?", "new")
		return err
	}
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := run(tx); err != nil {
			t.Fatal(err)
		}
		check("in a transaction", false)
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
		if err := run(pool); err != nil {
			t.Fatal(err)
		}
		check("alone", true)
	}
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var count int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM notes").Scan(&count); err != nil || count != 3 {
		t.Fatal(count, err)
	}
	check("in a transaction that reads", true)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if tx, err = pool.BeginTx(ctx, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := run(tx); !errors.Is(err, context.Canceled) && !errors.Is(err, sql.ErrTxDone) {
		t.Fatal(err)
	}
}
