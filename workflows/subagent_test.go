package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/workflows"
)

// withSubagents turns them on and lets what a subagent reports reach the
// participant, as the server does.
func withSubagents(w *world, _ *coach.Rules) {
	w.features = append(w.features, tools.Subagents()...)
	w.env.OnSignalExternalWorkflow(mock.Anything, models.WorkflowID("conv_1"), "", wire.SignalSubagentDone, mock.Anything).
		Return(func(_, _, _, name string, arg any) error {
			if w.env.IsWorkflowCompleted() {
				return errors.New("no such workflow")
			}
			w.env.SignalWorkflow(name, arg)
			return nil
		}).Maybe()
}

const firstChild = "conv_1-t1-s1-c0"

// helped answers as the coach where a person wrote, and as a helper where a
// task was given.
func helped(call models.ToolCall, helper func(models.ChatRequest) (models.ChatResponse, error)) func(models.ChatRequest) (models.ChatResponse, error) {
	coach := scripted(map[string][]models.ToolCall{"find out": {call}})
	return func(req models.ChatRequest) (models.ChatResponse, error) {
		if strings.HasPrefix(lastUser(req), "[task] ") {
			return helper(req)
		}
		return coach(req)
	}
}

func found(models.ChatRequest) (models.ChatResponse, error) { return say("Walks at seven."), nil }

func (w *world) child(id string) models.TurnContext {
	w.t.Helper()
	turn, err := w.store.Turns.TurnContext(context.Background(), id, 0)
	require.NoError(w.t, err)
	return turn
}

// asHelper are the requests that a helper was asked with.
func (m *model) asHelper() []models.ChatRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []models.ChatRequest
	for _, req := range m.requests {
		if strings.HasPrefix(lastUser(req), "[task] ") {
			out = append(out, req)
		}
	}
	return out
}

func TestSpawn(t *testing.T) {
	t.Parallel()
	task := map[string]any{"task": "When do they walk?", "label": "walks"}
	t.Run("logged, no call, no text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(call("spawn", task), found)
		w.text(0, "find out")
		w.run(time.Hour)
		require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds())
		require.Equal(t, 3, w.model.count(), "two rounds of the reply, one of the helper, none after it ended")
		turn := w.child(firstChild)
		require.Equal(t, wire.TurnSubagent, turn.Turn.Kind)
		require.Equal(t, "step", turn.Turn.Outcome)
		require.Equal(t, 1, turn.Turn.Number, "of the turn that it comes from")
		require.Equal(t, "Walks at seven.", turn.Steps[0].Text)
		answered := slices.IndexFunc(w.model.requests, func(req models.ChatRequest) bool { return len(toolMessages(req)) > 0 })
		require.Contains(t, toolMessages(w.model.requests[answered])[0], firstChild)
		require.Empty(t, w.status().Commands)
		past := w.store.Records
		record, err := past.Turn(context.Background(), "conv_1", 1)
		require.NoError(t, err)
		require.Equal(t, wire.TurnReply, record.Totals.Kind)
		require.Len(t, record.Subagents, 1)
		list, err := past.Turns(context.Background(), models.TurnQuery{ParticipantID: "conv_1", Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, 1, "a subagent's turn is listed with the one that it comes from")
	})
	t.Run("own tools, the chat model, its own words", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(call("spawn", task), func(req models.ChatRequest) (models.ChatResponse, error) {
			if toolsDone(req) == 0 {
				return models.ChatResponse{Model: "test", Calls: []models.ToolCall{
					call("search_memory", map[string]any{"query": "walking"}), call("spawn", task), call("save_user_profile", map[string]any{"habit_domain": "running"}),
				}}, nil
			}
			return found(req)
		})
		w.text(0, "find out")
		w.run(time.Hour)
		asked := w.model.asHelper()
		require.Len(t, asked, 2)
		var names []string
		for _, spec := range asked[0].Tools {
			names = append(names, spec.Name)
		}
		registry, err := tools.New()
		require.NoError(t, err)
		var looks []string
		for _, spec := range registry.ForSubagents() {
			looks = append(looks, spec.Name)
		}
		require.Equal(t, looks, names)
		require.Contains(t, names, "search_memory")
		require.NotContains(t, names, "save_user_profile")
		require.Equal(t, "test", asked[0].Model)
		require.Equal(t, 4096, asked[0].MaxTokens)
		require.Equal(t, "[task] When do they walk?", lastUser(asked[0]))
		require.NotContains(t, fmt.Sprint(asked[0].Messages), "find out", "nothing of the conversation")
		results := toolMessages(asked[1])
		require.Contains(t, results[0], `"ok":true`)
		require.Contains(t, results[1], `"ok":false`)
		require.Contains(t, results[2], `"ok":false`)
		profile, err := w.store.People.Profile(context.Background(), "conv_1")
		require.NoError(t, err)
		require.Empty(t, profile.HabitDomain)
	})
	t.Run("ten rounds, the last in words", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(call("spawn", task), func(req models.ChatRequest) (models.ChatResponse, error) {
			if len(req.Tools) == 0 {
				return found(req)
			}
			return models.ChatResponse{Model: "test", Calls: []models.ToolCall{
				call("search_memory", map[string]any{"query": fmt.Sprint("walk ", toolsDone(req))}),
			}}, nil
		})
		w.text(0, "find out")
		w.run(time.Hour)
		require.Len(t, w.model.asHelper(), 10)
		require.Equal(t, "step", w.child(firstChild).Turn.Outcome)
	})
	t.Run("model away", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		task := map[string]any{"task": "When do they walk?", "delivery": "user"}
		w.model.answer = helped(call("spawn", task), func(models.ChatRequest) (models.ChatResponse, error) {
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "busy"}
		})
		w.text(0, "find out")
		w.run(time.Hour)
		require.Equal(t, "failed", w.child(firstChild).Turn.Outcome)
		require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds(), "nothing to tell")
	})
	t.Run("off: no such tool", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.model.answer = helped(call("spawn", task), found)
		w.text(0, "find out")
		w.run(time.Hour)
		require.Contains(t, toolMessages(w.model.requests[1])[0], `"ok":false`)
		require.Empty(t, w.model.asHelper())
		for _, spec := range w.model.requests[0].Tools {
			require.NotContains(t, []string{"spawn", "subagent"}, spec.Name)
		}
	})
}

