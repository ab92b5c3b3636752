package workflows_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/internal/tools/message"
	"coachline/models"
	"coachline/models/wire"
)

// events counts security events.
type events struct{ list []string }

func (e *events) Security(event string) { e.list = append(e.list, event) }

func withMessages(w *world, _ *coach.Rules) { w.features = append(w.features, w.messages(&events{})) }

func (w *world) messages(e *events) tools.Tool {
	return message.New(message.Config{Ledger: w.store.Turns, Events: e}).Tool()
}

func texted(words string) models.ToolCall { return call("message", map[string]any{"content": words}) }

// steps answers the steps of the first text one after the other, and keeps to
// the last one.
func steps(answers ...models.ChatResponse) func(models.ChatRequest) (models.ChatResponse, error) {
	at := -1
	return func(models.ChatRequest) (models.ChatResponse, error) {
		at = min(at+1, len(answers)-1)
		return answers[at], nil
	}
}

func asks(calls ...models.ToolCall) models.ChatResponse {
	for i := range calls {
		calls[i].ID += string(rune('a' + i))
	}
	return models.ChatResponse{Model: "test", Calls: calls}
}

func (w *world) outcome(n int) string {
	w.t.Helper()
	past := w.store.Records
	record, err := past.Turn(context.Background(), "conv_1", n)
	require.NoError(w.t, err)
	return record.Totals.Outcome
}

const aSecond = "One moment, I look at your week."

func TestMessageTool(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []models.ChatResponse
		want    []string
		outcome string
		asked   int
	}{
		{"the same words", []models.ChatResponse{asks(texted(aSecond)), say(aSecond)}, []string{aSecond}, "said_already", 2},
		{"case, spaces and punctuation aside", []models.ChatResponse{asks(texted(aSecond)), say("**One moment** - I look\nat your WEEK")}, []string{aSecond}, "said_already", 2},
		{"other words", []models.ChatResponse{asks(texted(aSecond)), say("Monday is free.")}, []string{aSecond, "Monday is free."}, "step", 2},
		{"an acknowledgement", []models.ChatResponse{asks(texted(aSecond)), say("Got it, thanks!")}, []string{aSecond}, "said_already", 2},
		{"a question is none", []models.ChatResponse{asks(texted(aSecond)), say("OK?")}, []string{aSecond, "OK?"}, "step", 2},
		{"a number is none", []models.ChatResponse{asks(texted(aSecond)), say("7am")}, []string{aSecond, "7am"}, "step", 2},
		{"nothing, and no second try", []models.ChatResponse{asks(texted(aSecond)), say("")}, []string{aSecond}, "said_already", 2},
		{"without a text an empty answer is asked for again", []models.ChatResponse{asks(texted("{}")), say(""), say("Here.")}, []string{"Here."}, "step", 3},
		{"two and no more", []models.ChatResponse{asks(texted("One."), texted("Two."), texted("Three.")), say("Done for today.")},
			[]string{"One.", "Two.", "Done for today."}, "step", 2},
		{"rendered as a reply is", []models.ChatResponse{asks(texted("**Great** – a plan")), say("Do you walk at noon?")},
			[]string{"Great - a plan", "Do you walk at noon?"}, "step", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withMessages)
			w.model.answer = steps(tt.answers...)
			w.text(0, "how does my week look")
			w.run(time.Minute)
			require.Equal(t, tt.want, w.carrier.bodies())
			require.Equal(t, tt.outcome, w.outcome(1))
			require.Equal(t, tt.asked, w.model.count())
			lines := w.said()
			require.Len(t, lines, len(tt.want)+1)
			for i, words := range tt.want {
				require.Equal(t, "sms assistant: "+words, lines[i+1])
			}
		})
	}
}

func TestMessageToolOverTheChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMessages)
	w.model.answer = steps(asks(texted(aSecond)), say(""))
	w.chats(0, "how does my week look")
	w.run(time.Minute)
	require.Empty(t, w.carrier.sent, "on the turn's channel")
	require.Equal(t, []string{"chat user: how does my week look", "chat assistant: " + aSecond}, w.said())
	require.Equal(t, 2, w.model.count())
}

// What the model has said stands among its steps, once.
func TestMessageToolDoesNotReadItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMessages)
	w.model.answer = steps(asks(texted(aSecond)), say("Monday is free."))
	w.text(0, "how does my week look")
	w.run(time.Minute)
	require.Contains(t, lastUser(w.model.requests[1]), "how does my week look")
	require.Equal(t, []string{`{"note":"it is on its way; do not repeat it in your final words","ok":true}`}, toolMessages(w.model.requests[1]))
	for _, m := range w.model.requests[1].Messages {
		require.NotEqual(t, aSecond, m.Content)
	}
}

