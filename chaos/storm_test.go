//go:build storm

// The storm runs real processes for a minute and a half, beside the other tests: make
// storm.

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShortStorm is the whole thing in small: real processes, killed and
// restarted, and a right ledger in the end.
func TestShortStorm(t *testing.T) {
	var out bytes.Buffer
	code := run(t.Context(), []string{"-short", "-root", "..", "-seed", "7"}, &out, &out)
	t.Log(out.String())
	require.Equal(t, exitRight, code, "the ledger is wrong or the run failed; its output is above")
	require.Contains(t, out.String(), "verdict              the ledger is right")
	require.NotRegexp(t, `alerts +\d+: 0 paged`, out.String(), "alerts were in flight")
}
