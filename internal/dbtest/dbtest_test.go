package dbtest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/database"
	"coachline/internal/dbtest"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestCopies: each copy has the schema, opens with any key and shares no rows.
func TestCopies(t *testing.T) {
	for name, start := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				key, err := seal.Generate()
				require.NoError(t, err)
				ring, err := seal.Parse(key)
				require.NoError(t, err)
				d, err := database.Open(t.Context(), database.Config{URL: start(t), Ring: ring})
				require.NoError(t, err)
				var holds int64
				require.NoError(t, d.Reader(t.Context()).Exec("INSERT INTO holds (scope, reason, created_by, created_at, until_at) "+
					"VALUES ('all', '', 'test', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)").Error)
				require.NoError(t, d.Reader(t.Context()).Table("holds").Count(&holds).Error)
				require.EqualValues(t, 1, holds)
				require.NoError(t, d.Close())
			}
		})
	}
}
