package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// says delivers a text as the starter does: screened, stored, and told to the
// workflow in the text of its notice.
func (w *world) says(offset time.Duration, body, carrierType string) {
	w.at(offset, func() { w.deliver(body, carrierType) })
}

func (w *world) deliver(body, carrierType string) {
	w.texts++
	in := models.Inbound{ProviderSID: fmt.Sprintf("SM%032d", w.texts), From: phone, To: "+15017122661", Body: body, OptOutType: carrierType, ReceivedAt: w.env.Now().UTC()}
	got, err := w.store.Inbound.AcceptInbound(context.Background(), in)
	require.NoError(w.t, err)
	if got.NoticeID != 0 {
		w.tell(got.NoticeID, got.Inbound)
	}
}

// tell delivers a notice as the relay does.
func (w *world) tell(id int64, in models.Inbound) {
	_, notices, err := w.store.Notices.Untold(context.Background(), "conv_1")
	require.NoError(w.t, err)
	p, err := w.store.People.Participant(context.Background(), "conv_1")
	require.NoError(w.t, err)
	for _, n := range notices {
		if n.ID != id {
			continue
		}
		switch n.Kind {
		case models.NoticeConsent:
			w.changed(id, wire.ParticipantChanged{Status: p.Status, Confirm: models.ConsentMethod(n.Ref).Confirms()})
		case models.NoticeHelp:
			w.changed(id, wire.ParticipantChanged{Help: true})
		default:
			w.env.SignalWorkflow(wire.SignalMessageReceived, wire.InboxItem{MessageID: in.ID, Seq: in.Seq, ReceivedAt: in.ReceivedAt, Notice: n.ID})
		}
	}
}

func (w *world) changed(id int64, change wire.ParticipantChanged) {
	w.env.UpdateWorkflow(wire.UpdateParticipant, fmt.Sprint("n", id), &updated{}, change)
}

func everythingDue(w *world, _ *coach.Rules) {
	w.state.Due = append(w.state.Due,
		wire.Due{Kind: wire.DueDelayedTransition, At: monday.Add(2 * time.Hour), Ref: string(wire.ModeFeedback)},
		wire.Due{Kind: wire.DueReminder, At: monday.Add(3 * time.Hour), Ref: "conv_1-sch-1-2026-03-01"},
		wire.Due{Kind: wire.DueFeedbackTimeout, At: monday.Add(4 * time.Hour)})
}

func TestStopWithEverythingPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), everythingDue)
	w.text(10*time.Minute, "hm")
	w.says(10*time.Minute+time.Second, "STOP", "")
	w.says(20*time.Minute, "stop", "")
	w.says(30*time.Minute, "help", "")
	w.text(40*time.Minute, "still there?")
	w.run(72 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.WithinDuration(t, monday.Add(10*time.Minute+time.Second), w.carrier.sent[0].At, time.Second, "at once")
	require.Contains(t, w.carrier.sent[0].Body, "opted out")
	require.Zero(t, w.model.count())
	require.Equal(t, wire.StatusOptedOut, w.status().Status)
	require.Empty(t, w.status().Due)
	require.Nil(t, w.status().Pending)
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Len(t, history, 6, "five texts and the confirmation")
}

func TestStopDuringAModelCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.text(0, "hello")
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		w.deliver("Please stop texting me", "")
		return say("too late"), nil
	}
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.Equal(t, 1, w.model.count())
}

// The model is down and retried for minutes; the person does not wait for it.
func TestStopWhileTheModelIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "down"}
	}
	w.text(0, "hello")
	w.says(30*time.Second, "STOP", "")
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.WithinDuration(t, monday.Add(30*time.Second), w.carrier.sent[0].At, time.Second)
}

func TestStopDuringAToolCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		if w.model.requests[0].Tools == nil || len(w.model.requests) > 1 {
			return say("a walk"), nil
		}
		w.deliver("stop", "")
		return models.ChatResponse{Calls: []models.ToolCall{
			call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "11:00"})}}, nil
	}
	w.text(0, "every day at 11")
	w.run(30 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.Empty(t, w.status().Due)
	require.Equal(t, 1, w.model.count())
}

// The text is written and being sent when the STOP comes in.
func TestStopBetweenPersistAndSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.text(0, "hello")
	tries := 0
	w.carrier.refuse = func(models.SMS) error {
		tries++
		if tries > 1 {
			return nil
		}
		w.deliver("STOP", "")
		return &models.CarrierError{Class: models.CarrierRetry, Message: "again"}
	}
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds(), "the retry meets the send check")
	require.Equal(t, 2, tries)
	row, err := w.store.Outbox.Row(context.Background(), "conv_1-t1-p1")
	require.NoError(t, err)
	require.Equal(t, wire.OutboxCanceled, row.Status)
	require.Equal(t, "opted_out", row.ErrorCode)
}

