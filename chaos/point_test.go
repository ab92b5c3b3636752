package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatementName(t *testing.T) {
	for _, tc := range []struct {
		query, want string
		write       bool
	}{
		{"SELECT * FROM `outbox` WHERE id = ?", "SELECT outbox", false},
		{`SELECT count(*) FROM "notices"`, "SELECT notices", false},
		{"INSERT INTO `turns` (`id`) VALUES (?)", "INSERT turns", true},
		{"INSERT INTO turns(id) VALUES (?)", "INSERT turns", true},
		{`UPDATE "outbox" SET "status"=$1`, "UPDATE outbox", true},
		{"DELETE FROM `brakes` WHERE sender = ?", "DELETE brakes", true},
		{"PRAGMA foreign_keys", "PRAGMA", false},
		{"  ", "", false},
	} {
		name, write := statementName(tc.query)
		require.Equal(t, tc.want, name, tc.query)
		require.Equal(t, tc.write, write, tc.query)
	}
}

func TestCounterNumbersEachKindOfCall(t *testing.T) {
	c := counter{}
	update := point{Role: "worker", Kind: "sql", Name: "UPDATE outbox"}
	require.Equal(t, 1, c.count(update).N)
	require.Equal(t, 2, c.count(update).N)
	update.Role = "starter"
	require.Equal(t, "starter sql UPDATE outbox #1", c.count(update).String())
}

func TestFaultsOfAnEffect(t *testing.T) {
	of := func(e effect, n int) []fault { return observedPoint{point{N: n}, e}.faults() }
	require.Equal(t, []fault{before, hang, kill}, of(reads, 1), "a read that was done and lost is one that was not done")
	require.Equal(t, []fault{before}, of(reads, 2))
	require.Equal(t, []fault{before, after, hang, kill}, of(writes, 2))
	require.Equal(t, []fault{before, after, hang, kill, codedBefore, codedAfter}, of(posts, 1))
}

func TestActiveLeavesOutTheReadsOfASystemThatWaits(t *testing.T) {
	list := []observedPoint{{effect: reads}, {effect: writes}, {effect: reads}, {effect: posts}, {effect: reads}, {effect: reads}}
	require.Len(t, trimReads(list), 4)
	require.Empty(t, trimReads([]observedPoint{{effect: reads}}))
}
