package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// record adds audit rows, each as its own transaction.
func (w *world) record(rows ...models.AuditRow) {
	w.t.Helper()
	for _, row := range rows {
		require.NoError(w.t, w.Audit.RecordAudit(w.ctx, row))
	}
}

func TestAuditChain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled() // row 1
		ctx := models.WithOrigin(w.ctx, models.Origin{Actor: "user:eve", RequestID: "req1", Address: "192.0.2.7", Reason: "she asked"})
		require.NoError(t, w.Audit.RecordAudit(ctx, models.AuditRow{
			ParticipantID: "p1", Action: "update", Detail: "name", At: at(1),
			Before: map[string]string{"name": "Ada"}, After: map[string]string{"name": "Ida"},
		}))
		w.record(models.AuditRow{Actor: "eve", Action: "user_create", Object: "user:usr_1", At: at(2)})

		chain, err := w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Zero(t, chain.BrokenAt, chain.Problem)
		require.Equal(t, int64(3), chain.Rows)
		rows, err := w.Audit.AuditRows(w.ctx, models.AuditQuery{})
		require.NoError(t, err)
		require.Len(t, rows, 3)
		require.Equal(t, chain.Head, rows[0].Hash)
		update := rows[1]
		require.Equal(t, "user:eve", update.Actor)
		require.Equal(t, "req1", update.RequestID)
		require.Equal(t, "192.0.2.7", update.Address)
		require.Equal(t, "she asked", update.Reason)
		require.Equal(t, map[string]string{"name": "Ida"}, update.After)
		require.Equal(t, map[string]string{"name": "Ada"}, update.Before)
	})
}

// TestAuditChainFindsTampering: the triggers refuse a changed row; without them
// the chain tells.
func TestAuditChainFindsTampering(t *testing.T) {
	const changed, missing = "the row or its hash was changed", "row 2 is missing"
	for _, c := range []struct {
		statement, problem string
		open               bool // an erasure may do so; no trigger refuses it
	}{
		{statement: "UPDATE audit SET actor = 'mallory' WHERE seq = 2", problem: changed},
		{statement: "UPDATE audit SET at = (SELECT min(at) FROM audit) WHERE seq = 2", problem: changed},
		{statement: "UPDATE audit SET content_hash = 'x' WHERE seq = 2", problem: changed},
		{statement: "UPDATE audit SET seq = 99 WHERE seq = 2", problem: missing},
		{statement: "DELETE FROM audit WHERE seq = 2", problem: missing},
		{
			statement: "UPDATE audit SET reason = '' WHERE seq = 2", open: true,
			problem: "reason or change was changed, or cannot be opened with the payload keys",
		},
	} {
		onBoth(t, func(t *testing.T, w *world) {
			w.record(
				models.AuditRow{ParticipantID: "p1", Actor: "eve", Action: "update", Reason: "one", At: at(1)},
				models.AuditRow{ParticipantID: "p1", Actor: "eve", Action: "update", Reason: "two", At: at(2)},
				models.AuditRow{ParticipantID: "p1", Actor: "eve", Action: "update", Reason: "three", At: at(3)},
			)
			if !c.open {
				w.raw(func(db *sql.DB) {
					_, err := db.Exec(c.statement)
					require.ErrorContains(t, err, "append-only", c.statement)
				})
				w.raw(exec(t, w.dropAuditTriggers()...))
			}
			w.raw(exec(t, c.statement))
			chain, err := w.Audit.CheckAudit(w.ctx)
			require.NoError(t, err)
			require.Equal(t, c.problem, chain.Problem, c.statement)
			require.GreaterOrEqual(t, chain.BrokenAt, int64(2), c.statement)
		})
	}
}

// TestAuditChainOfManyWriters: transactions that run side by side leave one chain
// without a gap.
func TestAuditChainOfManyWriters(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		const writers, each = 8, 5
		var group sync.WaitGroup
		failed := make(chan error, writers*each)
		for n := range writers {
			group.Go(func() {
				for i := range each {
					failed <- w.Audit.RecordAudit(context.Background(), models.AuditRow{
						ParticipantID: fmt.Sprint("p", n), Actor: "eve", Action: "update", At: at(i),
					})
				}
			})
		}
		group.Wait()
		close(failed)
		for err := range failed {
			require.NoError(t, err)
		}
		chain, err := w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Zero(t, chain.BrokenAt, chain.Problem)
		require.Equal(t, int64(writers*each), chain.Rows)
	})
}
