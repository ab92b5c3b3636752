// Package dbtest gives tests databases that have the schema already. The migrations
// run once in a test binary, and each test gets a copy: they are most of what opening
// a new store costs.
package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"coachline/internal/database"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
)

// SQLite returns the URL of a file of its own, which is gone when the test ends.
func SQLite(tb testing.TB) (url string) {
	tb.Helper()
	content, err := migratedFile()
	if err != nil {
		tb.Fatalf("making the database to copy: %v", err)
	}
	path := filepath.Join(tb.TempDir(), "coach.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatalf("copying the database: %v", err)
	}
	return "sqlite:" + path
}

// Postgres returns the URL of a database of its own, which is dropped when the test
// ends. It starts the server and is skipped as pgtest.Start.
func Postgres(tb testing.TB) (url string) {
	tb.Helper()
	return pgtest.StartCopy(tb, migrate)
}

// migratedFile is a database in SQLite's format with the schema and no rows.
var migratedFile = sync.OnceValues(func() (content []byte, err error) {
	folder, err := os.MkdirTemp("", "coachline-dbtest-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "coach.db")
	if err := migrate(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	// Nothing is left in a log: the last connection of a file writes it back.
	return os.ReadFile(path)
})

// migrate brings the schema of a database up to date. No row is sealed, so tests may
// open it with a key of their own.
func migrate(ctx context.Context, url string) error {
	key, err := seal.Generate()
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	ring, err := seal.Parse(key)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	d, err := database.Open(ctx, database.Config{URL: url, Ring: ring})
	if err != nil {
		return err
	}
	return d.Close()
}
