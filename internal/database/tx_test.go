package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/seal"
	"coachline/models"
)

// testRing is a key ring of the keys with these ids.
func testRing(t *testing.T, ids ...string) *seal.Ring {
	t.Helper()
	entries := make([]string, len(ids))
	for i, id := range ids {
		key := sha256.Sum256([]byte(id))
		entries[i] = id + ":" + base64.StdEncoding.EncodeToString(key[:])
	}
	ring, err := seal.Parse(strings.Join(entries, ","))
	require.NoError(t, err)
	return ring
}

func openPlain(t *testing.T, url string) *Database {
	t.Helper()
	d, err := Open(t.Context(), Config{URL: url, Ring: testRing(t, "k1")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestOpenNeedsARing(t *testing.T) {
	_, err := Open(t.Context(), Config{URL: "sqlite::memory:"})
	require.ErrorContains(t, err, "a key ring is required")
}

func record(t *testing.T, d *Database) error {
	t.Helper()
	return d.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Create(&models.AuditRow{At: time.Unix(0, 0)}).Error
	})
}

func TestWriteTriesAgain(t *testing.T) {
	lost := &pgconn.PgError{Code: "40001"}
	deadlock := fmt.Errorf("writing: %w", &pgconn.PgError{Code: "40P01"})
	other := errors.New("disk is full")
	tests := []struct {
		name  string
		fails []error
		want  error
		runs  int
	}{
		{"at once", nil, nil, 1},
		{"after lost transactions", []error{lost, deadlock, lost}, nil, 4},
		{"not for other errors", []error{other}, other, 1},
		{"not for ever", []error{lost, lost, lost, lost, lost, lost, lost, lost, lost}, lost, writeTries},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := openPlain(t, "sqlite::memory:")
			runs := 0
			err := d.Write(t.Context(), func(tx *gorm.DB) error {
				runs++
				if err := tx.Create(&models.AuditRow{Action: tt.name}).Error; err != nil {
					return err
				}
				if runs <= len(tt.fails) {
					return tt.fails[runs-1]
				}
				return nil
			})
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, tt.runs, runs)
			var rows int64
			require.NoError(t, d.rows.Model(&models.AuditRow{}).Count(&rows).Error)
			want := int64(1)
			if tt.want != nil {
				want = 0
			}
			require.Equal(t, want, rows, "failed tries leave nothing")
		})
	}
}

// Another process holds the file longer than the driver waits.
func TestWriteOnBusyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "coach.db")
	d := openPlain(t, "sqlite:"+file+"?_pragma=busy_timeout(1)")
	other, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer other.Close()
	conn, err := other.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()

	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	err = record(t, d)
	require.ErrorContains(t, err, "locked", "it gives up in the end")
	require.NotErrorIs(t, err, models.ErrConflict)

	released := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "COMMIT")
		released <- err
	})
	require.NoError(t, record(t, d))
	require.NoError(t, <-released)
}

func TestWriteWaitsItsTurn(t *testing.T) {
	d := openPlain(t, "sqlite::memory:")
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Write(t.Context(), func(*gorm.DB) error {
		cancel()
		return d.Write(ctx, func(*gorm.DB) error { return errors.New("ran inside another write") })
	})
	require.ErrorIs(t, err, context.Canceled)
}

func TestClassify(t *testing.T) {
	other := errors.New("other")
	tests := []struct {
		name string
		in   error
		want error
	}{
		{"nothing", nil, nil},
		{"no row", fmt.Errorf("x: %w", gorm.ErrRecordNotFound), models.ErrNotFound},
		{"taken key", fmt.Errorf("x: %w", &pgconn.PgError{Code: "23505"}), models.ErrConflict},
		{"row it refers to is missing", &pgconn.PgError{Code: "23503"}, models.ErrNotFound},
		{"ours", models.ErrStale, models.ErrStale},
		{"other", other, other},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.ErrorIs(t, Classify(tt.in), tt.want) })
	}
}

func TestSealedNeedsItsRing(t *testing.T) {
	d := openPlain(t, "sqlite::memory:")
	err := d.rows.Create(&models.Inbound{ProviderSID: "SM1", Body: "x"}).Error
	require.ErrorContains(t, err, "sealing inbound.body: the statement's context holds no key ring")
}

// A commit that copied SQLite's log into the file would keep all writers waiting for
// the disk.
func TestCommitsLeaveTheCopying(t *testing.T) {
	file := filepath.Join(t.TempDir(), "coach.db")
	d := openPlain(t, "sqlite:"+file)
	var pages int
	require.NoError(t, d.writes.Raw("PRAGMA wal_autocheckpoint").Row().Scan(&pages))
	require.Equal(t, checkpointPages, pages, "from here on a commit helps")

	copied := func() int64 {
		info, err := os.Stat(file)
		require.NoError(t, err)
		return info.Size()
	}
	before, large := copied(), strings.Repeat("x", 1<<19)
	require.NoError(t, d.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Create(&models.AuditRow{At: time.Unix(0, 0), Detail: large}).Error
	}))
	require.Eventually(t, func() bool { return copied() > before+int64(len(large))/2 }, 20*time.Second, 20*time.Millisecond,
		"the log is copied while nobody writes")
}
