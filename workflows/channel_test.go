package workflows_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// chats delivers a text of the chat at an offset, as the starter would.
func (w *world) chats(offset time.Duration, body string) {
	w.at(offset, func() { w.env.SignalWorkflow(wire.SignalMessageReceived, w.acceptChat(body)) })
}

func (w *world) acceptChat(body string) wire.InboxItem {
	w.texts++
	in := models.Inbound{
		ProviderSID: fmt.Sprintf("chat-%d", w.texts), From: phone, Body: body, Channel: wire.ChannelChat, ReceivedAt: w.env.Now().UTC(),
	}
	got, err := w.store.Inbound.AcceptInbound(context.Background(), in)
	require.NoError(w.t, err)
	return wire.InboxItem{
		MessageID: got.Inbound.ID, Seq: got.Inbound.Seq, ReceivedAt: got.Inbound.ReceivedAt, Channel: wire.ChannelChat,
	}
}

// said lists the conversation as "channel role: text".
func (w *world) said() []string {
	w.t.Helper()
	history, err := w.store.People.History(context.Background(), "conv_1", 50, time.Time{})
	require.NoError(w.t, err)
	lines := []string{}
	for _, e := range history {
		lines = append(lines, fmt.Sprintf("%s %s: %s", e.Channel, e.Role, e.Text))
	}
	return lines
}

func TestChatIsAnsweredWhereItWasWritten(t *testing.T) {
	t.Parallel()
	t.Run("a channel beside SMS", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.chats(0, "hello — there")
		w.run(time.Minute)
		require.Empty(t, w.carrier.sent)
		require.Equal(t, []string{"chat user: hello — there", "chat assistant: " + echo("hello — there")}, w.said())
		row, err := w.store.Outbox.Row(context.Background(), models.OutboxID("conv_1-t1", 1))
		require.NoError(t, err)
		require.Equal(t, wire.OutboxDelivered, row.Status)
		require.NotNil(t, row.AcceptedAt)
		require.Zero(t, row.Attempts)
	})
	t.Run("a long answer is one text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			return say(prose(250)), nil
		}
		w.chats(0, "tell me everything")
		w.run(time.Minute)
		require.Empty(t, w.carrier.sent)
		require.Len(t, w.said(), 2)
		require.Equal(t, "chat assistant: "+prose(250), w.said()[1])
	})
	t.Run("what we start goes by SMS", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSchedule("10:30", "2026-03-02", monday.Add(30*time.Minute)))
		w.chats(0, "hello")
		w.run(6 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindPrompt, models.KindFeedbackQuestion}, w.carrier.kinds()[:2])
		require.NotContains(t, w.carrier.kinds(), models.KindReply)
	})
	t.Run("HELP and STOP", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.at(time.Second, func() { w.acceptChat("HELP") })
		w.update(2*time.Second, wire.UpdateParticipant, wire.ParticipantChanged{Help: true})
		w.at(time.Minute, func() { w.acceptChat("STOP") })
		w.update(time.Minute+time.Second, wire.UpdateParticipant, wire.ParticipantChanged{Status: wire.StatusOptedOut, Confirm: true})
		w.chats(2*time.Minute, "still there?")
		w.run(time.Hour)
		require.Empty(t, w.carrier.sent)
		said := w.said()
		require.Len(t, said, 5, said)
		require.Contains(t, said[1], "chat assistant: ")
		require.Contains(t, said[3], "chat assistant: ")
		require.Equal(t, "chat user: still there?", said[4], "kept, and not answered")
		require.Zero(t, w.model.count())
	})
	t.Run("an answer to somebody paused meanwhile is not shown as delivered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			paused := wire.StatusPaused
			_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
				ID: "conv_1", Patch: models.ParticipantPatch{Status: &paused}, Actor: "test", Now: w.env.Now(),
			})
			return say("hi"), err
		}
		w.chats(0, "hello")
		w.run(time.Minute)
		row, err := w.store.Outbox.Row(context.Background(), models.OutboxID("conv_1-t1", 1))
		require.NoError(t, err)
		require.Equal(t, wire.OutboxCanceled, row.Status)
	})
}

