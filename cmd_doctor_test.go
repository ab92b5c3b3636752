package main

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
)

// TestDoctorFindsABrokenAudit changes a row behind the program's back.
func TestDoctorFindsABrokenAudit(t *testing.T) {
	path := t.TempDir() + "/coach.db"
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path, Sealer: ring})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, rows.RecordAudit(t.Context(), models.Audit{Actor: "eve", Action: "update", At: time.Unix(0, 0)}))
	}
	require.NoError(t, rows.Close())
	environ := []string{"DATABASE_URL=sqlite:" + path, "COACH_PAYLOAD_KEYS=k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
	_, out, _ := call(t, environ, "doctor")
	require.Regexp(t, `audit +ok +3 rows, head [0-9a-f]{64}`, out)

	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	for _, statement := range []string{"DROP TRIGGER audit_keep", "DROP TRIGGER audit_fixed", "UPDATE audit SET actor = 'ida' WHERE seq = 2"} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	code, out, _ := call(t, environ, "doctor")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `audit +failed +row 2: the row or its hash was changed`, out)
}
