package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// whileDialing does something while the connection for the first text of a kind is made.
func (w *world) whileDialing(kind models.EntryKind, do func()) {
	done := false
	w.carrier.dialing = func(row models.Outbox) {
		if row.Kind == kind && !done {
			done = true
			do()
		}
	}
}

// A pause comes between the reply and its post. After the resumption its text is
// answered, and the model reads nothing of the reply that was not sent.
func TestPauseDuringASend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hears(time.Minute, "what shall I do?")
	w.whileDialing(models.KindReply, func() { w.setStatus(wire.StatusPaused, ""); w.relayAll() })
	w.at(30*time.Minute, func() { w.setStatus(wire.StatusActive, ""); w.relayAll() })
	w.run(time.Hour)
	require.Equal(t, []string{echo("what shall I do?")}, w.replies())
	require.WithinDuration(t, monday.Add(30*time.Minute), w.carrier.sent[0].At, 5*time.Second)
	w.requireReads("what shall I do?")
}

// requireReads compares what the newest request holds of the conversation.
func (w *world) requireReads(conversation ...string) {
	w.t.Helper()
	w.model.mu.Lock()
	defer w.model.mu.Unlock()
	var got []string
	for _, m := range w.model.requests[len(w.model.requests)-1].Messages {
		if m.Role != "system" {
			got = append(got, withoutTimes(m.Content))
		}
	}
	require.Equal(w.t, conversation, got)
}

// A reply that never arrived is refused after a newer one. Its text is answered by a
// turn of its own, once, and the model reads nothing of the first reply.
func TestOvertakenReplyIsWrittenAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	var posts []time.Time
	w.carrier.lose("conv_1-t1-p1", &posts)
	w.text(0, "first")
	w.text(10*time.Second, "second")
	w.run(2 * time.Hour)
	require.Equal(t, []string{"ok: second", "ok: first"}, w.replies())
	w.requireReads("second", "ok: second", "first")
}

// The workflow has applied a resumption and writes it down after the next pause was
// committed: the row stays paused, and nothing is sent.
func TestLateWriteKeepsThePause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() { w.setStatus(wire.StatusPaused, ""); w.relayAll() })
	w.at(2*time.Minute, func() { w.operatorSays("hold on") })
	w.whileSending(models.KindOperator, func() {
		w.setStatus(wire.StatusActive, "")
		w.relayAll()
		w.setStatus(wire.StatusPaused, "")
	})
	w.at(3*time.Minute, func() {
		p, err := w.store.People.Participant(context.Background(), "conv_1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusPaused, p.Status)
	})
	w.hears(4*time.Minute, "are you there?")
	w.run(time.Hour)
	require.Empty(t, w.replies())
	require.Equal(t, wire.StatusPaused, w.status().Status)
}

// waiting lists the texts that wait, and history what the transcript shows.
func (w *world) waiting() []string {
	rows, err := w.store.People.WaitingMessages(context.Background(), "conv_1")
	require.NoError(w.t, err)
	out := []string{}
	for _, row := range rows {
		out = append(out, row.Text)
	}
	return out
}

func (w *world) history() []string {
	rows, err := w.store.People.History(context.Background(), "conv_1", 50, time.Time{})
	require.NoError(w.t, err)
	out := []string{}
	for _, row := range rows {
		out = append(out, row.Text)
	}
	return out
}

func (w *world) countHistory(text string) int {
	n := 0
	for _, shown := range w.history() {
		if shown == text {
			n++
		}
	}
	return n
}