func TestSpawnForTheUser(t *testing.T) {
	t.Parallel()
	task := call("spawn", map[string]any{"task": "When do they walk?", "delivery": "user"})
	t.Run("one text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(task, func(models.ChatRequest) (models.ChatResponse, error) { return say(strings.Repeat("walks ", 100)), nil })
		w.text(0, "find out")
		w.run(time.Hour)
		var text string
		for _, part := range w.carrier.of(models.KindResult) {
			text += part.Body
		}
		require.Contains(t, text, "walks walks")
		require.LessOrEqual(t, len(text), 500)
		require.Greater(t, len(text), 450)
		require.Equal(t, 3, w.model.count(), "nobody rewords it")
		history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
		require.NoError(t, err)
		require.Equal(t, models.KindResult, history[len(history)-1].Kind)
	})
	t.Run("in quiet hours", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents, withRules(func(r *coach.Rules) {
			quiet, err := coach.ParseQuietHours("09:00-12:00")
			require.NoError(t, err)
			r.Quiet = quiet
		}))
		w.model.answer = helped(task, found)
		w.text(0, "find out")
		w.at(time.Hour, func() { require.Equal(t, wire.DueResult, w.status().Due[0].Kind) })
		w.run(5 * time.Hour)
		require.Equal(t, []models.EntryKind{models.KindReply, models.KindResult}, w.carrier.kinds(), "the answer at once, the result later")
		require.WithinDuration(t, monday.Add(2*time.Hour), w.carrier.sent[1].At, time.Minute, "at noon in New York")
	})
	for _, tt := range []struct {
		name string
		do   func(w *world)
	}{
		{"opted out meanwhile", func(w *world) { w.deliver("STOP", "") }},
		{"paused meanwhile", func(w *world) { w.env.UpdateWorkflow(wire.UpdatePause, "p", &updated{}) }},
	} {
		t.Run("C18 "+tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withSubagents)
			w.model.answer = helped(task, func(req models.ChatRequest) (models.ChatResponse, error) {
				if toolsDone(req) == 0 {
					tt.do(w)
					return models.ChatResponse{Model: "test", Calls: []models.ToolCall{call("search_memory", map[string]any{"query": "walks"})}}, nil
				}
				return found(req)
			})
			w.text(0, "find out")
			w.run(time.Hour)
			require.Empty(t, w.carrier.of(models.KindResult))
		})
	}
}

