package temporal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	databaseFile = "temporal.db"
	// stampFile names the server version that made the database: SQLite has
	// neither schema versions nor migrations in the server.
	stampFile   = "temporal-version"
	clusterName = "active"
	// retention keeps closed workflows this long; the server's own default of
	// one day would lose participants who left before a study is evaluated.
	retention = 365 * 24 * time.Hour
)

// ServerVersion is the version of the Temporal server that is linked in.
const ServerVersion = headers.ServerVersion

// VersionError refuses a database that another server version made. Its text
// tells what to do.
type VersionError struct {
	Dir  string
	Made string // empty when the folder does not say
}

func (e *VersionError) Error() string {
	made := "Temporal server " + e.Made
	if e.Made == "" {
		made = "an unknown Temporal server version (no file " + stampFile + ")"
	}
	return fmt.Sprintf("the Temporal database in %s was made by %s, this program has %s, and SQLite files cannot be upgraded: "+
		"run the version that made it, or choose another data folder, or keep long-lived data on a Temporal server with PostgreSQL. Nothing was changed",
		e.Dir, made, ServerVersion)
}

// openStore prepares the database and returns how to reach it.
func openStore(cfg Config) (*config.SQL, error) {
	store, err := prepareFile(cfg)
	if err != nil {
		return nil, err
	}
	namespace, err := sqliteschema.NewNamespaceConfig(clusterName, cfg.Namespace, false, attributes)
	if err != nil {
		return nil, fmt.Errorf("describing namespace %s: %w", cfg.Namespace, err)
	}
	namespace.Detail.Config.Retention = durationpb.New(retention)
	if err := sqliteschema.CreateNamespaces(store, namespace); err != nil {
		return nil, fmt.Errorf("creating namespace %s: %w", cfg.Namespace, err)
	}
	return store, nil
}

func prepareFile(cfg Config) (*config.SQL, error) {
	if cfg.Dir == "" {
		// Shared cache by a name of its own: every service of this engine sees
		// one database, another engine of this process does not.
		return sqlConfig(rand.Text(), map[string]string{"mode": "memory", "cache": "shared"}), nil
	}
	file := filepath.Join(cfg.Dir, databaseFile)
	_, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = createDatabase(cfg.Dir, file)
	case err == nil:
		err = checkStamp(cfg.Dir)
	}
	if err != nil {
		return nil, err
	}
	return sqlConfig(dsnPath(file), map[string]string{
		"mode": "rwc", "journal_mode": "wal", "synchronous": cfg.Sync, "busy_timeout": "10000",
	}), nil
}

// createDatabase makes the schema beside the final name, so that a crash
// half-way leaves no database that looks whole.
func createDatabase(dir, file string) error {
	draft := file + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing an unfinished Temporal database: %w", err)
	}
	// Without WAL all of the schema is in the one file that is renamed.
	if err := sqliteschema.SetupSchema(sqlConfig(dsnPath(draft), map[string]string{"mode": "rwc"})); err != nil {
		return fmt.Errorf("creating the Temporal database: %w", err)
	}
	stamp := filepath.Join(dir, stampFile)
	if err := os.WriteFile(stamp, []byte(ServerVersion+"\n"), 0o600); err != nil {
		return fmt.Errorf("stamping the Temporal database: %w", err)
	}
	if err := os.Rename(draft, file); err != nil {
		return fmt.Errorf("naming the Temporal database: %w", err)
	}
	return nil
}

func checkStamp(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, stampFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the version of the Temporal database: %w", err)
	}
	if made := strings.TrimSpace(string(text)); made != ServerVersion {
		return &VersionError{Dir: dir, Made: made}
	}
	return nil
}

// dsnPath escapes what would end the path in SQLite's file: URI.
func dsnPath(file string) string { return (&url.URL{Path: file}).EscapedPath() }

func sqlConfig(name string, attrs map[string]string) *config.SQL {
	return &config.SQL{
		PluginName:        sqlite.PluginName,
		DatabaseName:      name,
		ConnectAttributes: attrs,
		// More connections were measured to gain nothing with one writer.
		MaxConns: 1, MaxIdleConns: 1,
	}
}