// Texts of two channels are never one turn: each run of one channel is answered
// where it was written, in the order in which the texts came.
func TestChannelsAreNotMixed(t *testing.T) {
	t.Parallel()
	t.Run("in one burst", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.text(0, "one")
		w.text(100*time.Millisecond, "two")
		w.chats(200*time.Millisecond, "three")
		w.text(300*time.Millisecond, "four")
		w.run(time.Minute)
		require.Equal(t, 3, w.status().Turns)
		require.Len(t, w.carrier.sent, 2)
		require.Equal(t, "ok: two", w.carrier.sent[0].Body)
		require.Equal(t, "ok: four", w.carrier.sent[1].Body)
		require.Contains(t, w.said(), "chat assistant: ok: three")
		require.Zero(t, w.status().Waiting)
	})
	t.Run("while the model writes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
		w.text(0, "first")
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if lastUser(req) == "first" {
				w.env.SignalWorkflow(wire.SignalMessageReceived, w.acceptChat("second"))
			}
			return say("answer to " + lastUser(req)), nil
		}
		w.run(time.Minute)
		require.Len(t, w.carrier.sent, 1)
		require.Equal(t, "answer to first", w.carrier.sent[0].Body)
		require.Contains(t, w.said(), "chat assistant: answer to second")
	})
}

func TestChannelRights(t *testing.T) {
	t.Parallel()
	look := func(n int) models.ToolCall {
		return call("search_memory", map[string]any{"query": fmt.Sprint("thing ", n)})
	}
	ask := func(w *world, calls ...models.ToolCall) {
		w.model.answer = scripted(map[string][]models.ToolCall{"please": calls})
	}
	t.Run("a channel with fewer rights", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ask(w, call("save_user_profile", map[string]any{"habit_domain": "walking"}), call("scheduler", map[string]any{"action": "list"}),
			look(1), look(2), look(3), look(4))
		w.chats(0, "please remember that I walk every morning at seven")
		w.run(time.Minute)
		turn, err := w.store.Turns.TurnContext(context.Background(), "conv_1-t1", 50)
		require.NoError(t, err)
		require.Len(t, turn.Runs, 6)
		var failed []bool
		for _, run := range turn.Runs {
			failed = append(failed, run.Failed)
		}
		require.Equal(t, []bool{true, true, false, false, false, true}, failed, "two are refused, three run, and then the limit is reached")
		require.Empty(t, turn.Profile.HabitDomain)
		require.Contains(t, turn.Runs[5].Result, "limit")
		registry, err := tools.New()
		require.NoError(t, err)
		for _, req := range w.model.requests {
			for _, tool := range req.Tools {
				spec, known := registry.Lookup(tool.Name)
				require.True(t, known && (spec.ReadOnly || spec.Ends || spec.Name == "ask_for_person" || spec.Name == "report_concern"), tool.Name)
			}
		}
		require.Contains(t, wholeText(w.model.requests[0]), "writes in the chat")
		require.Empty(t, w.remembered, "no final memory step")
	})
	t.Run("five of six calls", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ask(w, look(1), look(2), look(3), look(4), look(5), look(6))
		w.chats(0, "hello")
		w.text(30*time.Second, "please remember that I walk every morning at seven")
		w.run(time.Minute)
		turn, err := w.store.Turns.TurnContext(context.Background(), "conv_1-t2", 50)
		require.NoError(t, err)
		require.Len(t, turn.Runs, 6)
		require.False(t, turn.Runs[4].Failed, "five by SMS, whatever the turn before was allowed")
		require.True(t, turn.Runs[5].Failed)
		require.NotContains(t, wholeText(w.model.requests[len(w.model.requests)-1]), "writes in the chat")
		require.Equal(t, []string{"conv_1-t2"}, w.remembered)
	})
}

func TestLastChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	last := func() wire.Channel {
		p, err := w.store.People.Participant(context.Background(), "conv_1")
		require.NoError(t, err)
		return p.LastChannel
	}
	t.Run("last channel of a person", func(t *testing.T) {
		require.Equal(t, wire.ChannelSMS, last())
		w.chats(0, "hello")
		w.at(10*time.Second, func() { require.Equal(t, wire.ChannelChat, last()) })
		w.text(20*time.Second, "hello")
		w.run(time.Minute)
		require.Equal(t, wire.ChannelSMS, last())
	})
}
