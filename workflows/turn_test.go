package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

func TestBurstIsOneTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, words := range []string{"I", "want to", "walk"} {
		w.text(time.Duration(i)*1500*time.Millisecond, words)
	}
	w.run(time.Minute)
	require.Len(t, w.carrier.sent, 1)
	require.WithinDuration(t, monday.Add(5*time.Second), w.carrier.sent[0].At, time.Second, "two seconds after the last fragment")
	require.Equal(t, 1, w.model.count())
}

func TestDebounceEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.text(time.Duration(i)*time.Second, fmt.Sprint("word ", i))
	}
	w.run(time.Minute)
	require.WithinDuration(t, monday.Add(15*time.Second), w.carrier.sent[0].At, time.Second)
	require.Len(t, w.carrier.sent, 2, "what came after the limit is a second turn")
}

func TestRepeatedSignalIsOneTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var signal wire.InboxItem
	w.at(0, func() {
		signal = w.accept("hello")
		w.env.SignalWorkflow(wire.SignalMessageReceived, signal)
		w.env.SignalWorkflow(wire.SignalMessageReceived, signal)
	})
	w.at(time.Minute, func() { w.env.SignalWorkflow(wire.SignalMessageReceived, signal) })
	w.run(time.Hour)
	require.Len(t, w.carrier.sent, 1)
}

func TestLateTextJoinsTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.text(0, "first")
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		if lastUser(req) == "first" {
			// The second text arrives while the model writes.
			w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept("second"))
		}
		return say("answer to " + lastUser(req)), nil
	}
	w.run(time.Minute)
	require.Len(t, w.carrier.sent, 1)
	require.Equal(t, "answer to second", w.carrier.sent[0].Body)
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Len(t, history, 3, "two texts and one reply")
}

// A reply that is about to go is held back while more comes, and no longer than a burst
// may last.
func TestLateTextsAreOneBurst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, r *coach.Rules) {
		r.Debounce = 0
		w.limits.Debounce, w.limits.DebounceMax = 2*time.Second, 15*time.Second
	})
	w.text(0, "first")
	asked := 0
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		if asked++; asked == 1 {
			late := func(body string) {
				item := w.accept(body)
				item.Shape = wire.ShapeOpen
				w.env.SignalWorkflow(wire.SignalMessageReceived, item)
			}
			late("late 1")
			for i := range 2 { // 4 s apart: each within the silence after an open text
				w.env.RegisterDelayedCallback(func() { late(fmt.Sprint("late ", i+2)) }, time.Duration(i+1)*4*time.Second)
			}
		}
		return say(fmt.Sprint("answer ", asked, " to ", lastUser(req))), nil
	}
	w.run(time.Minute)
	require.Len(t, w.carrier.sent, 1)
	require.Equal(t, "answer 2 to late 3", w.carrier.sent[0].Body)
}

func TestReplyNeverWaitsForSomebodyWhoNeverStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.text(0, "text 1")
	n := 1
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		if n < 5 {
			n++
			w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept(fmt.Sprint("text ", n)))
		}
		return say(fmt.Sprint("after ", n)), nil
	}
	w.run(time.Minute)
	require.NotEmpty(t, w.carrier.sent)
	require.Equal(t, "after 4", w.carrier.sent[0].Body, "two reruns, then the answer goes out")
}

func TestEveryCallOfAMessageRunsInOrderBeforeTheReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.answer = scripted(map[string][]models.ToolCall{"set up": {
		call("save_user_profile", map[string]any{"habit_domain": "walking", "preferred_time": "11:00"}),
		call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "11:00"}),
		call("save_user_profile", map[string]any{"motivational_frame": "more energy", "prompt_anchor": "coffee"}),
		call("save_user_profile", map[string]any{"motivational_frame": "better sleep"}),
	}})
	w.text(0, "set up")
	w.run(30 * time.Minute)
	require.Len(t, w.carrier.sent, 1)
	results := toolMessages(w.model.requests[1])
	require.Len(t, results, 4)
	require.Contains(t, results[0], "walking")
	require.Contains(t, results[1], "11:00")
	profile, err := w.store.People.Profile(context.Background(), "conv_1")
	require.NoError(t, err)
	require.Equal(t, "walking", profile.HabitDomain)
	require.Equal(t, "better sleep", profile.MotivationalFrame, "the last call is carried out last")
	require.Equal(t, wire.DueDailyPrompt, w.status().Due[0].Kind)
}

