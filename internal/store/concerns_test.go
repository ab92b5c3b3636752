package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// turnOf begins a turn of the coach for a message of ann's.
func (w *inboundWorld) turnOf(id string, number int, in models.Inbound) {
	w.t.Helper()
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: "ann", TurnID: id, Number: number, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.ID}, Now: in.ReceivedAt,
	})
	require.NoError(w.t, err)
}

func (w *inboundWorld) concern(seconds int, turn string, c models.Concern) models.Alert {
	w.t.Helper()
	c.TurnID, c.Now = turn, inboundAt(seconds)
	row, err := w.Looks.ReportConcern(w.ctx, c)
	require.NoError(w.t, err)
	require.Equal(w.t, row.ID, w.alert(row.ID).ID)
	return w.alert(row.ID)
}

// The coach's alert is raised, paged and held as a rule's; soon is a weak sign, and once
// in 30 minutes is enough but for what is grave.
func TestCoachRaisesAnAlert(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		will := models.Concern{Kind: "suicide", Reason: "wrote a will, cleaned the house"}
		w.turnOf("ann-t1", 1, w.text(0, "I wrote my will and cleaned the house").Inbound)
		soon := w.concern(5, "ann-t1", will)
		require.Equal(t, []any{"coach", "suicide", "B", false, models.SafetyOneself, will.Reason, models.LookUnneeded, false},
			[]any{soon.Rule, soon.Kind, soon.Tier, soon.Pages, soon.Safety, soon.LookReason, soon.Look, soon.Answer})
		require.Empty(t, w.ann().Attention)
		require.Equal(t, soon.ID, w.concern(6, "ann-t1", will).ID, "a retry")

		w.turnOf("ann-t2", 2, w.text(60, "I feel so calm today").Inbound)
		require.Equal(t, soon.ID, w.concern(65, "ann-t2", will).ID, "within 30 minutes")
		will.IsUrgent = true
		now := w.concern(70, "ann-t2", will)
		require.NotEqual(t, soon.ID, now.ID)
		require.Equal(t, []any{"A", true, false}, []any{now.Tier, now.Pages, now.Answer})
		require.Equal(t, wire.AttentionCrisis, w.ann().Attention, "what we start is held")
		pending, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(80), 10)
		require.NoError(t, err)
		require.Len(t, pending, 2, "the relay has them told and paged")
		require.Equal(t, now.ID, w.concern(75, "ann-t2", will).ID)
		entries, err := w.People.History(w.ctx, "ann", 10, time.Time{})
		require.NoError(t, err)
		require.Equal(t, models.DangerSelfHarm, entries[len(entries)-1].Danger)
	})
}

// What the second look dismissed the coach may see once more.
func TestCoachSeesMoreThanTheSecondLook(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		in := w.text(0, weak).Inbound
		w.turnOf("ann-t1", 1, in)
		dismissed, _ := w.lookedAt(1, models.LookNone)
		raised := w.concern(5, "ann-t1", models.Concern{Kind: "violence", IsUrgent: true})
		require.Equal(t, dismissed.ID, raised.ID)
		require.Equal(t, []any{"A", true, models.SafetyViolence}, []any{raised.Tier, raised.Pages, raised.Safety})
	})
}

// Where an alert silences the coach, the safety text answers in its place.
func TestConcernThatSilencesTheCoach(t *testing.T) {
	inboundWith(t, store.Config{CrisisTakeOver: time.Hour}, func(w *inboundWorld) {
		w.turnOf("ann-t1", 1, w.text(0, "my friend left me his cat, odd day").Inbound)
		row := w.concern(5, "ann-t1", models.Concern{Kind: "suicide", IsAnother: true, IsUrgent: true})
		require.True(t, row.Answer)
		require.Equal(t, models.SafetyAnother, row.Safety)
		require.True(t, w.ann().IsTakenOver())
	})
}

func TestConcernNeedsAMessage(t *testing.T) {
	lookOnBoth(t, func(w *inboundWorld) {
		_, err := w.Looks.ReportConcern(w.ctx, models.Concern{TurnID: "ann-t9", Now: inboundAt(1)})
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}
