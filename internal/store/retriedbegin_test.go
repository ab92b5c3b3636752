package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// TestRetriedBeginningSkipsAgain begins a turn twice that has nothing to say: the
// answer to the first beginning may be lost, so the second one says the same.
func TestRetriedBeginningSkipsAgain(t *testing.T) {
	takeOver := func(w *world) { require.NoError(w.t, w.taken(1, "user:ada")) }
	hold := func(w *world) { w.hold(0, 60) }
	optOut := func(w *world) {
		status := wire.StatusOptedOut
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Actor: "user:kim", Patch: models.ParticipantPatch{Status: &status}, Now: at(1)})
		require.NoError(w.t, err)
	}
	prompt := promptPlan("2026-03-02")
	for _, tt := range []struct {
		name    string
		plan    wire.TurnPlan
		arrange func(w *world)
		texts   int
	}{
		{"taken over, prompt", prompt, takeOver, 0},
		{"taken over, one text", replyPlan, takeOver, 1},
		{"taken over, two texts", replyPlan, takeOver, 2},
		{"taken over, greeting", wire.TurnPlan{Kind: wire.TurnGreeting}, takeOver, 0},
		{"held, prompt", prompt, hold, 0},
		{"opted out, prompt", prompt, optOut, 0},
		{"opted out, one text", replyPlan, optOut, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				var ids []int64
				for n := range tt.texts {
					ids = append(ids, w.inbound([]string{"SM1", "SM2"}[n], 0, "hello").Inbound.ID)
				}
				tt.arrange(w)
				for range 2 {
					res, turn, err := w.Turns.OpenTurn(w.ctx, begin(1, tt.plan, ids...), 10)
					require.NoError(t, err)
					require.True(t, res.Skip)
					require.Empty(t, turn.Turn.ID, "nothing is read for a model")
				}
			})
		})
	}
}

// TestRetriedBeginningSkipsAfterTakeOver has the take-over come between the two
// beginnings.
func TestRetriedBeginningSkipsAfterTakeOver(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.inbound("SM1", 0, "hello").Inbound.ID
		_, goesOn := w.begun(1, replyPlan, id)
		require.True(t, goesOn)
		require.NoError(t, w.taken(1, "user:ada"))
		_, goesOn = w.begun(1, replyPlan, id)
		require.False(t, goesOn)
	})
}

// TestTextsOfCanceledTurnWait adds a text to a turn that a take-over has canceled:
// it is in the conversation and waits for the operator.
func TestTextsOfCanceledTurnWait(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		first := w.inbound("SM1", 0, "hello").Inbound.ID
		_, goesOn := w.begun(1, replyPlan, first)
		require.True(t, goesOn)
		require.NoError(t, w.taken(1, "user:ada"))
		second := w.inbound("SM2", 2, "are you there?").Inbound.ID
		_, goesOn = w.begun(1, replyPlan, first, second)
		require.False(t, goesOn)
		require.Equal(t, 2, w.count("SELECT count(*) FROM inbound WHERE waiting AND seq > 0"))
		require.Equal(t, 2, w.count("SELECT count(*) FROM messages WHERE role = 'user'"))
	})
}

// TestRetriedBeginningOfSaidTurn keeps the retry of a turn's last step: what it
// said is sent, so it is not skipped.
func TestRetriedBeginningOfSaidTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.inbound("SM1", 0, "hello").Inbound.ID
		turn, _ := w.begun(1, replyPlan, id)
		said := w.saidTurn(turn, wire.TurnReply)
		_, goesOn := w.begun(1, replyPlan, id)
		require.True(t, goesOn)
		require.Equal(t, said.OutboxIDs, w.saidTurn(turn, wire.TurnReply).OutboxIDs)
	})
}
