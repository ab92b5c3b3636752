package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSleepers puts three people to sleep, and checks counts alone.
func TestSleepers(t *testing.T) {
	values, _ := measured(t, "-load", "sleepers", "-people", "3", "-asleep", "100ms", "-backend", "sqlite")
	asleep := "3 asleep in a new run/"
	require.Contains(t, values, asleep+"in all tables, each/bytes", "reported even where three people fit into pages that the files had")
	require.NotNil(t, values[asleep+"in all tables, each/bytes"].Target)
	require.InDelta(t, 5, values[asleep+"history of the run that sleeps/events"].Product, 0.01, "start, one workflow task, timer")
	require.Equal(t, 1, values["1 of 3 wake at one instant/prompts at the carrier, all of them after/ms"].Count)
	moved := "55 to a new build, 200 a second/" // With those who enrolled over HTTP, and who woke.
	require.Equal(t, 55, values[moved+"all of them on the new build after/ms"].Count)
	require.InDelta(t, 1, values[moved+"runs of a workflow by then/runs"].Product, 0.01, "a run that is not pinned moves as it is")
	require.Positive(t, values["3 asleep, worker started again/worker memory, ready/MB"].Product)
}
