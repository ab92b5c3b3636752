package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func (w *world) hold(from, until int) models.Hold {
	w.t.Helper()
	h, err := w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldAll, Reason: "holiday of Ada Quill", CreatedBy: "operator", CreatedAt: at(from), Until: at(until)})
	require.NoError(w.t, err)
	return h
}

// beginPrompt begins turn n of p1 for a slot with the send time, at an instant.
func (w *world) beginPrompt(n, sendAt, minutes int) bool {
	w.t.Helper()
	plan := promptPlan(fmt.Sprintf("2026-03-%02d", n))
	plan.Slot.SendAt = at(sendAt)
	out, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: models.TurnID("p1", n), Number: n, Mode: wire.ModeIntake, Plan: plan, Now: at(minutes)})
	require.NoError(w.t, err)
	return !out.Skip
}

func (w *world) promptReason(n int) string {
	w.t.Helper()
	id := models.PromptID("p1", "s1", fmt.Sprintf("2026-03-%02d", n))
	return w.text(fmt.Sprintf("SELECT state || ' ' || reason FROM prompts WHERE id = '%s'", id))
}

// A held prompt is recorded as missed and never sent later: neither when its
// time came during the hold and a worker looked only afterwards, nor when it was
// written before the hold began.
func TestHoldStopsPrompts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		written := w.turn(1, promptPlan("2026-03-01"), 0)
		h := w.hold(10, 100)
		claim, err := w.Outbox.ClaimSend(w.ctx, written, at(11))
		require.NoError(t, err)
		require.False(t, claim.Post)
		require.Equal(t, []any{wire.OutboxCanceled, models.MissedHold}, []any{claim.Outbox.Status, claim.Outbox.ErrorCode})
		require.Equal(t, "missed held", w.promptReason(1))

		require.False(t, w.beginPrompt(2, 20, 20))
		require.False(t, w.beginPrompt(2, 20, 21), "a retry")
		require.Equal(t, "missed held", w.promptReason(2))
		require.False(t, w.beginPrompt(3, 90, 105), "due during the hold, late after it")
		require.True(t, w.beginPrompt(4, 100, 100), "the hold is over")

		require.NoError(t, w.Close())
		w.Store = openStore(t, w.url)
		require.False(t, w.beginPrompt(5, 30, 30), "kept across restarts")
		_, err = w.Holds.ReleaseHold(w.ctx, models.HoldRelease{ID: h.ID, Actor: "operator", Now: at(40)})
		require.NoError(t, err)
		require.True(t, w.beginPrompt(6, 50, 50), "released")
		require.False(t, w.beginPrompt(7, 39, 50), "due before the release")
	})
}

// Replies, operators' messages and notices pass a hold; reminders, check-ins and
// feedback questions do not.
func TestHoldLeavesReplies(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.sent(w.turn(1, promptPlan("2026-03-01"), 0), 1)
		kinds := []wire.TurnKind{wire.TurnReply, wire.TurnGreeting, wire.TurnResult, wire.TurnReminder, wire.TurnFeedbackQuestion, wire.TurnFeedbackFollowup, wire.TurnCheckIn}
		rows := map[wire.TurnKind]string{}
		for i, kind := range kinds {
			rows[kind] = w.turn(i+2, wire.TurnPlan{Kind: kind, PromptID: models.PromptID("p1", "s1", "2026-03-01")}, 2)
		}
		w.hold(3, 100)
		var posted []wire.TurnKind
		for _, kind := range kinds {
			claim, err := w.Outbox.ClaimSend(w.ctx, rows[kind], at(4))
			require.NoError(t, err)
			if claim.Post {
				posted = append(posted, kind)
			}
		}
		require.Equal(t, kinds[:3], posted)
		var begun []wire.TurnKind
		for i, kind := range kinds {
			out, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: models.TurnID("p1", i+20), Number: i + 20, Plan: wire.TurnPlan{Kind: kind}, Now: at(5)})
			require.NoError(t, err)
			if !out.Skip {
				begun = append(begun, kind)
			}
		}
		require.Equal(t, kinds[:3], begun)
	})
}

// A text that may have reached the carrier before the hold is still looked up.
func TestHoldLeavesSendsUnderWay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, promptPlan("2026-03-01"), 0)
		w.post(id, 1)
		w.hold(2, 100)
		claim, err := w.Outbox.ClaimSend(w.ctx, id, at(3))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.True(t, claim.Resumed)
	})
}

