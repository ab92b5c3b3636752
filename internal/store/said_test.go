package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// saying is a tool call that has the person sent a text.
func saying(channel wire.Channel) models.ToolCommit {
	id := models.InterimMessageID("p1-t1", 1, 0)
	return models.ToolCommit{
		Run: models.ToolRun{TurnID: "p1-t1", Step: 1, Name: models.ToolMessage, Result: "{}", CreatedAt: at(2)},
		Said: &models.TurnOutcome{
			TurnID: "p1-t1", ParticipantID: "p1", Claim: channel == wire.ChannelChat, At: at(2),
			Entries: []models.Message{{Key: id + "-text", Role: models.RoleAssistant, Kind: models.KindReply, Text: "hello", OutboxID: models.OutboxID(id, 1), Channel: channel}},
			Outbox:  []models.Outbox{{ID: models.OutboxID(id, 1), Part: 1, Kind: models.KindReply, Body: "hello", Channel: channel}},
		},
	}
}

func TestSaidInTheMiddleOfATurn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, w.Turns.CommitTool(w.ctx, saying(wire.ChannelSMS)))
		}
		require.Equal(t, 1, w.count("SELECT count(*) FROM outbox"))
		require.Equal(t, 1, w.count("SELECT count(*) FROM messages"))
		row, err := w.Outbox.Row(w.ctx, "p1-t1-s1c0-p1")
		require.NoError(t, err)
		require.Equal(t, wire.OutboxReady, row.Status)
		for range 2 {
			ids, err := w.finish(outcome("p1-t1", wire.TurnReply, "", 3))
			require.NoError(t, err)
			require.Equal(t, []string{"p1-t1-p1"}, ids, "the end of the turn has rows of its own")
		}
	})
}

func TestSaidOverTheChatIsDeliveredAtOnce(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
	require.NoError(t, err)
	require.NoError(t, w.Turns.CommitTool(w.ctx, saying(wire.ChannelChat)))
	row, err := w.Outbox.Row(w.ctx, "p1-t1-s1c0-p1")
	require.NoError(t, err)
	require.Equal(t, wire.OutboxDelivered, row.Status)
}

// What comes too late leaves nothing behind, not even the result of its call.
func TestSaidTooLate(t *testing.T) {
	for _, tt := range []struct {
		name string
		late func(w *world)
	}{
		{"the turn is over", func(w *world) {
			_, err := w.finish(outcome("p1-t1", wire.TurnReply, "", 3))
			require.NoError(w.t, err)
		}},
		{"the person opted out", func(w *world) { w.setStatus(wire.StatusOptedOut) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := onSQLite(t)
			w.enrolled()
			_, err := w.Turns.BeginTurn(w.ctx, begin(1, replyPlan))
			require.NoError(t, err)
			tt.late(w)
			require.ErrorIs(t, w.Turns.CommitTool(w.ctx, saying(wire.ChannelSMS)), models.ErrStale)
			_, err = w.Outbox.Row(w.ctx, "p1-t1-s1c0-p1")
			require.ErrorIs(t, err, models.ErrNotFound)
			_, err = w.Turns.ToolRun(w.ctx, "p1-t1", 1, 0)
			require.ErrorIs(t, err, models.ErrNotFound)
		})
	}
}
