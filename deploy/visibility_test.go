package deploy

import (
	"database/sql"
	"io/fs"
	"os"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	"github.com/stretchr/testify/require"
	"go.temporal.io/server/schema"

	"coachline/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestVisibilityIndexesLeaveOutMissingValues: the script leaves every index of
// Temporal's schema in its place, and nothing of an execution in those of
// attributes that it does not have; it may be run again.
func TestVisibilityIndexesLeaveOutMissingValues(t *testing.T) {
	db, err := sql.Open("pgx", pgtest.Start(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	tables, err := fs.ReadFile(schema.Assets(), "postgresql/v12/visibility/schema.sql")
	require.NoError(t, err)
	run := func(statement string) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	count := func(query string) (n int) {
		t.Helper()
		require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&n))
		return n
	}
	const (
		indexes = "SELECT count(*) FROM pg_index WHERE indrelid = 'executions_visibility'::regclass"
		partial = indexes + " AND indpred IS NOT NULL"
		size    = "SELECT pg_indexes_size('executions_visibility')"
		found   = "SELECT count(*) FROM executions_visibility WHERE Keyword01 = 'active' AND namespace_id = 'n'"
	)
	fill := func() {
		run("INSERT INTO executions_visibility (namespace_id, run_id, start_time, execution_time, workflow_id, workflow_type_name, status, encoding, search_attributes) " +
			`SELECT 'n', gen_random_uuid()::text, now(), now(), 'w' || i, 'Participant', 1, '', '{"Keyword01":"active"}' FROM generate_series(1, 500) i`)
	}
	run(string(tables))
	all, empty := count(indexes), count(size)
	require.Zero(t, count(partial))
	fill()
	before := count(size) - empty
	run("TRUNCATE executions_visibility")
	run(VisibilityIndexes)
	require.Equal(t, all, count(indexes))
	narrowed := count(partial)
	require.Greater(t, narrowed, all*2/3)
	empty = count(size)
	fill()
	require.Less(t, count(size)-empty, before/3)
	require.Equal(t, 500, count(found))
	run(VisibilityIndexes)
	require.Equal(t, []int{all, narrowed}, []int{count(indexes), count(partial)})
	require.Equal(t, 500, count(found))
	t.Logf("%d of %d indexes; %d bytes of 500 executions before, %d after", narrowed, all, before, count(size)-empty)
}
