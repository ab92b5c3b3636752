package main

import (
	"context"
	"math/rand/v2"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"coachline/internal/dbtest"
)

// TestProxyLosesCommits: what an answer was lost for is in the database all the same,
// whether it was a transaction or one statement, and reads are left alone.
func TestProxyLosesCommits(t *testing.T) {
	direct := dbtest.Postgres(t)
	address, err := url.Parse(direct)
	require.NoError(t, err)
	s := &storm{address: map[string]string{"postgres": address.Host}, counts: map[string]int{}, random: rand.New(rand.NewPCG(1, 0)), calm: true}
	require.NoError(t, s.serveProxy(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.proxy.Close()) })
	address.Host = s.proxy.Addr().String()
	run := func(queries ...string) (err error) {
		conn, err := pgx.Connect(t.Context(), address.String())
		require.NoError(t, err)
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // it may be lost
		for _, query := range queries {
			if _, err = conn.Exec(t.Context(), query); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, run("CREATE TABLE lost (n int)"))
	s.setCalm(false)
	for tries := 0; s.counts["answer to a commit lost"] < 4; tries++ {
		if tries%2 == 0 {
			_ = run("INSERT INTO lost VALUES (1)")
		} else {
			_ = run("BEGIN", "INSERT INTO lost VALUES (1)", "COMMIT")
		}
		require.NoError(t, run("SELECT 1"))
		conn, err := pgx.Connect(t.Context(), direct)
		require.NoError(t, err)
		rows := 0
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM lost").Scan(&rows))
		require.NoError(t, conn.Close(t.Context()))
		require.Equal(t, tries+1, rows)
	}
}
