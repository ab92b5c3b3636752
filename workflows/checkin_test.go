package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

const (
	asksHow  = `{"send": true, "text": "How are the stairs today?"}`
	declines = `{"send": false, "text": ""}`
)

// withCheckIns lets the coach check an interval after the last contact, once a
// day, and first at an offset from the start. The model answers a check by the
// lines, the last one for ever.
func withCheckIns(every, first time.Duration, lines ...string) option {
	return func(w *world, rules *coach.Rules) {
		quiet, err := coach.ParseQuietHours("21:00-08:00")
		require.NoError(w.t, err)
		rules.Quiet, rules.CheckIn, rules.CheckInCap = quiet, every, 1
		rules.AutoFeedbackDelay = 0
		w.state.Due = append(w.state.Due, wire.Due{Kind: wire.DueCheckIn, At: monday.Add(first)})
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if !isLook(req) {
				return say(echo(lastUser(req))), nil
			}
			line := lines[0]
			lines = lines[min(1, len(lines)-1):]
			return say(line), nil
		}
	}
}

func isLook(req models.ChatRequest) bool {
	return strings.Contains(req.Messages[0].Content, "# Task: check-in")
}

// looks are the requests that asked whether to write.
func (w *world) looks() []models.ChatRequest {
	var out []models.ChatRequest
	for _, req := range w.model.requests {
		if isLook(req) {
			out = append(out, req)
		}
	}
	return out
}

func (w *world) turnContext(number int) models.TurnContext {
	w.t.Helper()
	got, err := w.store.Turns.TurnContext(context.Background(), models.TurnID("conv_1", number), -1)
	require.NoError(w.t, err)
	return got
}

// sentAt requires check-ins at these offsets and nothing else of the kind.
func (w *world) sentAt(offsets ...time.Duration) {
	w.t.Helper()
	got := w.carrier.of(models.KindCheckIn)
	require.Len(w.t, got, len(offsets))
	for i, offset := range offsets {
		require.WithinDuration(w.t, monday.Add(offset), got[i].At, 2*time.Second)
	}
}

func (w *world) nextLook() time.Duration {
	w.t.Helper()
	for _, due := range w.status().Due {
		if due.Kind == wire.DueCheckIn {
			return due.At.Sub(monday)
		}
	}
	return 0
}

// A silent check leaves its turn's row, which says why, and nothing else.
func TestSilentCheckIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, answer, want string }{
		{"silent check-in", " Heartbeat_ok. ", "check-in token"},
		{"declined", declines, "check-in declined"},
		{"W21", "They were active today, nothing to do.", "check-in unreadable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withCheckIns(3*time.Hour, time.Hour, tt.answer))
			w.run(2 * time.Hour)
			require.Empty(t, w.carrier.sent)
			require.Len(t, w.looks(), 1)
			require.Empty(t, w.looks()[0].Tools, "nothing that changes anything is on offer")
			got := w.turnContext(1)
			require.Empty(t, got.Window, "the conversation is as it was")
			require.Equal(t, []any{wire.TurnCheckIn, "silent"}, []any{got.Turn.Kind, got.Turn.Outcome})
			trace, ok := got.Steps[0].StepTrace()
			require.True(t, ok)
			require.Equal(t, tt.want, trace.Stages[len(trace.Stages)-1].Decision)
			require.Equal(t, 4*time.Hour, w.nextLook().Round(time.Minute), "looked at again an interval later")
			require.Empty(t, w.remembered)
			require.Zero(t, got.Profile.TotalPrompts)
		})
	}
}

func TestCheckInAndWhatFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCheckIns(3*time.Hour, time.Hour, asksHow))
	w.text(90*time.Minute, "good, thanks")
	w.run(2 * time.Hour)
	w.sentAt(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindCheckIn, models.KindReply}, w.carrier.kinds())
	require.Equal(t, "How are the stairs today?", w.carrier.sent[0].Body)
	entry := w.turnContext(2).Window[0]
	require.Equal(t, []any{models.KindCheckIn, models.RoleAssistant}, []any{entry.Kind, entry.Role})
	reply := w.model.requests[1]
	require.Contains(t, reply.Messages[0].Content, "[check-in, sent Mon 2026-03-02 11:00]", "the model knows what it asked")
	require.Zero(t, w.turnContext(2).Profile.TotalPrompts, "it is no prompt")
	require.Equal(t, 90*time.Minute+3*time.Hour, w.nextLook().Round(time.Minute))
}

