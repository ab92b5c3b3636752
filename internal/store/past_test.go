package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

func TestPast(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.Turns.Past(w.ctx, "p1")
		require.ErrorIs(t, err, models.ErrNotFound)
		w.enrolled()
		past, err := w.Turns.Past(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.Past{}, past)

		answered, kept := w.inbound("SM1", 1, "one"), w.inbound("SM2", 2, "two")
		begun, unread := w.inbound("SM3", 3, "three"), w.inbound("SM4", 4, "four")
		untold := w.inbound("SM5", 5, "five")
		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, []int64{answered.NoticeID, kept.NoticeID, begun.NoticeID, unread.NoticeID}, at(6)))
		for n, plan := range []wire.TurnPlan{replyPlan, {Kind: wire.TurnMessage}, replyPlan} {
			id := []int64{answered.Inbound.ID, kept.Inbound.ID, begun.Inbound.ID}[n]
			_, err := w.Turns.BeginTurn(w.ctx, begin(n+1, plan, id))
			require.NoError(t, err)
		}
		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t1", ParticipantID: "p1", Outcome: "step", At: at(6)})
		require.NoError(t, err)
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeIntake, Now: at(6),
			Schedules: []wire.Schedule{{ID: "sch-1", Type: wire.ScheduleFixed, At: "08:00"}, {ID: "sch-2", Type: wire.ScheduleRandom, From: "09:00", To: "10:00", Zone: "UTC"}},
			Missed:    []wire.MissedPrompt{{ScheduleID: "sch-1", Slot: wire.Slot{Date: "2026-03-01", TargetAt: at(1)}, Reason: "late"}, {ScheduleID: "sch-1", Slot: wire.Slot{Date: "2026-03-02", TargetAt: at(1)}, Reason: "late"}}}))

		past, err = w.Turns.Past(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.Past{
			Turns: 3, LastSeq: untold.Inbound.Seq - 1,
			Waiting: []wire.InboxItem{
				{MessageID: begun.Inbound.ID, Seq: begun.Inbound.Seq, ReceivedAt: at(3)},
				{MessageID: unread.Inbound.ID, Seq: unread.Inbound.Seq, ReceivedAt: at(4)},
			},
			Schedules: []wire.Schedule{
				{ID: "sch-1", Type: wire.ScheduleFixed, At: "08:00", LastDate: "2026-03-02"},
				{ID: "sch-2", Type: wire.ScheduleRandom, From: "09:00", To: "10:00", Zone: "UTC"},
			},
		}, past)
	})
}

// TestPastKnowsTheLastPrompt: a schedule comes back with the instant of the
// newest prompt that was sent, so that its date gets no second one.
func TestPastKnowsTheLastPrompt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeIntake, Now: at(6),
			Schedules: []wire.Schedule{{ID: "sch-1", Type: wire.ScheduleFixed, At: "08:00"}}}))
		for day, sent := range []time.Time{at(1), at(3), {}} {
			row := models.Prompt{
				ID: fmt.Sprintf("p1-sch-1-%d", day), ParticipantID: "p1", ScheduleID: "sch-1",
				LocalDate: fmt.Sprintf("2026-03-0%d", day+1), TargetAt: at(5), State: models.PromptPending,
			}
			if !sent.IsZero() {
				row.SentAt = &sent
			}
			require.NoError(t, w.Database().Write(w.ctx, func(tx *gorm.DB) error { return tx.Create(&row).Error }))
		}
		past, err := w.Turns.Past(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, []wire.Schedule{{ID: "sch-1", Type: wire.ScheduleFixed, At: "08:00", LastDate: "2026-03-03", LastAt: at(3)}}, past.Schedules)
	})
}

// TestPastKnowsTheGreeting: a greeting is still to be sent until a turn has begun
// the conversation.
func TestPastKnowsTheGreeting(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := person("p1", phone)
		greeting := start.Add(8 * time.Hour)
		p.GreetingAt, p.SignedUp = &greeting, true
		_, err := w.People.Enroll(w.ctx, p, "operator")
		require.NoError(t, err)
		read, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, greeting, read.GreetingAt.UTC())
		require.True(t, read.SignedUp)

		for _, step := range []struct {
			kind wire.TurnKind
			want time.Time
		}{{wire.TurnHelp, greeting}, {wire.TurnOperator, greeting}, {wire.TurnReply, time.Time{}}} {
			past, err := w.Turns.Past(w.ctx, "p1")
			require.NoError(t, err)
			require.Equal(t, greeting, past.GreetingAt, "before the turn %s", step.kind)
			_, err = w.Turns.BeginTurn(w.ctx, begin(past.Turns+1, wire.TurnPlan{Kind: step.kind}))
			require.NoError(t, err)
			past, err = w.Turns.Past(w.ctx, "p1")
			require.NoError(t, err)
			require.Equal(t, step.want, past.GreetingAt, "after the turn %s", step.kind)
		}
	})
}

// A workflow that is started again answers every text that waits, and none is
// forgotten because there are many.
func TestPastKnowsAllWaitingTexts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		var want, notices []int64
		for n := range 230 {
			got := w.inbound(fmt.Sprintf("SM%d", n), 1, fmt.Sprintf("text %d", n))
			want, notices = append(want, got.Inbound.ID), append(notices, got.NoticeID)
		}
		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, notices, at(2)))
		past, err := w.Turns.Past(w.ctx, "p1")
		require.NoError(t, err)
		var ids []int64
		for _, item := range past.Waiting {
			ids = append(ids, item.MessageID)
		}
		require.Equal(t, want, ids)
	})
}

// TestTextsThatEndTheWorkflow: the third run answers a text over which two have ended
// with the fixed text, and what a later run has answered waits no more.
func TestTextsThatEndTheWorkflow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		text := w.inbound("SM1", 1, "look everything up")
		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, []int64{text.NoticeID}, at(2)))
		for n := 1; n <= 4; n++ {
			past, err := w.Turns.Past(w.ctx, "p1")
			require.NoError(t, err)
			require.Len(t, past.Waiting, 1)
			for range 2 { // a retry is told the same
				begun, err := w.Turns.BeginTurn(w.ctx, begin(past.Turns+1, replyPlan, text.Inbound.ID))
				require.NoError(t, err)
				require.Equal(t, n > 2, begun.Stuck, "run %d", n)
			}
		}
		open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Kind: wire.AttentionStuck})
		require.NoError(t, err)
		require.Len(t, open, 1)
		require.Equal(t, "p1-t3", open[0].Ref)
		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t4", ParticipantID: "p1", Outcome: "fallback", At: at(6)})
		require.NoError(t, err)
		past, err := w.Turns.Past(w.ctx, "p1")
		require.NoError(t, err)
		require.Empty(t, past.Waiting)
		next := w.inbound("SM2", 7, "hello?")
		begun, err := w.Turns.BeginTurn(w.ctx, begin(5, replyPlan, next.Inbound.ID))
		require.NoError(t, err)
		require.False(t, begun.Stuck, "the next text is worked on")
	})
}