func TestInvalidArgumentsAreAnErrorAndChangeNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		call models.ToolCall
		want string
	}{
		{"unknown time", call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "25:00"}), "fixed_time"},
		{"not JSON", models.ToolCall{ID: "x", Name: "save_user_profile", Arguments: "{oops"}, "JSON"},
		{"unknown field", call("save_user_profile", map[string]any{"success_count": 9}), "success_count"},
		{"unknown schedule", call("scheduler", map[string]any{"action": "delete", "schedule_id": "nope"}), "nope"},
		{"unknown tool", call("send_money", map[string]any{}), "send_money"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.model.answer = scripted(map[string][]models.ToolCall{"go": {tt.call}})
			w.text(0, "go")
			w.run(time.Minute)
			results := toolMessages(w.model.requests[1])
			require.Len(t, results, 1)
			require.Contains(t, results[0], tt.want)
			require.Contains(t, results[0], `"ok":false`)
			require.Empty(t, w.status().Due)
			profile, err := w.store.People.Profile(context.Background(), "conv_1")
			require.NoError(t, err)
			require.EqualValues(t, 1, profile.Version, "as enrolled")
		})
	}
}

func toolMessages(req models.ChatRequest) []string {
	var out []string
	for _, m := range req.Messages {
		if m.Role == "tool" {
			out = append(out, m.Content)
		}
	}
	return out
}

func TestLimitsEndInOneAnswer(t *testing.T) {
	t.Parallel()
	var minutes int
	later := func() models.ToolCall {
		minutes++
		return call("transition_state", map[string]any{"target_state": "FEEDBACK", "delay_minutes": 60 + minutes})
	}
	t.Run("five calls, then an answer without tools", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if len(req.Tools) == 0 {
				return say("enough"), nil
			}
			return models.ChatResponse{Calls: []models.ToolCall{later(), later()}}, nil
		}
		w.text(0, "loop")
		w.run(time.Minute)
		require.Equal(t, "enough", w.carrier.sent[0].Body)
		results := toolMessages(w.model.requests[w.model.count()-1])
		require.Len(t, results, 6, "three rounds of two")
		require.Contains(t, results[5], "limit")
	})
	t.Run("rounds used up, one fallback", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(w *world, _ *coach.Rules) { w.limits = wire.Limits{Steps: 2, ToolCalls: 5} })
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			return models.ChatResponse{Calls: []models.ToolCall{call("scheduler", map[string]any{"action": "list"})}}, nil
		}
		w.text(0, "loop")
		w.run(time.Minute)
		require.Len(t, w.carrier.sent, 1)
		require.Contains(t, w.carrier.sent[0].Body, "I don't have a good answer", "the fixed text")
		require.Equal(t, 3, w.model.count(), "two rounds, and one try to sum up")
	})
	t.Run("rounds used up, summed up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(w *world, _ *coach.Rules) { w.limits = wire.Limits{Steps: 2, ToolCalls: 5} })
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if req.Model == "small" {
				return say("This may be incomplete: no schedule is set."), nil
			}
			return models.ChatResponse{Calls: []models.ToolCall{call("scheduler", map[string]any{"action": "list"})}}, nil
		}
		w.text(0, "what is set?")
		w.run(time.Minute)
		require.Equal(t, "This may be incomplete: no schedule is set.", w.carrier.sent[0].Body)
	})
	t.Run("an exchange that the model ends", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
			return models.ChatResponse{Calls: []models.ToolCall{call("end_exchange", map[string]any{})}}, nil
		}
		w.text(0, "bye")
		w.run(time.Minute)
		require.Empty(t, w.carrier.sent)
		require.Equal(t, 1, w.model.count())
	})
}

