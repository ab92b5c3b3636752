package store_test

import (
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
)

// TestSchemaNames compares the tables and columns of both databases with the
// recorded ones. GORM derives names from types and fields, so a renamed field is
// a renamed column: pin the old name. A new column is recorded with
// make record RUN=TestSchemaNames
func TestSchemaNames(t *testing.T) {
	const file = "testdata/schema.golden"
	onBoth(t, func(t *testing.T, w *world) {
		query := `SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
		if strings.HasPrefix(w.url, "postgres") {
			query = `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'`
		}
		var names []string
		w.raw(func(db *sql.DB) {
			rows, err := db.QueryContext(w.ctx, query)
			require.NoError(t, err)
			defer rows.Close()
			for rows.Next() {
				var name string
				require.NoError(t, rows.Scan(&name))
				names = append(names, name)
			}
			require.NoError(t, rows.Err())
		})
		slices.Sort(names)
		got := strings.Join(names, "\n") + "\n"
		if goldens.ShouldRecord() {
			require.NoError(t, os.MkdirAll("testdata", 0o750))
			require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, strings.Split(string(want), "\n"), strings.Split(got, "\n"))
	})
}
