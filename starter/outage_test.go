package starter

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// TestTemporalIsAway is case 14: every text is taken at once while the server
// cannot be reached, and told in order when it can.
func TestTemporalIsAway(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Now = time.Now
		c.Relay = RelayConfig{Interval: 20 * time.Millisecond, MinAge: time.Nanosecond}
	})
	h.ann()
	require.Eventually(t, func() bool { return h.undelivered() == 0 }, 5*time.Second, 5*time.Millisecond)
	back := make(chan struct{})
	h.engine.fail(func(ctx context.Context, _ string) error { // as a connection that goes nowhere, until its server resets it
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-back:
			return errDown
		}
	})
	before := len(h.engine.seen())
	var took []time.Duration
	for i := range 50 {
		began := time.Now()
		got := h.text(fmt.Sprintf("SM%032d", i+1), fmt.Sprint("text ", i))
		took = append(took, time.Since(began))
		require.Equal(t, http.StatusOK, got.status, got.raw)
	}
	slices.Sort(took)
	t.Logf("answered after %s in the middle, %s at most", took[25], took[49])
	require.Less(t, took[45], 100*time.Millisecond)
	require.Equal(t, 50, h.undelivered())

	h.engine.fail(nil)
	close(back)
	require.Eventually(t, func() bool { return h.undelivered() == 0 }, 30*time.Second, 10*time.Millisecond)
	h.stop()
	require.Greater(t, len(h.engine.seen()), before)
	newest := int64(0)
	for _, signal := range h.engine.signals { // a repetition is dropped by its number
		require.LessOrEqual(t, signal.Seq, newest+1, "told out of order")
		newest = max(newest, signal.Seq)
	}
	require.EqualValues(t, 50, newest)
}

// TestDatabaseIsAway is case 15: the carrier is told to try again, and what it
// repeats is one text.
func TestDatabaseIsAway(t *testing.T) {
	h := start(t, nil)
	h.ann()
	h.faults.fail(errDown)
	for range 2 {
		got := h.text(sid(1), "Hello")
		require.Equal(t, http.StatusServiceUnavailable, got.status)
		require.NotContains(t, strings.ToLower(got.raw), "hello")
	}
	h.faults.fail(nil)
	require.Equal(t, http.StatusOK, h.text(sid(1), "Hello").status)
	require.Equal(t, http.StatusOK, h.text(sid(1), "Hello").status, "and once more, for an answer that was lost")
	h.stop()
	told := map[int64]bool{}
	for _, signal := range h.engine.signals {
		told[signal.MessageID] = true
	}
	require.Equal(t, map[int64]bool{1: true}, told)
	require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeMessage}, noticed(h))
}

func noticed(h *harness) []models.NoticeKind {
	var kinds []models.NoticeKind
	for _, n := range listRows[models.Notice](h, "id") {
		kinds = append(kinds, n.Kind)
	}
	return kinds
}
