package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A text's segments are counted when it is claimed, by a statement that is sent
// anyway; a text that was never claimed has none.
func TestSegmentsAreCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, promptPlan("2026-03-01"), 0)
		require.Equal(t, 1, w.count("SELECT count(*) FROM outbox WHERE segments IS NULL"))
		claim, err := w.Outbox.ClaimSend(w.ctx, id, at(1))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.Equal(t, 1, w.count("SELECT segments FROM outbox WHERE id = '"+id+"'"))
	})
}
