package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// set changes p1's status some minutes after the start, with a choice for what
// waits.
func (w *world) set(status wire.Status, waiting models.WaitingAction, minutes int) error {
	w.t.Helper()
	_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{
		ID: "p1", Patch: models.ParticipantPatch{Status: &status}, Waiting: waiting, Actor: "operator", Now: at(minutes)})
	return err
}

func (w *world) waiting() (texts []string) {
	w.t.Helper()
	list, err := w.People.WaitingMessages(w.ctx, "p1")
	require.NoError(w.t, err)
	for _, m := range list {
		texts = append(texts, m.Text)
	}
	return texts
}

// resumed are the texts that the newest notice of a resumption has answered.
func (w *world) resumed() (ids []int64) {
	w.t.Helper()
	_, rows, err := w.Notices.Untold(w.ctx, "p1")
	require.NoError(w.t, err)
	last := rows[len(rows)-1]
	require.Equal(w.t, models.NoticeResume, last.Kind)
	items, err := w.Notices.ResumedMessages(w.ctx, last.ID)
	require.NoError(w.t, err)
	for _, item := range items {
		ids = append(ids, item.MessageID)
	}
	return ids
}

const day = 24 * 60

func TestMessagesOfAPauseWait(t *testing.T) {
	for _, tt := range []struct {
		name     string
		choice   models.WaitingAction
		after    int // minutes from the text to resuming it
		answered bool
		audit    string
	}{
		{"of today", "", 60, true, "waiting_answer 1"},
		// 9:01 UTC is 4:01 in New York, and 4:30 the next day another date.
		{"of yesterday", "", day, false, "waiting_read 1"},
		{"after midnight UTC it is still today in New York", "", 15 * 60, true, "waiting_answer 1"},
		{"of today, to be read", models.WaitingRead, 60, false, "waiting_read 1"},
		{"of last week, to be answered", models.WaitingAnswer, 7 * day, true, "waiting_answer 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				w.inbound("SM0", 0, "before the pause")
				require.NoError(t, w.set(wire.StatusPaused, "", 0))
				got := w.inbound("SM1", 1, "are you there?")
				require.Equal(t, []string{"are you there?"}, w.waiting())
				listed, err := w.People.Participants(w.ctx, models.ParticipantQuery{Waiting: true})
				require.NoError(t, err)
				require.Len(t, listed, 1)
				require.NoError(t, w.set(wire.StatusActive, tt.choice, 1+tt.after))
				require.Empty(t, w.waiting())
				listed, err = w.People.Participants(w.ctx, models.ParticipantQuery{Waiting: true})
				require.NoError(t, err)
				require.Empty(t, listed)
				want := []int64(nil)
				if tt.answered {
					want = []int64{got.Inbound.ID}
				}
				require.Equal(t, want, w.resumed())
				require.Equal(t, tt.audit, w.text("SELECT action || ' ' || detail FROM audit WHERE action LIKE 'waiting_%'"))
				require.Equal(t, 1, w.count("SELECT count(*) FROM notices WHERE kind = 'resume'"))
			})
		})
	}
}

// A choice needs a participant in active coaching; it may come after the
// resumption.
func TestWaitingChoiceNeedsActiveCoaching(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.set(wire.StatusPaused, "", 0))
		w.inbound("SM1", 1, "hello")
		for _, status := range []wire.Status{wire.StatusPaused, wire.StatusCompleted} {
			require.ErrorContains(t, w.set(status, models.WaitingRead, 2), "waiting_messages: only for a participant who is active")
		}
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeIntake, Status: wire.StatusActive, Now: at(3)}))
		require.Equal(t, []string{"hello"}, w.waiting(), "resumed by other means")
		require.NoError(t, w.set(wire.StatusActive, models.WaitingAnswer, 4))
		require.Len(t, w.resumed(), 1)
		require.NoError(t, w.set(wire.StatusActive, models.WaitingAnswer, 5))
		require.Equal(t, 1, w.count("SELECT count(*) FROM notices WHERE kind = 'resume'"))
	})
}

// What a pause stopped waits too: a burst that was about to be answered, and the
// texts of a reply that was written and is not sent any more.
func TestPauseStopsAReply(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		burst, replied := w.inbound("SM1", 0, "burst"), w.inbound("SM2", 0, "replied")
		begin := func(n int, kind wire.TurnKind, id int64) string {
			turn := models.TurnID("p1", n)
			_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: turn, Number: n,
				Plan: wire.TurnPlan{Kind: kind}, InboundIDs: []int64{id}, Now: at(2)})
			require.NoError(t, err)
			return turn
		}
		reply := begin(1, wire.TurnReply, replied.Inbound.ID)
		rows, err := w.finish(outcome(reply, wire.TurnReply, "", 1))
		require.NoError(t, err)
		require.NoError(t, w.set(wire.StatusPaused, "", 1))
		begin(2, wire.TurnMessage, burst.Inbound.ID)
		require.Equal(t, []string{"burst"}, w.waiting())
		claim, err := w.Outbox.ClaimSend(w.ctx, rows[0], at(3))
		require.NoError(t, err)
		require.Equal(t, "paused", claim.Outbox.ErrorCode)
		require.Equal(t, []string{"burst", "replied"}, w.waiting())
	})
}

// The texts that a reply takes up after a pause are the newest entries for the
// model, and stand where they came in the transcript.
func TestResumedTextsAreAnswered(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.set(wire.StatusPaused, "", 0))
		got := w.inbound("SM1", 1, "are you there?")
		ids := []int64{got.Inbound.ID}
		begin := func(n int, kind wire.TurnKind) models.TurnContext {
			turn := models.TurnID("p1", n)
			in := wire.PrepareTurnInput{ParticipantID: "p1", TurnID: turn, Number: n, Plan: wire.TurnPlan{Kind: kind}, InboundIDs: ids, Now: at(2)}
			for range 2 { // a retry
				_, err := w.Turns.BeginTurn(w.ctx, in)
				require.NoError(t, err)
			}
			tc, err := w.Turns.TurnContext(w.ctx, turn, 50)
			require.NoError(t, err)
			return tc
		}
		begin(1, wire.TurnMessage)
		ids = nil
		begin(2, wire.TurnOperator)
		_, err := w.finish(outcome("p1-t2", wire.TurnOperator, "", 10))
		require.NoError(t, err)
		require.NoError(t, w.set(wire.StatusActive, models.WaitingAnswer, 20))
		ids = []int64{got.Inbound.ID}
		tc := begin(3, wire.TurnReply)
		require.Equal(t, []string{"text of p1-t2", "are you there?"}, texts(tc.Window))
		require.Equal(t, "p1-t3", tc.Window[1].TurnID)
		history, err := w.People.History(w.ctx, "p1", 10, at(100))
		require.NoError(t, err)
		require.Equal(t, "are you there?", history[0].Text)
	})
}

// An operator sees every message that waits.
func TestAllWaitingMessagesAreListed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.set(wire.StatusPaused, "", 0))
		var ids []int64
		for n := range 230 {
			ids = append(ids, w.inbound(fmt.Sprintf("SM%d", n), 1, fmt.Sprintf("text %d", n)).Inbound.ID)
		}
		_, err := w.Turns.BeginTurn(w.ctx, begin(1, wire.TurnPlan{Kind: wire.TurnMessage}, ids...))
		require.NoError(t, err)
		texts := w.waiting()
		require.Len(t, texts, 230)
		require.Equal(t, "text 229", texts[229])
	})
}
