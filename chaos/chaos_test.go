package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown flag": {"-unknown"}, "an argument": {"more"}, "no number": {"-faults", "many"}, "below zero": {"-faults", "-3"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, exitUsage, run(t.Context(), args, io.Discard, io.Discard))
		})
	}
}

func TestSettings(t *testing.T) {
	long, err := parse([]string{"-seed", "5"})
	require.NoError(t, err)
	require.Equal(t, []int{longFaults, 2}, []int{long.Faults, long.Starters})
	short, err := parse([]string{"-short", "-faults", "3"})
	require.NoError(t, err)
	require.Equal(t, 3, short.Faults)
	require.NotZero(t, short.Seed, "a seed is drawn where none is given")
	require.Less(t, short.Phones, long.Phones)
}

func TestDeckIsTheSeeds(t *testing.T) {
	s := settings{Seed: 5}
	first, second := shuffleMoves(s.randomSource(0)), shuffleMoves(s.randomSource(0))
	require.Equal(t, first, second)
	require.NotEqual(t, first, shuffleMoves(settings{Seed: 6}.randomSource(0)))
	require.ElementsMatch(t, coreMoves(), first[:len(coreMoves())], "the core comes first")
	for _, point := range requiredPoints() {
		require.Contains(t, first[:len(coreMoves())], mishap{point: point})
	}
}