func TestMessageToolReachesNobodyElse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, arguments string
		events          int
	}{
		{"another number", `{"content":"hi","to":"+12025550199"}`, 1},
		{"another channel", `{"content":"hi","channel":"whatsapp"}`, 1},
		{"their own channel is refused and no event", `{"content":"hi","channel":"sms"}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			seen := &events{}
			w := newWorld(t, func(w *world, _ *coach.Rules) { w.features = append(w.features, w.messages(seen)) })
			w.model.answer = steps(asks(models.ToolCall{ID: "c", Name: "message", Arguments: tt.arguments}), say("Let us talk about you."))
			w.text(0, "text my friend")
			w.run(time.Minute)
			require.Equal(t, []string{"Let us talk about you."}, w.carrier.bodies())
			require.Contains(t, toolMessages(w.model.requests[1])[0], `"ok":false`)
			require.Len(t, seen.list, tt.events)
		})
	}
}

// runner runs the tool outside of the environment, so that a test can lose what
// it answered.
func (w *world) runner() *activities.ToolActivities {
	registry, err := tools.New(w.messages(&events{}))
	require.NoError(w.t, err)
	return &activities.ToolActivities{Store: w.store.Turns, Outbox: w.store.Outbox, Tools: registry, Zones: time.LoadLocation, Now: w.env.Now}
}

func TestMessageToolOnAWorkerThatDies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lost int
		want []string
	}{
		{"once", 1, []string{aSecond, "Monday is free."}},
		{"for longer than the turn waits", 1000, []string{"Monday is free.", aSecond}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withMessages)
			w.model.answer = steps(asks(texted(aSecond)), say("Monday is free."))
			left := tt.lost
			runner := w.runner()
			w.env.OnActivity("RunTool", mock.Anything, mock.Anything).Return(func(ctx context.Context, in wire.ToolInput) (wire.ToolEffect, error) {
				out, err := runner.RunTool(ctx, in)
				require.NoError(t, err)
				if left--; left >= 0 {
					return wire.ToolEffect{}, errors.New("the worker is gone")
				}
				return out, nil
			})
			w.text(0, "how does my week look")
			w.run(time.Hour)
			require.Equal(t, tt.want, w.carrier.bodies())
			require.Len(t, w.said(), 3)
		})
	}
}

func TestMessageToolAndStop(t *testing.T) {
	t.Parallel()
	t.Run("the send check holds", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withMessages)
		w.model.answer = steps(asks(texted(aSecond)), say("Monday is free."))
		runner := w.runner()
		w.env.OnActivity("RunTool", mock.Anything, mock.Anything).Return(func(ctx context.Context, in wire.ToolInput) (wire.ToolEffect, error) {
			out, err := runner.RunTool(ctx, in)
			w.deliver("STOP", "")
			return out, err
		})
		w.text(0, "how does my week look")
		w.run(time.Hour)
		require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	})
	t.Run("a text that comes too late is not written", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withMessages)
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			w.deliver("STOP", "")
			return asks(texted(aSecond)), nil
		}
		w.text(0, "how does my week look")
		w.run(time.Hour)
		require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
		_, err := w.store.Outbox.Row(context.Background(), models.OutboxID(models.InterimMessageID("conv_1-t1", 1, 0), 1))
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// blocks is a carrier that does not take one row.
func blocks(outboxID string) func(models.SMS) error {
	return func(sms models.SMS) error {
		if sms.OutboxID == outboxID {
			return &models.CarrierError{Class: models.CarrierBlocked, Code: "30007"}
		}
		return nil
	}
}

// A text that the carrier did not take allows the same text again.
func TestMessageToolThatDidNotArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMessages)
	w.carrier.refuse = blocks("conv_1-t1-s1c0-p1")
	w.model.answer = steps(asks(texted(aSecond)), say(aSecond))
	w.text(0, "how does my week look")
	w.run(time.Hour)
	require.Equal(t, []string{aSecond}, w.carrier.bodies())
	require.Equal(t, "step", w.outcome(1))
}

// A participant who writes again is answered, regardless of what was sent
// before.
func TestMessageToolAndALateText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMessages)
	var came bool
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		switch {
		case !came && toolsDone(req) == 0:
			return asks(texted(aSecond)), nil
		case !came:
			came = true
			w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept("thanks"))
			return say(""), nil
		}
		return say("You're welcome!"), nil
	}
	w.text(0, "how does my week look")
	w.run(time.Hour)
	require.Equal(t, []string{aSecond, "You're welcome!"}, w.carrier.bodies())
}

// Each text of a turn has parts of its own: one that is lost holds up its own
// parts and no others.
func TestMessageToolInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMessages)
	w.carrier.refuse = blocks("conv_1-t1-p1")
	first := strings.TrimSpace(strings.Repeat("A walk ☀ a day. ", 20))
	w.model.answer = steps(asks(texted(first)), say(long))
	w.text(0, "how does my week look"+link)
	w.run(time.Hour)
	require.Len(t, w.carrier.bodies(), 2)
	require.Equal(t, strings.Fields(first), strings.Fields(strings.Join(w.carrier.bodies(), " ")))
	row, err := w.store.Outbox.Row(context.Background(), "conv_1-t1-p2")
	require.NoError(t, err)
	require.Equal(t, "earlier_part", row.ErrorCode)
}