// Nothing was told to the workflow yet; the database alone holds it back.
func TestStopThatTheWorkflowHasNotHeardOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.text(0, "hello")
	w.at(time.Second, func() {
		_, err := w.store.Inbound.AcceptInbound(context.Background(), models.Inbound{ProviderSID: "SMx", From: phone, Body: "STOP", ReceivedAt: w.env.Now()})
		require.NoError(t, err)
	})
	w.run(3 * time.Hour)
	require.Empty(t, w.carrier.sent)
	require.Zero(t, w.model.count(), "no model is asked for what may not be said")
}

func TestTheCarrierAnsweredItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.says(time.Minute, "STOP", "STOP")
	w.says(10*time.Minute, "START", "START")
	w.text(20*time.Minute, "hello again")
	w.run(30 * time.Minute)
	require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds(), "no confirmation of ours")
	require.Equal(t, wire.DueDailyPrompt, w.status().Due[0].Kind)
}

func TestComingBackTakesTheNextSlot(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"START", "yes"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
			w.says(time.Minute, "STOP", "")
			w.says(20*time.Hour, word, "")
			w.text(20*time.Hour+time.Minute, "hello again")
			w.run(24*time.Hour + 55*time.Minute)
			require.Equal(t, []models.EntryKind{models.KindConsent, models.KindConsent, models.KindReply, models.KindPrompt}, w.carrier.kinds())
			require.Contains(t, w.carrier.sent[1].Body, "you are back")
			require.WithinDuration(t, eleven.Add(24*time.Hour-10*time.Minute), w.carrier.sent[3].At, time.Second)
			require.Equal(t, "hello again", lastUser(w.model.requests[0]), "no model answers the START")
			p, err := w.store.People.Participant(context.Background(), "conv_1")
			require.NoError(t, err)
			require.Equal(t, wire.StatusActive, p.Status)
		})
	}
}

// STOP and START were both stored before the workflow heard of either.
func TestBothToldLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() {
		for i, body := range []string{"STOP", "START"} {
			_, err := w.store.Inbound.AcceptInbound(context.Background(), models.Inbound{
				ProviderSID: fmt.Sprint("SMx", i), From: phone, Body: body, ReceivedAt: w.env.Now(),
			})
			require.NoError(t, err)
		}
		for i := range int64(2) {
			w.changed(100+i, wire.ParticipantChanged{Status: wire.StatusActive, Confirm: true})
		}
	})
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds(), "one word about where they stand now")
	require.Contains(t, w.carrier.sent[0].Body, "you are back")
}

func TestYesIsAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says(0, "YES", "")
	w.run(time.Minute)
	require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds())
}

func TestHelpIsAnsweredWithoutTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everythingDue)
	w.says(0, "HELP", "")
	w.run(time.Minute)
	require.Equal(t, []models.EntryKind{models.KindHelp}, w.carrier.kinds())
	require.Contains(t, w.carrier.sent[0].Body, "Reply STOP to end")
	require.Zero(t, w.model.count())
	require.Len(t, w.status().Due, 3, "nothing else changes")
}

// The carrier knows of an opt-out that we do not.
func TestTheCarriersRefusalStopsTheTimers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.carrier.refuse = func(models.SMS) error {
		return &models.CarrierError{Class: models.CarrierConsent, Code: "21610"}
	}
	w.text(0, "hello")
	w.at(time.Minute, func() {
		_, notices, err := w.store.Notices.Untold(context.Background(), "conv_1")
		require.NoError(t, err)
		last := notices[len(notices)-1]
		require.Equal(t, models.NoticeConsent, last.Kind)
		w.tell(last.ID, models.Inbound{})
		w.carrier.refuse = func(models.SMS) error { return errors.New("nothing is posted any more") }
	})
	w.run(30 * time.Hour)
	require.Empty(t, w.carrier.sent)
	require.Empty(t, w.status().Due)
	require.Equal(t, wire.StatusOptedOut, w.status().Status)
}

func TestNobodyIsGreetedWhoOptedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *coach.Rules) { w.state.Greeted, w.state.Status = false, wire.StatusOptedOut })
	w.run(time.Hour)
	require.Empty(t, w.carrier.sent)
	require.Zero(t, w.model.count())
}

// What was planned before the STOP is not even begun.
func TestStopDropsPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.text(0, "hello")
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		row, _, err := w.store.Outbox.QueueOperatorMessage(context.Background(), models.OperatorMessage{
			ParticipantID: "conv_1", Body: "We moved.", Key: "k1", Actor: "op", Now: monday})
		require.NoError(t, err)
		w.env.UpdateWorkflow(wire.UpdateSendMessage, "op", &updated{}, wire.SendMessageRequest{OutboxID: row.ID})
		w.deliver("STOP", "")
		return say("too late"), nil
	}
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.Equal(t, 2, w.status().Turns, "the reply that was under way and the confirmation")
}

// A mode belongs to coaching, which is over for people who opted out.
func TestModeIsRefusedAfterAnOptOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() { w.deliver("STOP", "") })
	refused := w.update(time.Hour, wire.UpdateSetMode, wire.SetModeRequest{Mode: wire.ModeFeedback})
	w.run(2 * time.Hour)
	require.ErrorContains(t, refused.rejected, "the participant is opted_out")
	require.Equal(t, wire.ModeIntake, w.status().Mode)
}
