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

// fillOnce makes the database that the tests of this binary copy.
func fillOnce(t *testing.T) func(ctx context.Context, url string) error {
	return func(ctx context.Context, url string) error {
		fills++
		db, err := sql.Open("pgx", url)
		require.NoError(t, err)
		_, err = db.ExecContext(ctx, `CREATE TABLE filled (id serial PRIMARY KEY, at bytea DEFAULT '\x00ff');
			CREATE TABLE refers (id int GENERATED ALWAYS AS IDENTITY, filled int REFERENCES filled);
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rows stay'; END $$;
			CREATE TRIGGER stays BEFORE DELETE ON refers FOR EACH ROW EXECUTE FUNCTION refuse();
			INSERT INTO filled DEFAULT VALUES; INSERT INTO refers (filled) VALUES (1)`)
		return errors.Join(err, db.Close())
	}
}

var fills int

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func query(t *testing.T, db *sql.DB, query string) (text string) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&text))
	return text
}

// TestCopiesAreFilledAndApart: what is written to one copy is in no other one, at the
// same time or later, whether its database was emptied or dropped.
func TestCopiesAreFilledAndApart(t *testing.T) {
	const content = "SELECT concat_ws(' ', (SELECT string_agg(id || ':' || at, ',') FROM filled), (SELECT string_agg(id || ':' || filled, ',') FROM refers), " +
		"(SELECT tgenabled FROM pg_trigger WHERE tgname = 'stays'))"
	const filled = `1:\x00ff 1:1 O`
	names := map[string]bool{}
	for _, change := range []string{
		"SELECT nextval('filled_id_seq')",
		"UPDATE filled SET at = ''",
		"ALTER TABLE refers DISABLE TRIGGER stays",
		"CREATE TABLE more (id int)",
		"DROP TABLE refers",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
		"INSERT INTO filled DEFAULT VALUES; INSERT INTO refers (filled) VALUES (3)",
	} {
		t.Run(change, func(t *testing.T) {
			one := open(t, pgtest.StartCopy(t, fillOnce(t)))
			other := open(t, pgtest.StartCopy(t, fillOnce(t)))
			for _, db := range []*sql.DB{one, other} {
				require.Equal(t, filled, query(t, db, content))
				require.Equal(t, "2 on", query(t, db, "SELECT nextval('filled_id_seq') || ' ' || CASE current_setting('default_transaction_read_only') WHEN 'off' THEN 'on' END"))
				names[query(t, db, "SELECT current_database()")] = true
			}
			_, err := one.ExecContext(t.Context(), change)
			require.NoError(t, err)
		})
	}
	require.Equal(t, 1, fills)
	require.Len(t, names, 6, "two at a time, and another one for each that had its schema changed")
}
