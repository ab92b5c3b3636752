package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const crisis = "I want to die"

func (w *inboundWorld) crisis(seconds int) models.AcceptedInbound {
	w.t.Helper()
	return w.take(models.Inbound{From: phone, Body: crisis, ReceivedAt: inboundAt(seconds)})
}

func (w *inboundWorld) ann() models.Participant {
	w.t.Helper()
	p, err := w.People.Participant(w.ctx, "ann")
	require.NoError(w.t, err)
	return p
}

func (w *inboundWorld) safetyText(id string, seconds int) string {
	w.t.Helper()
	row, err := w.Alerts.QueueSafetyText(w.ctx, models.SafetyText{AlertID: id, Body: "call 988", Now: inboundAt(seconds)})
	require.NoError(w.t, err)
	return row
}

// One transaction: the text is in the conversation, marked, not the coach's; the
// person needs attention; the alert waits.
func TestCrisisIsAnsweredAndMarked(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		before := w.ann()
		out := w.crisis(0)
		require.NotEmpty(w.t, out.AlertID)
		require.Zero(w.t, out.NoticeID, "no turn")
		require.Zero(w.t, out.Inbound.Seq)
		p := w.ann()
		require.Equal(w.t, wire.AttentionCrisis, p.Attention)
		require.Equal(w.t, inboundAt(0), p.AttentionAt.UTC())
		require.Equal(w.t, before.Version+1, p.Version)
		again := w.take(models.Inbound{From: phone, Body: "hi", ReceivedAt: inboundAt(1)})
		require.Equal(w.t, int64(1), again.Inbound.Seq, "numbers have no gaps")

		id := w.safetyText(out.AlertID, 2)
		require.Equal(w.t, id, w.safetyText(out.AlertID, 3), "a retry finds its row")
		history, err := w.People.History(w.ctx, "ann", 10, inboundAt(100))
		require.NoError(w.t, err)
		require.Len(w.t, history, 3)
		require.Equal(w.t, []any{crisis, models.DangerSelfHarm}, []any{history[0].Text, history[0].Danger})
		require.Equal(w.t, "hi", history[1].Text, "no turn has taken it")
		require.Equal(w.t, []any{"call 988", models.KindSafety, wire.OutboxReady}, []any{history[2].Text, history[2].Kind, history[2].Delivery})
		claim, err := w.Outbox.ClaimSend(w.ctx, id, inboundAt(3))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
	})
}

func TestSafetyTextOnceInHalfAnHour(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		first := w.crisis(0)
		second := w.crisis(1799)
		require.NotEmpty(w.t, second.AlertID, "paged all the same")
		require.NotZero(w.t, second.NoticeID, "and the model's turn")
		require.Equal(w.t, int64(1), second.Inbound.Seq)
		require.Empty(w.t, w.safetyText(second.AlertID, 1800))
		third := w.crisis(1800)
		require.Zero(w.t, third.NoticeID)
		require.NotEmpty(w.t, w.safetyText(third.AlertID, 1801))
		require.Equal(w.t, inboundAt(0), w.ann().AttentionAt.UTC(), "the first instant stays")
		require.Empty(w.t, w.safetyText(first.AlertID, 13*3600), "hours later it is of no use")
	})
}

// Words that may ask to end the messages or a life are asked about beside the safety
// text; a STOP after them has a person told, and no other STOP has.
func TestRequestInACrisis(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.take(models.Inbound{From: phone, Body: "stop texting me, i want to die", ReceivedAt: inboundAt(0)})
		require.Equal(w.t, models.IntentUnclear, out.Inbound.Intent)
		require.NotZero(w.t, out.NoticeID, "the question")
		require.NotEmpty(w.t, w.safetyText(out.AlertID, 1))
		require.Equal(w.t, wire.StatusActive, w.ann().Status)
		stop := w.take(models.Inbound{From: phone, Body: "STOP", ReceivedAt: inboundAt(60)})
		require.Equal(w.t, wire.StatusOptedOut, w.ann().Status)
		require.Equal(w.t, wire.AttentionCrisis, w.ann().Attention)
		row := w.alert(stop.AlertID)
		require.Equal(w.t, []any{"A", true, true, false}, []any{row.Tier, row.Escalated, row.Pages, row.Answer})
		require.Empty(w.t, w.safetyText(stop.AlertID, 61))
	})
}

func TestStopAfterAWeakSignTellsAPerson(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		require.NotEmpty(w.t, w.text(0, weak).AlertID)
		stop := w.take(models.Inbound{From: phone, Body: "STOP", ReceivedAt: inboundAt(24*hours - 1)})
		require.True(w.t, w.alert(stop.AlertID).Pages)
		require.Equal(w.t, wire.AttentionCrisis, w.ann().Attention)
	})
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		require.NotEmpty(w.t, w.text(0, weak).AlertID)
		require.Empty(w.t, w.take(models.Inbound{From: phone, Body: "STOP", ReceivedAt: inboundAt(24 * hours)}).AlertID)
	})
}

// What the carrier has ended is ended, and gets no safety text.
func TestWhoOptedOutIsMarkedAndGetsNoSafetyText(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.take(models.Inbound{From: phone, Body: "stop texting me, i want to die", OptOutType: "STOP", ReceivedAt: inboundAt(0)})
		require.NotZero(w.t, out.NoticeID, "the opt-out counts")
		require.NotEmpty(w.t, out.AlertID)
		require.Empty(w.t, w.safetyText(out.AlertID, 1))
		later := w.crisis(60)
		require.NotEmpty(w.t, later.AlertID)
		require.Empty(w.t, w.safetyText(later.AlertID, 61))
		require.Equal(w.t, wire.StatusOptedOut, w.ann().Status)
		require.Equal(w.t, wire.AttentionCrisis, w.ann().Attention)
	})
}

