package database_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

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

// TestOneProcessMigratesAFile: of two processes that start at once none applies what the
// other has applied since it looked. A table that a migration writes anew would lose the
// columns of later ones.
func TestOneProcessMigratesAFile(t *testing.T) {
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	cfg := database.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "coachline.db"), Ring: ring}
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			d, err := database.Open(t.Context(), cfg)
			if err == nil {
				err = d.Close()
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	d, err := database.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	var applied, distinct int64
	versions := d.Reader(t.Context()).Table("goose_db_version")
	require.NoError(t, versions.Count(&applied).Error)
	require.NoError(t, versions.Distinct("version_id").Count(&distinct).Error)
	require.Equal(t, distinct, applied)
	err = d.Reader(t.Context()).Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (53, 1)").Error
	require.ErrorContains(t, err, "UNIQUE", "a version row ends the transaction of a second process")
}
