package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first `make dev` of a machine counts the packages that are compiled. It
// takes the awk that is there: mawk reads some programs otherwise than gawk.
func TestProgressOfTheFirstBuild(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(makefile), `awk -v total="$$total" '`)
	require.True(t, found)
	program, _, found := strings.Cut(rest, "'")
	require.True(t, found)
	program = strings.NewReplacer("$$", "$", "\\\n", "\n").Replace(program)

	awk := exec.CommandContext(t.Context(), "awk", "-v", "total=20", program)
	var packages strings.Builder
	for i := range 25 {
		fmt.Fprintf(&packages, "example/p%d\n", i)
	}
	awk.Stdin = strings.NewReader(packages.String() + "# example/p3\np3.go:1:2: no such thing\n")
	var shown, failed strings.Builder
	awk.Stdout, awk.Stderr = &shown, &failed
	require.NoError(t, awk.Run(), failed.String())
	require.Contains(t, shown.String(), "\r  10 of 20 packages")
	require.Contains(t, shown.String(), "\r  20 of 20 packages\n", "packages of which more are compiled than were counted")
	require.Contains(t, failed.String(), "p3.go:1:2: no such thing", "what does not compile is shown")
}