func TestEmptyReplyIsNeverSent(t *testing.T) {
	t.Parallel()
	t.Run("one retry without tools", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
			if len(req.Tools) == 0 {
				return say("here"), nil
			}
			return say(" \n "), nil
		}
		w.text(0, "hm")
		w.run(time.Minute)
		require.Equal(t, "here", w.carrier.sent[0].Body)
	})
	t.Run("then the fallback", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) { return say(""), nil }
		w.text(0, "hm")
		w.run(time.Minute)
		require.Len(t, w.carrier.sent, 1)
		require.NotEmpty(t, strings.TrimSpace(w.carrier.sent[0].Body))
		require.Equal(t, 2, w.model.count())
	})
}

func TestModelDown(t *testing.T) {
	t.Parallel()
	down := func(models.ChatRequest) (models.ChatResponse, error) {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "connection refused"}
	}
	t.Run("greeting: fixed text after a minute, once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(w *world, _ *coach.Rules) { w.state.Greeted = false })
		w.model.answer = down
		w.run(time.Hour)
		require.Len(t, w.carrier.of(models.KindGreeting), 1)
		require.WithinRange(t, w.carrier.sent[0].At, monday.Add(20*time.Second), monday.Add(time.Minute))
	})
	t.Run("reply: fixed text after three minutes, once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = down
		w.text(0, "hello")
		w.run(time.Hour)
		require.Len(t, w.carrier.of(models.KindReply), 1)
		require.WithinRange(t, w.carrier.sent[0].At, monday.Add(2*time.Minute), monday.Add(3*time.Minute+2*time.Second))
	})
	t.Run("prompt: written without the model", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
		w.model.answer = down
		w.run(2 * time.Hour)
		require.Len(t, w.carrier.of(models.KindPrompt), 1)
	})
}

func TestGreetingIsATurnWithoutWordsOfThePerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *coach.Rules) { w.state.Greeted = false })
	w.run(time.Minute)
	require.Equal(t, []models.EntryKind{models.KindGreeting}, w.carrier.kinds())
	require.True(t, strings.HasPrefix(lastUser(w.model.requests[0]), "[hint] "))
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Len(t, history, 1)
	require.Equal(t, models.RoleAssistant, history[0].Role)
}

func TestDoneTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	w.model.answer = scripted(map[string][]models.ToolCall{
		"done": {call("save_user_profile", map[string]any{"last_successful_prompt": "After coffee, walk"})},
	})
	w.text(55*time.Minute, "done")
	w.text(57*time.Minute, "done again")
	w.run(3 * time.Hour)
	profile, err := w.store.People.Profile(context.Background(), "conv_1")
	require.NoError(t, err)
	require.Equal(t, 1, profile.SuccessCount)
	require.Equal(t, 1, profile.TotalPrompts)
}

func TestDebugIsForTestersAndNoPartOfTheConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	yes := true
	_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
		ID: "conv_1", Patch: models.ParticipantPatch{Tester: &yes, Debug: &yes}, Actor: "test", Now: monday,
	})
	require.NoError(t, err)
	w.text(0, "hello")
	w.text(time.Minute, "again")
	w.run(5 * time.Minute)
	require.Equal(t, []models.EntryKind{models.KindReply, models.KindDebug, models.KindReply, models.KindDebug}, w.carrier.kinds())
	require.True(t, strings.HasPrefix(w.carrier.sent[1].Body, "🐛 DEBUG:"))
	for _, m := range w.model.requests[1].Messages {
		require.NotContains(t, m.Content, "DEBUG")
	}
}

func TestWhatIsKnownOfThePersonReachesTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.text(0, "hello")
	w.at(time.Minute, func() {
		name, background, zone := "Grace", "nurse on night shifts", "Asia/Kathmandu"
		_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
			ID: "conv_1", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: &name, Background: &background}, Timezone: &zone}, Actor: "test", Now: w.env.Now(),
		})
		require.NoError(t, err)
	})
	w.text(2*time.Minute, "again")
	w.run(5 * time.Minute)
	before, after := wholeText(w.model.requests[0]), wholeText(w.model.requests[1])
	require.Contains(t, before, "Ada")
	require.Contains(t, before, "2026-03-02 10:00 (America/New_York)")
	for _, want := range []string{"Grace", "nurse on night shifts", "2026-03-02 20:47 (Asia/Kathmandu)"} {
		require.Contains(t, after, want, "a change shows in the next turn")
	}
}

