// Package pgtest runs a real PostgreSQL from the machine's server programs, in a
// temporary cluster. Tests get a fresh database for every call of Start, from
// one cluster for each test binary; nothing of it outlives the test binary. Chaos
// and bench start and kill a server of their own, from Prepare.
package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"os"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
)

// shared is the test binary's cluster. It runs while a test uses it, and on to
// the end of the binary when Main was called.
var shared struct {
	sync.Mutex
	cluster *cluster
	users   int
	keep    bool
}

// stopCluster ends the cluster; the caller holds the lock.
func stopCluster() {
	if shared.cluster != nil {
		shared.cluster.stopServer()
		shared.cluster = nil
	}
}

// Start creates an empty database and returns its URL; the database is dropped
// when the test ends. The first call starts the cluster, which takes about two
// seconds. Without server programs the test is skipped, or fails where CI is
// set to true.
func Start(tb testing.TB) (url string) {
	tb.Helper()
	c := useCluster(tb)
	tb.Cleanup(releaseCluster)
	name := "test_" + randomHex(tb)
	runStatement(tb, c, "CREATE DATABASE "+name)
	tb.Cleanup(func() { runStatement(tb, c, "DROP DATABASE "+name+" WITH (FORCE)") })
	return c.databaseURL(name)
}

// StartCopy is Start with a database that holds what fill, which must close its
// connections, wrote into another one. It is called once for each cluster, so all
// callers of a test binary pass the same function. When the test ends, the database
// is emptied for another one, or dropped if its schema was changed.
func StartCopy(tb testing.TB, fill func(ctx context.Context, url string) error) (url string) {
	tb.Helper()
	c := useCluster(tb)
	tb.Cleanup(releaseCluster)
	c.filling.Do(func() {
		runStatement(tb, c, "CREATE DATABASE "+filledName)
		if err := fill(tb.Context(), c.databaseURL(filledName)); err != nil {
			tb.Fatalf("filling the database to copy: %v", err)
		}
		if err := c.kept.learn(tb.Context(), c.databaseURL(filledName)); err != nil {
			tb.Fatalf("reading the database to copy: %v", err)
		}
	})
	return c.useCopy(tb)
}

// filledName is the database that StartCopy copies.
const filledName = "filled"

// Main runs a package's tests and keeps one cluster for all of them:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
// Without it the cluster stops whenever no test uses it, and the next one that
// does pays for another start.
func Main(m *testing.M) int {
	shared.Lock()
	shared.keep = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	stopCluster()
	return code
}

func useCluster(tb testing.TB) *cluster {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		_, err := serverPrograms(tb.Context())
		if err != nil && os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		if err != nil {
			tb.Skip(err)
		}
		if shared.cluster, err = startCluster(); err != nil {
			tb.Fatalf("starting PostgreSQL: %v", err)
		}
	}
	shared.users++
	return shared.cluster
}

func releaseCluster() {
	shared.Lock()
	defer shared.Unlock()
	shared.users--
	if shared.users == 0 && !shared.keep {
		stopCluster()
	}
}

func runStatement(tb testing.TB, c *cluster, statement string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := sql.Open("pgx", c.databaseURL("postgres"))
	if err != nil {
		tb.Fatalf("opening PostgreSQL: %v", err)
	}
	if _, err := db.ExecContext(ctx, statement); err != nil {
		tb.Errorf("running %q: %v", statement, err)
	}
	if err := db.Close(); err != nil {
		tb.Errorf("closing PostgreSQL: %v", err)
	}
}

func randomHex(tb testing.TB) string {
	tb.Helper()
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		tb.Fatalf("naming a database: %v", err)
	}
	return hex.EncodeToString(b[:])
}