// TestResultReachesTheNextRun: the participant's run ends while a subagent is
// at work, and the next one is told.
func TestResultReachesTheNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSubagents)
	w.model.answer = helped(call("spawn", map[string]any{"task": "When do they walk?", "delivery": "user"}),
		func(models.ChatRequest) (models.ChatResponse, error) {
			w.env.SetContinueAsNewSuggested(true)
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "busy"}
		})
	w.text(0, "find out")
	w.run(time.Hour)
	next := w.continued()
	require.Equal(t, 1, next.Turn, "the run ended between turns")
	_, err := w.store.Turns.SaveStep(context.Background(), models.Step{TurnID: firstChild, Number: 1, Text: "Walks at seven."})
	require.NoError(t, err)
	again := newWorld(t, withSubagents, func(a *world, _ *coach.Rules) {
		a.store, a.state, a.carrier.sent = w.store, next, w.carrier.sent
	})
	again.at(time.Minute, func() {
		again.env.SignalWorkflow(wire.SignalSubagentDone, wire.Subagent{TurnID: firstChild, Tell: true})
	})
	again.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindReply, models.KindResult}, again.carrier.kinds())
	require.Equal(t, "Walks at seven.", again.carrier.of(models.KindResult)[0].Body)
}

func TestSubagentIsWaitedFor(t *testing.T) {
	t.Parallel()
	task := call("subagent", map[string]any{"task": "When do they walk?", "label": "walks"})
	t.Run("result", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(task, found)
		w.text(0, "find out")
		w.run(time.Hour)
		require.Len(t, w.carrier.sent, 1)
		results := toolMessages(w.model.requests[2])
		require.JSONEq(t, `{"ok":true,"label":"walks","result":"Walks at seven."}`, results[0])
	})
	t.Run("a text's length of it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(task, func(models.ChatRequest) (models.ChatResponse, error) { return say(strings.Repeat("x", 900)), nil })
		w.text(0, "find out")
		w.run(time.Hour)
		var answer struct {
			Result  string `json:"result"`
			ForUser string `json:"for_user"`
		}
		require.NoError(t, json.Unmarshal([]byte(toolMessages(w.model.requests[2])[0]), &answer))
		require.Len(t, answer.Result, 900)
		require.Len(t, answer.ForUser, 500)
	})
	t.Run("time limit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(task, func(models.ChatRequest) (models.ChatResponse, error) {
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "busy"}
		})
		w.text(0, "find out")
		w.run(time.Hour)
		require.Len(t, w.carrier.sent, 1)
		require.Less(t, w.carrier.sent[0].At.Sub(monday), 70*time.Second, "a minute and the debounce")
		requests := w.model.requests
		require.Contains(t, toolMessages(requests[len(requests)-1])[0], "failed: the helper came to no result in time")
		require.Equal(t, "failed", w.child(firstChild).Turn.Outcome)
	})
	t.Run("stopped with its turn", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withSubagents)
		w.model.answer = helped(task, func(models.ChatRequest) (models.ChatResponse, error) {
			w.deliver("STOP", "")
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "busy"}
		})
		w.text(0, "find out")
		w.run(time.Hour)
		require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
		require.WithinDuration(t, monday, w.carrier.sent[0].At, 10*time.Second, "the confirmation does not wait")
		require.Equal(t, "canceled", w.child(firstChild).Turn.Outcome)
	})
}

// TestSubagentOfSomebodyWhoIsGone: the participant's workflow has closed.
func TestSubagentOfSomebodyWhoIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.OnSignalExternalWorkflow(mock.Anything, models.WorkflowID("conv_1"), "", wire.SignalSubagentDone, mock.Anything).
		Return(errors.New("no such workflow"))
	require.NoError(t, w.store.People.RemoveParticipant(context.Background(), "conv_1", "test", monday))
	w.env.ExecuteWorkflow(workflows.Subagent, wire.SubagentInput{
		ParticipantID: "conv_1", Mode: wire.ModeIntake, Subagent: wire.Subagent{TurnID: firstChild, Tell: true},
	})
	require.NoError(t, w.env.GetWorkflowError())
	var out wire.SubagentResult
	require.NoError(t, w.env.GetWorkflowResult(&out))
	require.Equal(t, wire.SubagentResult{Source: wire.SourceSilent, Steps: 1, Undelivered: true}, out)
	require.Zero(t, w.model.count(), "nothing is asked about them any more")
}