func TestCheckInsInTime(t *testing.T) {
	t.Parallel()
	t.Run("check-in in quiet hours", func(t *testing.T) {
		t.Parallel()
		// 23:30 in New York; quiet until 8:00.
		w := newWorld(t, withCheckIns(30*time.Hour, 13*time.Hour+30*time.Minute, asksHow))
		var moved time.Duration
		w.at(14*time.Hour, func() { moved = w.nextLook() })
		w.run(24 * time.Hour)
		require.Equal(t, 22*time.Hour, moved, "it shows where it went")
		w.sentAt(22 * time.Hour)
	})
	t.Run("cap", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(2*time.Hour, time.Hour, declines, asksHow))
		w.run(50 * time.Hour)
		// Monday 13:00, after a silent check that does not count; then 8:00 each day.
		w.sentAt(3*time.Hour, 22*time.Hour, 46*time.Hour)
		require.Len(t, w.looks(), 4, "a day that has had its check-in costs no call")
	})
	t.Run("the clock springs forward", func(t *testing.T) {
		t.Parallel()
		saturday := 5 * day
		w := newWorld(t, withCheckIns(30*time.Hour, saturday+13*time.Hour+30*time.Minute, asksHow))
		w.run(7 * day)
		w.sentAt(saturday + 21*time.Hour)
	})
	t.Run("another zone moves no instant", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(30*time.Hour, 4*time.Hour, asksHow))
		w.update(time.Hour, wire.UpdateParticipant, wire.ParticipantChanged{Zone: "America/Los_Angeles"})
		w.run(6 * time.Hour)
		w.sentAt(4 * time.Hour)
	})
	t.Run("quiet hours begin while the model thinks", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(30*time.Hour, 11*time.Hour-time.Minute, asksHow))
		tries := 0
		answer := w.model.answer
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if tries++; tries == 1 {
				return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, RetryAfter: 90 * time.Second, Message: "busy"}
			}
			return answer(req)
		}
		w.run(12 * time.Hour)
		require.Equal(t, 2, tries)
		require.Empty(t, w.carrier.sent)
		require.Empty(t, w.turnContext(1).Window)
	})
	t.Run("quiet hours begin while the carrier is away", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(30*time.Hour, 11*time.Hour-time.Minute, asksHow))
		tries := 0
		w.carrier.refuse = func(models.SMS) error {
			tries++
			return &models.CarrierError{Class: models.CarrierSlowDown, Code: "20429"}
		}
		w.run(12 * time.Hour)
		require.Equal(t, 1, tries)
		row, err := w.store.Outbox.Row(context.Background(), "conv_1-t1-p1")
		require.NoError(t, err)
		require.Equal(t, []any{wire.OutboxFailed, "quiet_hours"}, []any{row.Status, row.ErrorCode})
	})
}

func TestCheckInsAndTheRest(t *testing.T) {
	t.Parallel()
	t.Run("a pending prompt", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), withCheckIns(time.Hour, 30*time.Minute, declines, asksHow))
		w.run(10 * time.Hour)
		// The prompt of 10:50 waits until its reminder at 15:50; an hour later.
		require.Equal(t, []models.EntryKind{models.KindPrompt, models.KindReminder, models.KindCheckIn}, w.carrier.kinds())
		w.sentAt(6*time.Hour + 50*time.Minute)
	})
	t.Run("a text before it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(2*time.Hour, time.Hour, asksHow))
		w.text(55*time.Minute, "hello")
		w.run(4 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindReply, models.KindCheckIn}, w.carrier.kinds())
		w.sentAt(2*time.Hour + 55*time.Minute)
	})
	t.Run("a text while the model thinks", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(20*time.Hour, time.Hour, asksHow))
		answer := w.model.answer
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if isLook(req) {
				w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept("hello"))
			}
			return answer(req)
		}
		w.run(4 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds())
		require.Equal(t, "silent", w.turnContext(1).Turn.Outcome)
	})
	t.Run("paused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(2*time.Hour, time.Hour, asksHow))
		w.update(30*time.Minute, wire.UpdatePause)
		w.update(3*time.Hour, wire.UpdateResume)
		w.run(4 * time.Hour)
		require.Empty(t, w.carrier.sent)
		require.Equal(t, 5*time.Hour, w.nextLook().Round(time.Minute))
	})
	t.Run("opted out", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(2*time.Hour, time.Hour, asksHow))
		w.update(30*time.Minute, wire.UpdateParticipant, wire.ParticipantChanged{Status: wire.StatusOptedOut})
		w.run(10 * time.Hour)
		require.Empty(t, w.looks())
		require.Zero(t, w.nextLook())
	})
	t.Run("model down", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(2*time.Hour, time.Hour, asksHow))
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "down"}
		}
		w.run(2 * time.Hour)
		require.Empty(t, w.carrier.sent, "no fixed text stands in")
		got := w.turnContext(1)
		require.Equal(t, "silent", got.Turn.Outcome)
		require.Empty(t, got.Window)
		require.Equal(t, 3*time.Hour, w.nextLook().Round(time.Minute))
	})
	t.Run("continue as new", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCheckIns(2*time.Hour, time.Hour, asksHow))
		w.at(90*time.Minute, func() { w.env.SetContinueAsNewSuggested(true) })
		w.text(100*time.Minute, "hello")
		w.run(4 * time.Hour)
		next := w.continued()
		require.Equal(t, wire.CheckIns{Date: "2026-03-02", Sent: 1}, next.CheckIns)
		require.Len(t, next.Due, 2, "the text of now is still answered")
		require.Equal(t, wire.DueCheckIn, next.Due[0].Kind)
		require.WithinDuration(t, monday.Add(100*time.Minute+2*time.Hour), next.Due[0].At, 5*time.Second)
	})
}

// TestYearWithCheckIns: a year of looks changes nothing of the rest, and none of
// them speaks in the night or twice a day.
func TestYearWithCheckIns(t *testing.T) {
	t.Parallel()
	for _, r := range residents() {
		switch r.zone {
		case "America/New_York", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia":
		default:
			continue
		}
		t.Run(strings.ReplaceAll(r.zone, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s := r.wholeYear(t)
			b := newBare(s)
			b.Rules.CheckIn, b.Rules.CheckInCap = 90*time.Minute, 1
			b.run()
			var others []told
			dates := map[string]bool{}
			for _, text := range s.told {
				if text.Kind != models.KindCheckIn {
					others = append(others, text)
					continue
				}
				local := text.At.In(s.place)
				require.True(t, local.Hour() >= 8 && local.Hour() < 21, local)
				require.False(t, dates[local.Format(time.DateOnly)], local)
				dates[local.Format(time.DateOnly)] = true
			}
			require.Greater(t, len(dates), 100)
			s.told = others
			s.check()
		})
	}
}
