package database_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/database"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
)

// Two machines' clocks are ten minutes apart: they agree by the database's.
func TestClockIsTheDatabases(t *testing.T) {
	key, err := seal.Generate()
	require.NoError(t, err)
	ring, err := seal.Parse(key)
	require.NoError(t, err)
	db, err := database.Open(t.Context(), database.Config{URL: dbtest.Postgres(t), Ring: ring})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	fast := db.NewClock(func() time.Time { return time.Now().Add(5 * time.Minute) })
	slow := db.NewClock(func() time.Time { return time.Now().Add(-5 * time.Minute) })
	right := db.NewClock(time.Now)
	for clock, ahead := range map[*database.Clock]time.Duration{fast: -5 * time.Minute, slow: 5 * time.Minute, right: 0} {
		got, err := clock.Compare(t.Context())
		require.NoError(t, err)
		require.InDelta(t, ahead, got, float64(30*time.Second))
	}
	require.WithinDuration(t, fast.Now(), slow.Now(), 30*time.Second)
}

// SQLite's file is of one machine.
func TestClockOfAFileIsTheMachines(t *testing.T) {
	key, err := seal.Generate()
	require.NoError(t, err)
	ring, err := seal.Parse(key)
	require.NoError(t, err)
	db, err := database.Open(t.Context(), database.Config{URL: dbtest.SQLite(t), Ring: ring})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	clock := db.NewClock(func() time.Time { return noon })
	ahead, err := clock.Compare(t.Context())
	require.NoError(t, err)
	require.Zero(t, ahead)
	require.Equal(t, noon, clock.Now())
}
