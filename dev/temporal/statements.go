package temporal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"reflect"

	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistence "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
	"modernc.org/sqlite"

	"coachline/internal/database/prepared"
)

// keepingDriver opens connections whose statements are kept; a pool that has it is
// one of keepStatements.
var keepingDriver = &sqlite.Driver{}

// keepStatements has the server's connections to store keep their statements
// compiled: parsing them anew took 7 % of the processor of a reply. The server's
// plugin opens them by the fixed name of a driver, and shares one handle of sqlx
// among all services of the process; the pool in that handle is replaced, before
// the server starts and uses it. A server whose plugin is built otherwise is
// refused.
func keepStatements(ctx context.Context, store *config.SQL) error {
	handle, err := sharedHandle(store)
	if err != nil {
		return err
	}
	if handle.Driver() == keepingDriver { // of an engine that ran before in this process
		return nil
	}
	pool := sql.OpenDB(prepared.New(keepingDriver, dataSourceName(store)))
	pool.SetMaxOpenConns(store.MaxConns)
	pool.SetMaxIdleConns(store.MaxIdleConns)
	// A database in memory is gone with its last connection: the new one comes first.
	if err := pool.PingContext(ctx); err != nil {
		return errors.Join(fmt.Errorf("opening the Temporal database: %w", err), pool.Close())
	}
	plain := handle.DB
	handle.DB = pool
	return plain.Close()
}

// sharedHandle is what the server's plugin reaches store through.
func sharedHandle(store *config.SQL) (*sqlx.DB, error) {
	db, err := persistence.NewSQLDB(sqlplugin.DbKindMain, store, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return nil, fmt.Errorf("opening the Temporal database: %w", err)
	}
	handle := reflect.Indirect(reflect.ValueOf(db)).FieldByName("db")
	if !handle.IsValid() || handle.Type() != reflect.TypeFor[*sqlx.DB]() {
		return nil, errors.Join(fmt.Errorf("keeping the Temporal server's statements: %T of server %s has no field db of type *sqlx.DB", db, ServerVersion), db.Close())
	}
	return (*sqlx.DB)(handle.UnsafePointer()), nil
}

// dataSourceName names store as the server's plugin does: what SQLite takes in a
// file's URI stays a parameter, the rest are pragmas.
func dataSourceName(store *config.SQL) string {
	options := url.Values{"_time_format": {"sqlite"}}
	for name, value := range store.ConnectAttributes {
		if name == "mode" || name == "cache" {
			options.Set(name, value)
			continue
		}
		options.Add("_pragma", name+"="+value)
	}
	return "file:" + store.DatabaseName + "?" + options.Encode()
}