// A participant who opts out between the text and its answer does not get it.
func TestSafetyTextNeedsConsent(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.crisis(0)
		id := w.safetyText(out.AlertID, 1)
		w.take(models.Inbound{From: phone, Body: "STOP", ReceivedAt: inboundAt(2)})
		claim, err := w.Outbox.ClaimSend(w.ctx, id, inboundAt(3))
		require.NoError(w.t, err)
		require.False(w.t, claim.Post)
	})
}

// A limit holds back neither the safety text nor the mark, only further pages.
func TestCrisisAboveTheLimit(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{PerMinute: 1}, func(w *inboundWorld) {
		w.text(0, "hi")
		require.NotEmpty(w.t, w.safetyText(w.crisis(1).AlertID, 2))
		held := w.crisis(3)
		require.Equal(w.t, models.LimitRate, held.Inbound.Limit)
		require.Empty(w.t, held.AlertID)
	})
}

func TestClearAttention(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.crisis(0)
		listed, err := w.People.Participants(w.ctx, models.ParticipantQuery{Attention: wire.AttentionCrisis})
		require.NoError(w.t, err)
		require.Len(w.t, listed, 1)
		open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{})
		require.NoError(w.t, err)
		require.Len(w.t, open, 1)
		for range 2 {
			p, err := w.Attention.ClearAttention(w.ctx, models.AttentionClearing{ParticipantID: "ann", Note: "called her", Actor: "operator", Now: inboundAt(60)})
			require.NoError(w.t, err)
			require.Empty(w.t, p.Attention)
			require.Equal(w.t, w.ann().Version, p.Version)
		}
		row, err := w.Alerts.Alert(w.ctx, "alarm-1")
		require.NoError(w.t, err)
		require.Equal(w.t, "called her", row.Note)
		require.Equal(w.t, inboundAt(60), row.ClearedAt.UTC())
		open, err = w.Attention.OpenAttention(w.ctx, models.AttentionQuery{})
		require.NoError(w.t, err)
		require.Empty(w.t, open)
		_, err = w.Attention.ClearAttention(w.ctx, models.AttentionClearing{ParticipantID: "nobody", Now: inboundAt(60)})
		require.ErrorIs(w.t, err, models.ErrNotFound)
		_, err = w.Alerts.Alert(w.ctx, "alarm-99")
		require.ErrorIs(w.t, err, models.ErrNotFound)
	})
}

func TestPendingAlerts(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		id := w.crisis(0).AlertID
		for seconds, want := range map[int]int{0: 0, 5: 1} {
			rows, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(seconds), 10)
			require.NoError(w.t, err)
			require.Len(w.t, rows, want)
		}
		require.NoError(w.t, w.Alerts.AlertTold(w.ctx, w.alert(id), inboundAt(6)))
		require.NoError(w.t, w.Alerts.AlertPaged(w.ctx, id, inboundAt(7)))
		require.NoError(w.t, w.Alerts.AlertPaged(w.ctx, id, inboundAt(8)))
		rows, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(60), 10)
		require.NoError(w.t, err)
		require.Empty(w.t, rows)
		row, err := w.Alerts.Alert(w.ctx, id)
		require.NoError(w.t, err)
		require.Equal(w.t, inboundAt(7), row.PagedAt.UTC())
	})
}

// What we start ourselves waits for the operator, and is recorded; replies go on.
func TestNothingIsStartedWhileAttentionIsOpen(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.crisis(0)
		begin := func(n int, kind wire.TurnKind) wire.PrepareTurnResult {
			out, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "ann", TurnID: models.TurnID("ann", n), Number: n, Mode: wire.ModeIntake,
				Plan: wire.TurnPlan{Kind: kind, PromptID: "ann-s1-2026-03-02", ScheduleID: "s1", Slot: wire.Slot{Date: "2026-03-02", TargetAt: inboundAt(60)}}, Now: inboundAt(60)})
			require.NoError(w.t, err)
			return out
		}
		for n, kind := range []wire.TurnKind{wire.TurnPrompt, wire.TurnPrompt, wire.TurnReminder, wire.TurnFeedbackQuestion, wire.TurnFeedbackFollowup} {
			require.True(w.t, begin(n+1, kind).Skip, kind)
		}
		require.False(w.t, begin(9, wire.TurnReply).Skip)
		var rows []models.Prompt
		require.NoError(w.t, w.Database().Reader(w.ctx).Find(&rows).Error)
		require.Len(w.t, rows, 1)
		require.Equal(w.t, []any{models.PromptMissed, "attention"}, []any{rows[0].State, rows[0].Reason})

		_, err := w.Attention.ClearAttention(w.ctx, models.AttentionClearing{ParticipantID: "ann", Actor: "operator", Now: inboundAt(90)})
		require.NoError(w.t, err)
		require.False(w.t, begin(10, wire.TurnReminder).Skip)
	})
}

// A prompt that was written before the text came is not sent after it.
func TestPromptUnderWayIsHeld(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		turn, prompt := models.TurnID("ann", 1), "ann-s1-2026-03-02"
		_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "ann", TurnID: turn, Number: 1, Mode: wire.ModeIntake,
			Plan: wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: prompt}, Now: inboundAt(0)})
		require.NoError(w.t, err)
		w.crisis(1)
		out, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: turn, ParticipantID: "ann", Outcome: "step", At: inboundAt(2), Claim: true,
			Outbox: []models.Outbox{{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindPrompt, PromptID: prompt, Body: "walk"}}})
		require.NoError(w.t, err)
		require.Equal(w.t, []any{wire.OutboxCanceled, "attention"}, []any{out.First.Outbox.Status, out.First.Outbox.ErrorCode})
	})
}
