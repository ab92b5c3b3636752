package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/program"
	"coachline/internal/sample"
)

// TestSeed stores sample people in a dev folder, and in nothing else.
func TestSeed(t *testing.T) {
	folder := t.TempDir()
	seed := func(environ []string, args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append([]string{"seed", "--data", folder, "--people", "60"}, args...), environ, streams{out: &out, err: &bytes.Buffer{}})
		return out.String(), err
	}
	for _, name := range []string{"DATABASE_URL=postgres://db/coachline", "COACH_PAYLOAD_KEYS=a:b"} {
		_, err := seed([]string{name})
		require.ErrorContains(t, err, "is set: sample people are for the database of a dev folder alone")
	}
	var usage *program.UsageError
	_, err := seed(nil, "now")
	require.ErrorAs(t, err, &usage)

	held, err := openFolder(options{data: folder})
	require.NoError(t, err)
	_, err = seed(nil)
	require.ErrorContains(t, err, "in use by another dev")
	require.NoError(t, held.close())

	out, err := seed(nil)
	require.NoError(t, err)
	require.Contains(t, out, "60 sample people are in "+folder)
	_, err = seed(nil)
	require.ErrorIs(t, err, sample.ErrSampled)

	// A database without the key that dev keeps beside it is not dev's.
	require.NoError(t, os.Remove(filepath.Join(folder, keyFile)))
	_, err = seed(nil)
	require.ErrorContains(t, err, "holds a database but not its key")
}