// What a local activity writes outlives the decision that led to it when a
// worker dies before the end of its workflow task: so none of them may write
// anything of a turn.
func TestLocalActivitiesKeepNothingOfATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("10:30", "2026-03-02", monday.Add(30*time.Minute)))
	seen := map[string]bool{}
	w.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) { seen[info.ActivityType.Name] = true })
	w.model.answer = scripted(map[string][]models.ToolCall{
		"six": {call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "18:00"})},
	})
	w.text(time.Second, "at six please")
	w.update(2*time.Minute, wire.UpdatePause)
	w.text(3*time.Minute, "anybody there?")
	w.update(4*time.Minute, wire.UpdateResume)
	w.run(8 * time.Hour)
	require.Equal(t, map[string]bool{"Decide": true, "SaveState": true}, seen)
	require.Contains(t, w.carrier.kinds(), models.KindReply)
	require.Contains(t, w.carrier.kinds(), models.KindPrompt)
}

// HELP is answered while a reply waits for a model that hangs.
func TestHelpDuringAModelCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.env.OnActivity("CallModel", mock.Anything, mock.Anything).After(2*time.Minute).Return(wire.CallModelResult{},
		temporal.NewNonRetryableApplicationError("out of order", wire.ErrTypeTimeLimit, nil))
	w.text(0, "hello")
	w.says(10*time.Second, "HELP", "")
	w.run(10 * time.Minute)
	require.Equal(t, []models.EntryKind{models.KindHelp, models.KindReply}, w.carrier.kinds())
	require.Less(t, w.carrier.sent[0].At.Sub(monday), 15*time.Second)
	require.Equal(t, 2, w.status().Turns)
}

// A reply that waits for the carrier does not hold up the confirmation of an
// opt-out, and is not sent any more.
func TestOptOutDuringASendInBackOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.carrier.refuse = func(sms models.SMS) error {
		if strings.HasPrefix(sms.Body, "ok: ") {
			return &models.CarrierError{Class: models.CarrierSlowDown, Code: "30001", Message: "queue full"}
		}
		return nil
	}
	w.text(0, "hello")
	w.says(10*time.Second, "STOP", "")
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.Less(t, w.carrier.sent[0].At.Sub(monday), 15*time.Second)
	row, err := w.store.Outbox.Row(context.Background(), models.OutboxID("conv_1-t1", 1))
	require.NoError(t, err)
	require.Equal(t, wire.OutboxCanceled, row.Status)
	require.Equal(t, string(wire.StatusOptedOut), row.ErrorCode)
}

// Who leaves while a reply waits for the carrier gets the notice at once, and
// the workflow ends only when the reply's result is known.
func TestLeavingDuringASendInBackOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(func(r *coach.Rules) { r.Debounce = 0 }))
	w.carrier.refuse = func(sms models.SMS) error {
		if strings.HasPrefix(sms.Body, "ok: ") {
			return &models.CarrierError{Class: models.CarrierAmbiguous, Message: "no answer after the request was sent"}
		}
		return nil
	}
	w.text(0, "hello")
	w.at(2*time.Second, func() {
		require.NoError(t, w.store.People.RemoveParticipant(context.Background(), "conv_1", "test", w.env.Now()))
	})
	w.update(3*time.Second, wire.UpdateUnenroll)
	w.run(time.Hour)
	require.NoError(t, w.env.GetWorkflowError(), "it ended by itself")
	require.Equal(t, []models.EntryKind{models.KindNotice}, w.carrier.kinds())
	require.Less(t, w.carrier.sent[0].At.Sub(monday), 8*time.Second)
	row, err := w.store.Outbox.Row(context.Background(), models.OutboxID("conv_1-t1", 1))
	require.NoError(t, err)
	require.Equal(t, wire.OutboxUnknown, row.Status)
}
