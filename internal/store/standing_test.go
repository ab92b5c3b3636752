package store_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// TestStandingIsThatOfTheLock: the end of a turn that waits for a transaction
// which writes the ledger is judged by that entry.
func TestStandingIsThatOfTheLock(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		if strings.HasPrefix(w.url, "sqlite:") {
			t.Skip("SQLite has one writer: the second transaction begins after the first")
		}
		_, err := w.People.Enroll(w.ctx, person("p1", phone), "operator")
		require.NoError(t, err)
		turn := models.TurnID("p1", 1)
		_, err = w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: turn, Number: 1, Mode: wire.ModeIntake, Plan: replyPlan, Now: start})
		require.NoError(t, err)
		w.raw(func(db *sql.DB) {
			tx, err := db.BeginTx(w.ctx, nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(w.ctx, "UPDATE participants SET version = version + 1 WHERE id = 'p1'")
			require.NoError(t, err)
			_, err = tx.ExecContext(w.ctx, "INSERT INTO consents (participant_id, phone_index, action, method, text, recorded_by, inbound_id, turn_id, at) "+
				"SELECT id, phone_index, 'opt_out', 'keyword', '', 'participant', 0, '', now() FROM participants WHERE id = 'p1'")
			require.NoError(t, err)
			type result struct {
				ended models.EndedTurn
				err   error
			}
			done := make(chan result, 1)
			go func() {
				ended, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{
					TurnID: turn, ParticipantID: "p1", Outcome: "step", Claim: true, At: start.Add(time.Minute),
					Outbox: []models.Outbox{{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "Well done."}},
				})
				done <- result{ended, err}
			}()
			require.Eventually(t, func() bool { return hasWaiter(w.ctx, db) }, 10*time.Second, 10*time.Millisecond)
			require.NoError(t, tx.Commit())
			out := <-done
			require.NoError(t, out.err)
			require.False(t, out.ended.First.Post)
			require.Equal(t, string(wire.StatusOptedOut), out.ended.First.Outbox.ErrorCode)
		})
	})
}

// hasWaiter reports whether a transaction waits for another one.
func hasWaiter(ctx context.Context, db *sql.DB) bool {
	var waiting int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting)
	return err == nil && waiting > 0
}
