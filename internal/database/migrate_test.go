package database_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/database"
	"coachline/internal/pgtest"
	"coachline/internal/seal"
)

// TestAsFoundChangesNothing: a command that examines an installation makes neither file
// nor tables, and takes a schema that a role has made.
func TestAsFoundChangesNothing(t *testing.T) {
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "folder", "coachline.db")
	for name, url := range map[string]string{"sqlite": "sqlite:" + file, "postgres": pgtest.Start(t)} {
		t.Run(name, func(t *testing.T) {
			_, err := database.Open(t.Context(), database.Config{URL: url, Ring: ring, AsFound: true})
			require.ErrorContains(t, err, "a starter or worker")
			_, missing := os.Stat(file)
			require.ErrorIs(t, missing, os.ErrNotExist)
			_, again := database.Open(t.Context(), database.Config{URL: url, Ring: ring, AsFound: true})
			require.EqualError(t, again, err.Error(), "the first try made something")
			for _, asFound := range []bool{false, true} {
				d, err := database.Open(t.Context(), database.Config{URL: url, Ring: ring, AsFound: asFound})
				require.NoError(t, err)
				require.NoError(t, d.Ping(t.Context()))
				require.NoError(t, d.Close())
			}
			_ = os.RemoveAll(filepath.Dir(file))
		})
	}
}
