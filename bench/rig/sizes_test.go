package rig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizesGrow(t *testing.T) {
	before := Sizes{Server: 100, Product: 10, Tables: map[string]int64{"temporal.tasks": 8192, "coach.turns": 1}}
	after := Sizes{Server: 350, Product: 30, Tables: map[string]int64{"temporal.tasks": 8192, "coach.turns": 11, "coach.steps": 90, "coach.rounds": 90}}
	grown := after.Minus(before)
	require.Equal(t, Sizes{Server: 250, Product: 20, Tables: map[string]int64{"coach.turns": 10, "coach.steps": 90, "coach.rounds": 90}}, grown)
	require.Equal(t, []string{"coach.rounds", "coach.steps"}, grown.Largest(2), "by size, and by name where that is equal")
	require.Len(t, grown.Largest(9), 3)
}

func TestFileSizes(t *testing.T) {
	dir := t.TempDir()
	for name, length := range map[string]int{"one.db": 3, "one.db-wal": 4, "two.db": 5} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, length), 0o600))
	}
	size, err := fileSizes(dir, "one.db")
	require.NoError(t, err)
	require.EqualValues(t, 7, size, "what belongs to a file counts")
	size, err = fileSizes(dir, "three.db")
	require.NoError(t, err)
	require.Zero(t, size)
}

func TestProcessesBelow(t *testing.T) {
	below, err := processorBelow(os.Getppid())
	require.NoError(t, err)
	own, err := processorOf(os.Getpid())
	require.NoError(t, err)
	require.GreaterOrEqual(t, below, own/2, "this process is below its parent")
	below, err = processorBelow(-1)
	require.NoError(t, err)
	require.Zero(t, below)
}
