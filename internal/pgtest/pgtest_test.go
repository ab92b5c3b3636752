package pgtest_test

import (
	"context"
	"database/sql"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestStartGivesFreshDatabases(t *testing.T) {
	ctx := context.Background()
	first, second := pgtest.Start(t), pgtest.Start(t)
	require.NotEqual(t, first, second)
	for _, url := range []string{first, second} {
		db, err := sql.Open("pgx", url)
		require.NoError(t, err)
		// The second database would refuse this if it were the first one.
		_, err = db.ExecContext(ctx, "CREATE TABLE only_once (id int)")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

func TestStartDropsItsDatabase(t *testing.T) {
	var url string
	keeper := pgtest.Start(t)
	t.Run("inner", func(t *testing.T) { url = pgtest.Start(t) })
	require.NotEmpty(t, url)
	gone, err := sql.Open("pgx", url)
	require.NoError(t, err)
	require.ErrorContains(t, gone.PingContext(context.Background()), "does not exist")
	require.NoError(t, gone.Close())
	kept, err := sql.Open("pgx", keeper)
	require.NoError(t, err)
	require.NoError(t, kept.PingContext(context.Background()))
	require.NoError(t, kept.Close())
}
