package pgtest_test

import (
	"context"
	"database/sql"
	"errors"
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

// TestCopiesAreFilledAndApart: what is written to one copy is in no other one.
func TestCopiesAreFilledAndApart(t *testing.T) {
	fills := 0
	fill := func(ctx context.Context, url string) error {
		fills++
		db, err := sql.Open("pgx", url)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, "CREATE TABLE filled (id int); INSERT INTO filled VALUES (1)")
		return errors.Join(err, db.Close())
	}
	for range 2 {
		db, err := sql.Open("pgx", pgtest.StartCopy(t, fill))
		require.NoError(t, err)
		var count int
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM filled").Scan(&count))
		require.Equal(t, 1, count)
		_, err = db.ExecContext(t.Context(), "INSERT INTO filled VALUES (2)")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	require.Equal(t, 1, fills)
}
