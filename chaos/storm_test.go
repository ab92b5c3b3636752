//go:build storm

// The storm runs real processes for a minute and a half, beside the other tests: make
// storm.

package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain runs the tests, or stands for a role with a clock of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == roleArg {
		os.Exit(runRole(os.Environ(), os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// TestShortStorm is the whole thing in small: real processes, killed and
// restarted, and a right ledger in the end.
func TestShortStorm(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"-storm", "-short", "-seed", "7"}, &out)
	t.Log(out.String())
	require.NoError(t, err, "the ledger is wrong or the run failed; its output is above")
	require.Contains(t, out.String(), "storm 2 pages", "alerts were in flight")
}
