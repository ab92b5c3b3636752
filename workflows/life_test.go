package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

func TestUnenrollWithEverythingPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), func(w *world, _ *coach.Rules) {
		w.state.Due = append(w.state.Due,
			wire.Due{Kind: wire.DueDelayedTransition, At: monday.Add(2 * time.Hour), Ref: string(wire.ModeFeedback)},
			wire.Due{Kind: wire.DueReminder, At: monday.Add(3 * time.Hour), Ref: "conv_1-sch-1-2026-03-01"},
			wire.Due{Kind: wire.DueFeedbackTimeout, At: monday.Add(4 * time.Hour)})
	})
	w.at(10*time.Minute, func() {
		require.NoError(t, w.store.People.RemoveParticipant(context.Background(), "conv_1", "test", w.env.Now()))
	})
	u := w.update(10*time.Minute, wire.UpdateUnenroll)
	w.run(48 * time.Hour)
	require.NoError(t, w.env.GetWorkflowError(), "the workflow ends by itself")
	require.True(t, u.done)
	require.Equal(t, []models.EntryKind{models.KindNotice}, w.carrier.kinds())
	require.True(t, w.status().Ended)
	require.Empty(t, w.status().Due)
}

func TestUnenrollDuringATurnSendsNoReplyAfterTheNotice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.text(0, "hello")
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		w.env.UpdateWorkflow(wire.UpdateUnenroll, "bye", &updated{})
		return say("too late"), nil
	}
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindNotice}, w.carrier.kinds())
}

func TestCommandsAfterLeavingAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bye := w.update(time.Minute, wire.UpdateUnenroll)
	second := w.update(time.Minute, wire.UpdatePause)
	w.run(time.Hour)
	require.True(t, bye.done)
	require.ErrorContains(t, second.rejected, "left the programme")
}

func TestPauseHoldsAndResumeTakesTheNextSlotOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.update(10*time.Minute, wire.UpdatePause)
	w.text(20*time.Minute, "are you there?")
	w.update(30*time.Hour, wire.UpdateResume)
	w.run(52 * time.Hour)
	require.Empty(t, w.carrier.of(models.KindReply), "stored, not answered")
	prompts := w.carrier.of(models.KindPrompt)
	require.Len(t, prompts, 1)
	require.WithinDuration(t, eleven.Add(48*time.Hour-10*time.Minute), prompts[0].At, time.Second)
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Equal(t, "are you there?", history[0].Text)
}

func TestPauseTwiceChangesOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.update(time.Minute, wire.UpdatePause)
	second := w.update(2*time.Minute, wire.UpdatePause)
	w.run(time.Hour)
	require.True(t, first.done)
	require.True(t, second.done)
	require.Equal(t, wire.StatusPaused, w.status().Status)
	p, err := w.store.People.Participant(context.Background(), "conv_1")
	require.NoError(t, err)
	require.Equal(t, wire.StatusPaused, p.Status, "the row follows")
}

func TestOperatorCommands(t *testing.T) {
	t.Parallel()
	t.Run("mode", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		bad := w.update(time.Minute, wire.UpdateSetMode, wire.SetModeRequest{Mode: "LUNCH"})
		good := w.update(2*time.Minute, wire.UpdateSetMode, wire.SetModeRequest{Mode: wire.ModeFeedback})
		w.run(10 * time.Minute)
		require.ErrorContains(t, bad.rejected, "mode")
		require.True(t, good.done)
		require.Equal(t, wire.ModeFeedback, w.status().Mode)
	})
	t.Run("message", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		row, created, err := w.store.Outbox.QueueOperatorMessage(context.Background(), models.OperatorMessage{
			ParticipantID: "conv_1", Body: "We moved to Tuesday.", Key: "k1", Actor: "op", Now: monday,
		})
		require.NoError(t, err)
		require.True(t, created)
		w.update(time.Minute, wire.UpdateSendMessage, wire.SendMessageRequest{OutboxID: row.ID})
		w.update(2*time.Minute, wire.UpdateSendMessage, wire.SendMessageRequest{OutboxID: row.ID})
		w.text(3*time.Minute, "ok")
		w.run(10 * time.Minute)
		require.Equal(t, []models.EntryKind{models.KindOperator, models.KindReply}, w.carrier.kinds(), "once, although asked twice")
		require.Contains(t, fmt.Sprint(w.model.requests[0].Messages), "We moved to Tuesday.", "the model knows what was sent")
	})
}

func TestUnknownModeIsIntakeAndStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *coach.Rules) { w.state.Mode = "COORDINATOR" })
	w.run(time.Minute)
	require.Equal(t, wire.ModeIntake, w.status().Mode)
	p, err := w.store.People.Participant(context.Background(), "conv_1")
	require.NoError(t, err)
	require.Equal(t, wire.ModeIntake, p.Mode)
}

func TestContinueAsNewCarriesEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven),
		withRules(func(r *coach.Rules) { r.Debounce, r.DebounceMax = time.Minute, 10*time.Minute }))
	w.text(0, "hello")
	// Everything arrives in the task that is about to continue as new.
	w.at(time.Second, func() {
		w.env.SetContinueAsNewSuggested(true)
		for i := range 50 {
			w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept(fmt.Sprint("text ", i)))
		}
	})
	w.run(time.Hour)
	next := w.continued()
	require.Len(t, next.Inbox.Items, 51)
	require.EqualValues(t, 51, next.Inbox.LastSeq)
	require.Empty(t, next.Inbox.Gaps)
	require.Len(t, next.Due, 2)
	require.Equal(t, eleven.Add(-10*time.Minute), next.Due[0].At.UTC(), "carried as the instant it was")
	require.Empty(t, w.carrier.sent)

	// The next run answers all of it in one turn and sends the prompt on time.
	second := newWorld(t, func(w *world, _ *coach.Rules) { w.state = next })
	for i := range 51 {
		second.at(0, func() { second.accept(fmt.Sprint("row ", i)) })
	}
	second.run(2 * time.Hour)
	require.Len(t, second.carrier.of(models.KindReply), 1)
	require.Len(t, second.carrier.of(models.KindPrompt), 1)
	require.WithinDuration(t, eleven.Add(-10*time.Minute), second.carrier.of(models.KindPrompt)[0].At, time.Second)
}

func TestRepeatAfterContinueAsNewIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *coach.Rules) { w.state.Inbox.LastSeq = 7 })
	w.at(0, func() {
		w.env.SignalWorkflow(wire.SignalMessageReceived, wire.InboxItem{MessageID: 3, Seq: 5, ReceivedAt: monday})
	})
	w.run(time.Minute)
	require.Empty(t, w.carrier.sent)
	require.Zero(t, w.status().Waiting)
}

func TestCarriedStateStaysSmall(t *testing.T) {
	t.Parallel()
	state := wire.ParticipantState{ParticipantID: "conv_0123456789abcdef01234567", Zone: "America/Argentina/ComodRivadavia",
		Status: wire.StatusActive, Mode: wire.ModeFeedback, Turn: 1 << 20,
		Pending: &wire.PendingPrompt{PromptID: "conv_0123456789abcdef01234567-sch-t100000-s8c4-2026-03-02", SentAt: monday}}
	for i := range 200 {
		require.True(t, state.Inbox.Take(wire.InboxItem{MessageID: 1 << 40, Seq: int64(2*i + 2), ReceivedAt: monday}))
	}
	for i := range 5 {
		id := fmt.Sprintf("sch-t100000-s8c%d", i)
		state.Schedules = append(state.Schedules, wire.Schedule{ID: id, Type: wire.ScheduleRandom, From: "09:00", To: "17:00",
			Zone: state.Zone, LastDate: "2026-03-02", Next: wire.Slot{Date: "2026-03-03", TargetAt: monday, SendAt: monday}})
		state.Due = append(state.Due, wire.Due{Kind: wire.DueDailyPrompt, At: monday, Ref: id})
	}
	text, err := json.Marshal(state)
	require.NoError(t, err)
	require.Less(t, len(text), 64<<10)
}

// An operator terminated the workflow: the next one goes on from the tables.
func TestRestoredLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	open := w.accept("are you there?")
	_, err := w.store.Turns.BeginTurn(ctx, wire.PrepareTurnInput{ParticipantID: "conv_1", TurnID: "conv_1-t7", Number: 7,
		Mode: wire.ModeFeedback, Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{open.MessageID}, Now: monday})
	require.NoError(t, err)
	require.NoError(t, w.store.Turns.SaveState(ctx, wire.SaveStateInput{ParticipantID: "conv_1", Mode: wire.ModeFeedback, Now: monday,
		Schedules: []wire.Schedule{{ID: "sch-1", Type: wire.ScheduleFixed, At: "12:00"}}}))
	_, notices, err := w.store.Notices.Untold(ctx, "conv_1")
	require.NoError(t, err)
	for _, n := range notices {
		require.NoError(t, w.store.Notices.NoticesDelivered(ctx, []int64{n.ID}, monday))
	}
	w.state.Restore, w.state.Mode = true, wire.ModeFeedback
	w.text(time.Hour, "and now?")
	w.at(time.Hour+time.Minute, func() { w.env.SignalWorkflow(wire.SignalMessageReceived, open) })
	w.run(4 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindReply, models.KindReply, models.KindPrompt}, w.carrier.kinds()[:3])
	require.Equal(t, echo("are you there?"), w.carrier.sent[0].Body)
	require.Equal(t, echo("and now?"), w.carrier.sent[1].Body)
	require.WithinDuration(t, monday.Add(110*time.Minute), w.carrier.sent[2].At, 2*time.Second, "ten minutes before noon")
	require.GreaterOrEqual(t, w.status().Turns, 10)
}