// A text waits over a STOP, another one comes meanwhile: START has both read, in their
// order, before what comes later.
func TestTextsThatWaitedOverAStop(t *testing.T) {
	for name, begin := range map[string]func(w *world){
		"pause":     func(w *world) { w.setStatus(wire.StatusPaused, "") },
		"take-over": func(w *world) { w.takeOverUntil(time.Hour) },
		"handed back while opted out": func(w *world) {
			w.takeOverUntil(time.Hour)
			w.at(3*time.Minute+30*time.Second, func() {
				_, err := w.store.TakeOvers.HandBack(context.Background(), models.HandBack{ParticipantID: "conv_1", Actor: "user:ada", Now: w.env.Now().UTC()})
				require.NoError(w.t, err)
				w.relayAll()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.at(time.Minute, func() { begin(w); w.relayAll() })
			w.hears(2*time.Minute, "are you there?")
			w.hears(3*time.Minute, "STOP")
			w.hears(3*time.Minute+10*time.Second, "that was a mistake")
			w.hears(4*time.Minute, "START")
			if name == "take-over" {
				w.handBack(4*time.Minute+30*time.Second, "")
			}
			w.hears(5*time.Minute, "and now?")
			w.run(time.Hour)
			require.Equal(t, []string{echo("that was a mistake"), echo("and now?")}, w.replies())
			require.Empty(t, w.waiting())
			w.model.mu.Lock()
			defer w.model.mu.Unlock()
			first := contents(w.model.requests[0])
			require.Contains(t, []string{"are you there?\n\nthat was a mistake", answered + "are you there?\n\nthat was a mistake"}, first[len(first)-1])
			require.True(t, w.carrier.of(models.KindReply)[0].At.Before(monday.Add(4*time.Minute+40*time.Second)), "before the next text")
		})
	}
}

// answered is what a request shows of STOP and START.
const answered = "STOP\n[answered by the programme]\n\nSTART\n[answered by the programme]\n\n"

func (w *world) takeOverUntil(span time.Duration) {
	now := w.env.Now().UTC()
	_, err := w.store.TakeOvers.TakeOver(context.Background(), models.TakeOver{ParticipantID: "conv_1", Until: now.Add(span), Actor: "user:ada", Now: now})
	require.NoError(w.t, err)
}

// A text of an earlier day is marked as read by START: the model knows of it, and it is
// not answered by itself.
func TestStartMarksOldTextsAsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Minute, func() { w.setStatus(wire.StatusPaused, ""); w.relayAll() })
	w.hears(2*time.Minute, "are you there?")
	w.hears(3*time.Minute, "STOP")
	w.hears(24*time.Hour, "START")
	w.hears(25*time.Hour, "and now?")
	w.run(26 * time.Hour)
	require.Equal(t, []string{echo("and now?")}, w.replies())
	require.Empty(t, w.waiting())
	require.Contains(t, strings.Join(contents(w.model.requests[0]), "\n"), "are you there?")
}

// A reply is written, or about to be, when a STOP comes. After START on the same day
// its text is answered.
func TestTextBeforeAStop(t *testing.T) {
	for name, during := range map[string]func(w *world, do func()){
		"model": func(w *world, do func()) {
			done := false
			w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
				if !done {
					done = true
					do()
				}
				return say(echo(lastUser(req))), nil
			}
		},
		"send": func(w *world, do func()) { w.whileDialing(models.KindReply, do) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hears(time.Minute, "what shall I do?")
			during(w, func() { w.commit("STOP"); w.relayAll() })
			w.hears(10*time.Minute, "START")
			w.run(time.Hour)
			require.Equal(t, []string{echo("what shall I do?")}, w.replies())
			read := contents(w.model.requests[w.model.count()-1])
			require.Equal(t, answered+"what shall I do?", read[len(read)-1])
			require.NotContains(t, read, echo("what shall I do?"))
			require.Equal(t, 1, w.countHistory("what shall I do?"))
		})
	}
}

// A text stands in the transcript from the moment that it came, and stays there when an
// opt-out, by the person or an operator, or a removal comes before its turn has begun.
func TestTextIsShownWhateverCutsItsTurn(t *testing.T) {
	for name, cut := range map[string]func(w *world){
		"STOP":     func(w *world) { w.commit("STOP") },
		"operator": func(w *world) { w.setStatus(wire.StatusOptedOut, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			options := workerOptions
			options.Interceptors = []interceptor.WorkerInterceptor{&attemptLoser{name: "CallModel", isBlocked: true, until: monday.Add(10 * time.Minute), now: w.env.Now}}
			w.env.SetWorkerOptions(options)
			w.hears(time.Minute, "what shall I do?")
			w.at(time.Minute+time.Second, func() { require.Equal(t, []string{"what shall I do?"}, w.history(), "while it waits") })
			w.at(2*time.Minute, func() { cut(w); w.relayAll() })
			w.run(20 * time.Minute)
			require.Equal(t, "what shall I do?", w.history()[0])
			tc, err := w.store.Turns.TurnContext(context.Background(), w.lastTurn(), 50)
			require.NoError(t, err)
			isText := func(m models.Message) bool { return m.Text == "what shall I do?" }
			require.True(t, slices.ContainsFunc(tc.Window, isText), "a part of the conversation")
		})
	}
}

func (w *world) lastTurn() string { return models.TurnID("conv_1", w.status().Turns) }