func TestHoldsAreListedAndReleased(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldAll, CreatedAt: at(5), Until: at(5)})
		require.ErrorContains(t, err, "until: must be in the future")
		first, second := w.hold(0, 50), w.hold(0, 10)
		ids := func(q models.HoldQuery) (ids []int64) {
			rows, err := w.Holds.List(w.ctx, q)
			require.NoError(t, err)
			for _, h := range rows {
				ids = append(ids, h.ID)
			}
			return ids
		}
		require.Equal(t, []int64{second.ID, first.ID}, ids(models.HoldQuery{}))
		require.Equal(t, []int64{second.ID}, ids(models.HoldQuery{Limit: 1}))
		require.Equal(t, []int64{first.ID}, ids(models.HoldQuery{BeforeID: second.ID}))
		require.Equal(t, []int64{first.ID}, ids(models.HoldQuery{ActiveAt: at(10)}))
		released, err := w.Holds.ReleaseHold(w.ctx, models.HoldRelease{ID: first.ID, Actor: "grace", Now: at(20)})
		require.NoError(t, err)
		require.Equal(t, []any{at(20), "grace", "holiday of Ada Quill"}, []any{released.ReleasedAt.UTC(), released.ReleasedBy, released.Reason})
		for _, id := range []int64{first.ID, second.ID, 999} {
			_, err = w.Holds.ReleaseHold(w.ctx, models.HoldRelease{ID: id, Actor: "grace", Now: at(21)})
			require.ErrorIs(t, err, models.ErrNotFound)
		}
		require.Empty(t, ids(models.HoldQuery{ActiveAt: at(20)}))
		require.Equal(t, 3, w.count("SELECT count(*) FROM audit WHERE action IN ('hold', 'hold_release')"))
		require.NotContains(t, w.dump(), "Ada Quill")
	})
}

// A hold of one person stops their prompts, and no other person's, until it ends or
// is released.
func TestHoldOfOneParticipant(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		second := person("p2", "+15558675311")
		_, err := w.People.Enroll(w.ctx, second, "operator")
		require.NoError(t, err)
		create := func(h models.Hold) (models.Hold, error) {
			h.CreatedBy, h.CreatedAt, h.Until = "grace", at(10), at(100)
			return w.Holds.CreateHold(w.ctx, h)
		}
		for _, refused := range []models.Hold{
			{Scope: models.HoldParticipant}, {Scope: models.HoldParticipant, ScopeID: "p9"}, {Scope: models.HoldAll, ScopeID: "p2"}, {Scope: "study", ScopeID: "s"},
		} {
			_, err = create(refused)
			var field *models.FieldError
			require.ErrorAs(t, err, &field, "%+v", refused)
		}
		other, err := create(models.Hold{Scope: models.HoldParticipant, ScopeID: "p2"})
		require.NoError(t, err)
		require.True(t, w.beginPrompt(1, 20, 20), "held for another person only")
		written := w.turn(2, promptPlan("2026-03-02"), 0)
		own, err := create(models.Hold{Scope: models.HoldParticipant, ScopeID: "p1"})
		require.NoError(t, err)
		claim, err := w.Outbox.ClaimSend(w.ctx, written, at(21))
		require.NoError(t, err)
		require.Equal(t, []any{wire.OutboxCanceled, models.MissedHold}, []any{claim.Outbox.Status, claim.Outbox.ErrorCode})
		require.NoError(t, w.Close())
		w.Store = openStore(t, w.url)
		require.False(t, w.beginPrompt(3, 30, 30), "kept across restarts")
		require.Equal(t, "missed held", w.promptReason(3))
		rows, err := w.Holds.List(w.ctx, models.HoldQuery{ActiveAt: at(30), ParticipantID: "p1"})
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, own.ID, rows[0].ID)
		_, err = w.Holds.ReleaseHold(w.ctx, models.HoldRelease{ID: own.ID, Actor: "grace", Now: at(40)})
		require.NoError(t, err)
		require.True(t, w.beginPrompt(4, 50, 50), "released")
		require.False(t, w.beginPrompt(5, 35, 50), "due before the release: it does not queue up")
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'hold' AND participant_id = 'p2'"))
		require.Equal(t, fmt.Sprintf("%d", other.ID), w.text("SELECT object FROM audit WHERE action = 'hold' AND participant_id = 'p2'"))
	})
}
