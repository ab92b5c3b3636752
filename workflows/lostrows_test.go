package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// The database has failed over to a replica without the last commits: the workflow has
// seen numbers that are given out again, and holds a text whose row is gone. Nothing
// that is written afterwards is dropped, numbers go on behind, an operator is told once.
func TestFailOverLosesNothingNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.state.Inbox = wire.Inbox{LastSeq: 3, Items: []wire.InboxItem{{MessageID: 999, Seq: 3, ReceivedAt: monday}}}
	w.state.HasNews = true
	w.hears(time.Minute, "first")
	w.hears(2*time.Minute, "second")
	w.at(3*time.Minute, w.relayAll) // the relay repeats nothing
	w.run(time.Hour)
	require.Equal(t, []string{"ok: first", "ok: second"}, w.replies())
	require.WithinDuration(t, monday.Add(time.Minute), w.carrier.sent[0].At, 5*time.Second)
	require.Equal(t, int64(5), w.commit("third").Inbound.Seq, "first was numbered again, second behind the workflow's three")
	open, err := w.store.Attention.OpenAttention(context.Background(), models.AttentionQuery{})
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.Equal(t, wire.AttentionLostRows, open[0].Kind)
}

// A text that is delivered again is no new one.
func TestRepeatedTextIsNotTakenTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() {
		item := w.accept("hello")
		w.env.SignalWorkflow(wire.SignalMessageReceived, item)
		w.env.SignalWorkflow(wire.SignalMessageReceived, item)
	})
	w.at(10*time.Minute, func() {
		w.env.SignalWorkflow(wire.SignalMessageReceived, wire.InboxItem{MessageID: 1, Seq: 1, ReceivedAt: monday})
	})
	w.run(time.Hour)
	require.Equal(t, []string{"ok: hello"}, w.replies())
	open, err := w.store.Attention.OpenAttention(context.Background(), models.AttentionQuery{})
	require.NoError(t, err)
	require.Empty(t, open)
}
