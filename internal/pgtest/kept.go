package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// keptDatabases are copies of the filled database that tests have used and that
// are as they were when they were made. To empty one takes a sixth of what it
// takes to make and drop one.
type keptDatabases struct {
	sync.Mutex
	idle []string
	// empty is what brings the rows of a copy back, and schema what identifies its
	// tables, functions and triggers.
	empty, schema string
}

// take returns the name of a database that no other test uses, empty if there is none.
func (k *keptDatabases) take() (name string) {
	k.Lock()
	defer k.Unlock()
	if len(k.idle) == 0 {
		return ""
	}
	name = k.idle[len(k.idle)-1]
	k.idle = k.idle[:len(k.idle)-1]
	return name
}

func (k *keptDatabases) giveBack(name string) {
	k.Lock()
	defer k.Unlock()
	k.idle = append(k.idle, name)
}

// learn reads from the filled database what empties a copy of it. Rows that the
// filling wrote stay there, in a second schema, which each copy has.
func (k *keptDatabases) learn(ctx context.Context, url string) error {
	return onConnection(ctx, url, func(conn *sql.Conn) error {
		tables, err := readTexts(ctx, conn, "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname "+ownSchemas)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, "CREATE SCHEMA kept"); err != nil {
			return err
		}
		// Neither triggers nor foreign keys fire. TRUNCATE would make new files.
		var empty strings.Builder
		empty.WriteString("SET session_replication_role = replica;")
		for _, table := range tables {
			fmt.Fprintf(&empty, "DELETE FROM %s;", table)
		}
		for i, table := range tables {
			var filled bool
			if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM "+table+")").Scan(&filled); err != nil {
				return err
			}
			if !filled {
				continue
			}
			kept := fmt.Sprintf("kept.t%d", i)
			if _, err := conn.ExecContext(ctx, "CREATE TABLE "+kept+" AS TABLE "+table); err != nil {
				return err
			}
			fmt.Fprintf(&empty, "INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM %s;", table, kept)
		}
		sequences, err := readTexts(ctx, conn, "SELECT format('SELECT setval(%L, %s, %L);', format('%I.%I', schemaname, sequencename), "+
			"coalesce(last_value, start_value), last_value IS NOT NULL) FROM pg_sequences WHERE schemaname "+ownSchemas)
		if err != nil {
			return err
		}
		k.empty = empty.String() + strings.Join(sequences, "")
		return conn.QueryRowContext(ctx, schemaQuery).Scan(&k.schema)
	})
}

// ownSchemas are those that are no part of PostgreSQL.
const ownSchemas = "NOT IN ('pg_catalog', 'information_schema')"

// schemaQuery identifies the schema by the transactions that wrote the rows of the
// catalogue, which a copy takes along.
var schemaQuery = func() string {
	var parts []string
	for _, table := range []string{"pg_class", "pg_attribute", "pg_attrdef", "pg_index", "pg_constraint", "pg_trigger", "pg_proc", "pg_namespace", "pg_rewrite"} {
		parts = append(parts, "(SELECT count(*) || ':' || sum(xmin::text::bigint) FROM "+table+")")
	}
	parts = append(parts, "(SELECT count(*)::text FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))")
	return "SELECT concat_ws(' ', " + strings.Join(parts, ", ") + ")"
}()

// errChanged says that a test changed the schema of its database.
var errChanged = errors.New("the schema has changed")

// clear ends what is still connected to a database and brings its rows back. It is
// errChanged where that is not enough.
func (k *keptDatabases) clear(ctx context.Context, url string) error {
	return onConnection(ctx, url, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "+
			"WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"); err != nil {
			return err
		}
		var schema string
		if err := conn.QueryRowContext(ctx, schemaQuery).Scan(&schema); err != nil {
			return err
		}
		if schema != k.schema {
			return errChanged
		}
		_, err := conn.ExecContext(ctx, k.empty)
		return err
	})
}

// useCopy takes a kept database, or makes one, for the time of a test.
func (c *cluster) useCopy(tb testing.TB) (url string) {
	tb.Helper()
	name := c.kept.take()
	if name == "" {
		name = "test_" + randomHex(tb)
		runStatement(tb, c, "CREATE DATABASE "+name+" TEMPLATE "+filledName)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err := c.kept.clear(ctx, c.databaseURL(name))
		if err == nil {
			c.kept.giveBack(name)
			return
		}
		if !errors.Is(err, errChanged) {
			tb.Errorf("emptying a database: %v", err)
		}
		runStatement(tb, c, "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return c.databaseURL(name)
}

func onConnection(ctx context.Context, url string, fn func(conn *sql.Conn) error) (err error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return fn(conn)
}

// readTexts returns the rows of a query with one column, in order of their text.
func readTexts(ctx context.Context, conn *sql.Conn, query string) (texts []string, err error) {
	rows, err := conn.QueryContext(ctx, query+" ORDER BY 1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}
