package database

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	goosestore "github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"
	"gorm.io/gorm/schema"

	"coachline/internal/wait"
	"coachline/internal/wrap"
)

//go:embed migrations
var migrations embed.FS

// applyMigrations applies the embedded migrations that the database does not
// have yet.
func applyMigrations(ctx context.Context, d database) error {
	var options []goose.ProviderOption
	tries := 1
	if d.dialect == dialectPostgres {
		// Tried once a second for five minutes.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return fmt.Errorf("preparing the migration lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	} else {
		tries = sqliteTries
	}
	// SQLite has no lock that outlives a transaction. Each migration is one
	// transaction together with its version row, of which there is one, so of two
	// processes that start at once one fails cleanly and finds the work done when it
	// tries again. The count begins anew whenever a process got further.
	var version int64
	for left := tries; ; {
		provider, err := newProvider(d, options...)
		if err != nil {
			return err
		}
		if d.dialect != dialectPostgres {
			err = keepVersionsUnique(ctx, d, provider)
		}
		if err == nil {
			_, err = provider.Up(ctx)
		}
		if err == nil {
			return nil
		}
		left--
		if now, e := provider.GetDBVersion(ctx); e == nil && now > version {
			version, left = now, tries-1
		}
		if left <= 0 || wait.For(ctx, retryAfter) != nil {
			return fmt.Errorf("migrating database: %w", err)
		}
	}
}

// keepVersionsUnique has SQLite refuse a migration that another process has applied
// since this one looked: a table that is written anew would lose its later columns.
func keepVersionsUnique(ctx context.Context, d database, provider *goose.Provider) error {
	if _, err := provider.GetDBVersion(ctx); err != nil { // makes goose's table
		return fmt.Errorf("reading the version of the schema: %w", err)
	}
	_, err := d.pool.ExecContext(ctx, `
		DELETE FROM goose_db_version WHERE id > (SELECT min(o.id) FROM goose_db_version o WHERE o.version_id = goose_db_version.version_id);
		CREATE UNIQUE INDEX IF NOT EXISTS goose_versions ON goose_db_version (version_id)`)
	return wrap.Error(err, "keeping versions of the schema unique")
}

func newProvider(d database, options ...goose.ProviderOption) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations/"+migrationFolder(d.dialect))
	if err != nil {
		return nil, fmt.Errorf("reading migrations: %w", err)
	}
	options = append(options, goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
	provider, err := goose.NewProvider(d.dialect, d.pool, files, options...)
	return provider, wrap.Error(err, "preparing migrations")
}

// checkMigrated reports a schema that is older than this build, and changes nothing.
func checkMigrated(ctx context.Context, d database) error {
	provider, err := newProvider(d)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	needed := sources[len(sources)-1].Version
	versions, err := goosestore.NewStore(d.dialect, goose.DefaultTablename)
	if err != nil {
		return fmt.Errorf("preparing migrations: %w", err)
	}
	version, err := versions.GetLatestVersion(ctx, d.pool)
	if err != nil {
		return fmt.Errorf("reading the version of the schema, which a starter or worker makes when it starts: %w", err)
	}
	if version < needed {
		return fmt.Errorf("the schema has version %d, and this build needs %d: start a starter or worker of this build, which brings it up to date", version, needed)
	}
	return nil
}

// firstConnect makes the first connection. On SQLite that turns a new file's
// write-ahead log on, for which SQLite takes an exclusive lock without asking
// its busy handler: of several processes that start at once the others are
// refused, and find it done a moment later
// (https://sqlite.org/c3ref/busy_handler.html).
func firstConnect(ctx context.Context, d database) error {
	for begun := time.Now(); ; {
		err := d.pool.PingContext(ctx)
		if err == nil {
			return nil
		}
		if !isRetryable(err) || time.Since(begun) > reachWithin || wait.For(ctx, retryAfter) != nil {
			return fmt.Errorf("reaching database: %w", err)
		}
	}
}

func migrationFolder(d goose.Dialect) string {
	if d == dialectPostgres {
		return "postgres"
	}
	return "sqlite"
}

const (
	retryAfter  = 50 * time.Millisecond
	reachWithin = 10 * time.Second
	sqliteTries = 5
)

// Naming gives the tables the names of the schema, without gorm's plurals where
// those are wrong; columns follow gorm's default naming, except that it would
// cut SID in two.
type Naming struct{ schema.NamingStrategy }

// TableName gives the table of a model type.
func (t Naming) TableName(model string) string {
	switch model {
	case "Inbound":
		return "inbound"
	case "Outbox":
		return "outbox"
	case "AuditRow":
		return "audit"
	case "ScheduleRow":
		return "schedules"
	}
	return t.NamingStrategy.TableName(model)
}

// ColumnName gives the column of a model's field.
func (t Naming) ColumnName(table, field string) string {
	if field == "ProviderSID" {
		return "provider_sid"
	}
	return t.NamingStrategy.ColumnName(table, field)
}
