package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// parts finishes a turn whose text takes n rows, with a debug text behind it.
func (w *world) parts(n int, plan wire.TurnPlan) []string {
	w.t.Helper()
	id := models.TurnID("p1", 1)
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: id, Number: 1, Mode: wire.ModeIntake, Plan: plan, Now: at(1)})
	require.NoError(w.t, err)
	out := outcome(id, plan.Kind, plan.PromptID, 1)
	for part := 2; part <= n; part++ {
		out.Outbox = append(out.Outbox, models.Outbox{
			ID: models.OutboxID(id, part), Part: part, Kind: models.EntryOf(plan.Kind), PromptID: plan.PromptID, Body: "more",
		})
	}
	out.Outbox = append(out.Outbox, models.Outbox{ID: models.OutboxID(id, n+1), Part: n + 1, Kind: models.KindDebug, Body: "debug"})
	ids, err := w.finish(out)
	require.NoError(w.t, err)
	require.Len(w.t, ids, n+1)
	again, err := w.finish(out)
	require.NoError(w.t, err)
	require.Equal(w.t, ids, again, "in order")
	return ids
}

func TestPartsGoOutOneAfterTheOther(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		ids := w.parts(3, replyPlan)
		w.sent(ids[0], 2)
		w.sent(ids[1], 3)
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: ids[2], Token: w.ref(ids[2]).Token, Status: wire.OutboxFailed, Code: "30007", Now: at(4)}))
		status, code := w.outbox(ids[2])
		require.Equal(t, wire.OutboxFailed, status)
		require.Equal(t, "30007", code)
		w.sent(ids[3], 5)
	})
}

func TestPartsBehindOneThatWasNotTakenAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		fate func(w *world, id string)
	}{
		{"failed", func(w *world, id string) {
			require.NoError(w.t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxFailed, Code: "30007", Now: at(3)}))
		}},
		{"unknown", func(w *world, id string) {
			require.NoError(w.t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxUnknown, Now: at(3)}))
		}},
		{"not sent yet", func(*world, string) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := onSQLite(t)
			w.enrolled()
			ids := w.parts(3, replyPlan)
			tt.fate(w, ids[0])
			for _, id := range ids[1:3] {
				status, code := w.outbox(id)
				require.Equal(t, wire.OutboxCanceled, status)
				require.Equal(t, "earlier_part", code)
			}
			w.sent(ids[3], 5)
		})
	}
}

// A prompt and a reminder are counted once, however many rows carry them.
func TestPartsCountOnce(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	ids := w.parts(2, promptPlan("2026-03-02"))
	w.sent(ids[0], 2)
	w.sent(ids[1], 3)
	profile, err := w.People.Profile(w.ctx, "p1")
	require.NoError(t, err)
	require.Equal(t, 1, profile.TotalPrompts)
	require.Equal(t, models.PromptPending, w.promptState(promptPlan("2026-03-02").PromptID))
}

func TestReminderInPartsIsNotStoppedByItself(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	pending := promptPlan("2026-03-01")
	w.sent(w.turn(2, pending, 0), 0)
	ids := w.parts(2, wire.TurnPlan{Kind: wire.TurnReminder, PromptID: pending.PromptID})
	w.sent(ids[0], 2)
	w.sent(ids[1], 3)
	require.Equal(t, models.PromptReminded, w.promptState(pending.PromptID))
}

func TestPartWaitsWhileTheOneBeforeIsWithTheCarrier(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	ids := w.parts(2, replyPlan)
	w.post(ids[0], 2)
	require.NoError(t, w.Outbox.RecordAccepted(w.ctx, w.ref(ids[0]), models.Receipt{ProviderSID: "SM1", Status: wire.OutboxQueued}, at(2)))

	claim, err := w.Outbox.ClaimSend(w.ctx, ids[1], at(2).Add(9*time.Second))
	require.NoError(t, err)
	require.True(t, claim.Early)
	require.False(t, claim.Post)
	require.Equal(t, wire.OutboxReady, claim.Outbox.Status)

	claim, err = w.Outbox.ClaimSend(w.ctx, ids[1], at(2).Add(10*time.Second))
	require.NoError(t, err)
	require.True(t, claim.Post, "after ten seconds")
	require.NoError(t, w.Outbox.ReleaseSend(w.ctx, w.ref(ids[1]), at(3)))

	_, err = w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{ProviderSID: "SM1", Status: wire.OutboxSent, At: at(2)})
	require.NoError(t, err)
	claim, err = w.Outbox.ClaimSend(w.ctx, ids[1], at(2).Add(time.Second))
	require.NoError(t, err)
	require.True(t, claim.Post, "when it has left")
}
