package database

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// counting counts the connections that are made through it.
type counting struct {
	driver.Connector
	made *int
}

func (c counting) Connect(ctx context.Context) (driver.Conn, error) {
	*c.made++
	return c.Connector.Connect(ctx)
}

func TestWithConnectorSeesEveryConnectionOfItsUserOnly(t *testing.T) {
	file := "sqlite:" + filepath.Join(t.TempDir(), "rows.db")
	made := 0
	wrapped := WithConnector(t.Context(), func(c driver.Connector) driver.Connector { return counting{c, &made} })
	other, err := Open(t.Context(), Config{URL: file, Ring: testRing(t, "k1")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	require.Zero(t, made)
	own, err := Open(wrapped, Config{URL: file, Ring: testRing(t, "k1")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Close()) })
	before := made
	require.Positive(t, before, "the file is not shared with who opened it first")
	require.NoError(t, other.Reader(t.Context()).Exec("SELECT 1").Error)
	require.Equal(t, before, made)
}
