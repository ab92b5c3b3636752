package temporal

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/config"
)

// TestServerKeepsItsStatements: what the server's services use is the pool that
// keeps statements, with the settings that the server would have given its own.
func TestServerKeepsItsStatements(t *testing.T) {
	for name, cfg := range map[string]Config{
		"memory": {},
		"file":   {Dir: t.TempDir(), Sync: string(SyncFull)},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := cfg.complete()
			require.NoError(t, err)
			store, err := openStore(t.Context(), cfg)
			require.NoError(t, err)
			handle, err := sharedHandle(store)
			require.NoError(t, err)
			require.Same(t, keepingDriver, handle.Driver())
			require.Equal(t, 1, handle.Stats().MaxOpenConnections)

			pool := handle.DB
			require.NoError(t, keepStatements(t.Context(), store)) // a second engine of this process
			require.Same(t, pool, handle.DB)

			var namespaces int
			require.NoError(t, handle.Get(&namespaces, "SELECT count(*) FROM namespaces"))
			require.Positive(t, namespaces) // the same database, also in memory
			if cfg.Dir == "" {
				return
			}
			for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000"} {
				var got string
				require.NoError(t, handle.Get(&got, "PRAGMA "+pragma))
				require.Equal(t, want, got, pragma)
			}
		})
	}
}

// TestForeignStoreIsRefused: a plugin that is not SQLite's has another handle.
func TestForeignStoreIsRefused(t *testing.T) {
	require.ErrorContains(t, keepStatements(t.Context(), &config.SQL{PluginName: "none"}), "opening the Temporal database")
}
