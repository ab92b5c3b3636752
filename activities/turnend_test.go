package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/coach"
	"coachline/internal/dbtest"
	"coachline/internal/memory"
	"coachline/internal/metrics"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	testKeys = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	ann, ben = "conv_ann", "conv_ben"
)

// later stands in for the server that starts activities: one for each id.
type later struct {
	started []string
	err     error
}

func (l *later) Remember(_ context.Context, in wire.RememberInput) error {
	if l.err == nil {
		l.started = append(l.started, in.TurnID)
	}
	return l.err
}

// storeFixture is a store with two people and everything that ends their turns.
type storeFixture struct {
	// drafts judges what tools write; nil judges nothing.
	drafts  activities.DraftJudge
	t       *testing.T
	people  *store.Store
	facts   *memory.Store
	carrier *network
	later   *later
	model   *modelStub
	closing *activities.TurnEnd
	number  int
	// more are tools beside the usual ones, and turns what a tool sees of a turn.
	more  []tools.Tool
	turns activities.Turns
	env   *testsuite.TestActivityEnvironment
	// effect is what the newest call of a tool has the workflow do.
	effect wire.ToolEffect
}

func newStoreFixture(t *testing.T) *storeFixture {
	t.Helper()
	ring, err := seal.Parse(testKeys)
	require.NoError(t, err)
	people, err := store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring, SecondLook: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, people.Close()) })
	facts := people.Memory
	for id, phone := range map[string]string{ann: "+12025550123", ben: "+12025550124"} {
		_, err := people.People.Enroll(t.Context(), models.Participant{ID: id, Phone: phone, Timezone: "UTC", EnrolledAt: now}, "operator")
		require.NoError(t, err)
	}
	library, err := prompts.Load("")
	require.NoError(t, err)
	w := &storeFixture{t: t, people: people, facts: facts, carrier: &network{}, later: &later{}, model: &modelStub{}, turns: people.Turns}
	memoryStub := agent.New(agent.Config{Settings: agent.Settings{MemoryStep: agent.MemoryAfter}})
	w.closing = &activities.TurnEnd{
		Turns:  &activities.TurnLoader{Store: people.Turns, Outbox: people.Outbox, Prompts: library},
		Posts:  &activities.SendActivities{Store: people.Outbox, Carrier: w.carrier, Now: fixed},
		Keeper: memoryStub, After: w.later,
	}
	var suite testsuite.WorkflowTestSuite
	w.env = suite.NewTestActivityEnvironment()
	w.env.RegisterActivity(w.closing)
	return w
}

// turn begins a participant's next turn with a text, and a step that answers
// it.
func (w *storeFixture) turn(id, text string, step models.Step) string {
	w.t.Helper()
	w.number++
	phone := map[string]string{ann: "+12025550123", ben: "+12025550124"}[id]
	in, err := w.people.Inbound.AcceptInbound(w.t.Context(), models.Inbound{
		ProviderSID: models.TurnID(id, w.number), From: phone, Body: text, ReceivedAt: now,
	})
	require.NoError(w.t, err)
	turn := models.TurnID(id, w.number)
	_, err = w.people.Turns.BeginTurn(w.t.Context(), wire.PrepareTurnInput{
		ParticipantID: id, TurnID: turn, Number: w.number, Mode: wire.ModeIntake,
		Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.Inbound.ID}, Now: now,
	})
	require.NoError(w.t, err)
	step.TurnID, step.Number, step.CreatedAt = turn, 1, now
	_, err = w.people.Turns.SaveStep(w.t.Context(), step)
	require.NoError(w.t, err)
	return turn
}

func (w *storeFixture) send(id, turn string, source wire.TextSource) (wire.SendTurnResult, error) {
	w.t.Helper()
	value, err := w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{End: wire.PersistTurnInput{
		ParticipantID: id, TurnID: turn, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply},
		Source: source, Step: 1, Now: now,
	}})
	if err != nil {
		return wire.SendTurnResult{}, err
	}
	var out wire.SendTurnResult
	require.NoError(w.t, value.Get(&out))
	return out, nil
}

func TestSendTurnBeginsToRemember(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		source     wire.TextSource
		want       bool
	}{
		{"words of a model", "I have a bad knee", wire.SourceStep, true},
		{"the end of an exchange", "that is all I wanted to say", wire.SourceSilent, true},
		{"thanks", "thanks!", wire.SourceStep, false},
		{"fixed words", "I have a bad knee", wire.SourceFallback, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newStoreFixture(t)
			turn := w.turn(ann, tt.text, models.Step{Text: "I see."})
			for range 2 {
				_, err := w.send(ann, turn, tt.source)
				require.NoError(t, err)
			}
			if !tt.want {
				require.Empty(t, w.later.started)
				return
			}
			require.Equal(t, []string{turn, turn}, w.later.started, "a retry names the same turn, which starts nothing anew")
		})
	}
	t.Run("after the text is out", func(t *testing.T) {
		w := newStoreFixture(t)
		turn := w.turn(ann, "I have a bad knee", models.Step{Text: "I see."})
		w.carrier.err = &models.CarrierError{Class: models.CarrierRetry, Code: "20500"}
		_, err := w.send(ann, turn, wire.SourceStep)
		require.Error(t, err)
		require.Empty(t, w.later.started)
		w.carrier.err = nil
		_, err = w.send(ann, turn, wire.SourceStep)
		require.NoError(t, err)
		require.Equal(t, []string{turn}, w.later.started)
	})
	t.Run("a retry because nothing could be started sends nothing twice", func(t *testing.T) {
		w := newStoreFixture(t)
		turn := w.turn(ann, "I have a bad knee", models.Step{Text: "I see."})
		w.later.err = errors.New("unreachable")
		_, err := w.send(ann, turn, wire.SourceStep)
		require.Error(t, err)
		w.later.err = nil
		out, err := w.send(ann, turn, wire.SourceStep)
		require.NoError(t, err)
		require.Equal(t, wire.OutboxQueued, out.First.Status)
		require.Equal(t, 1, w.carrier.sends)
		require.Equal(t, []string{turn}, w.later.started)
	})
}

func TestSilentTurn(t *testing.T) {
	w := newStoreFixture(t)
	turn := w.turn(ann, "that is all I wanted to say", models.Step{Calls: `[{"id":"a","name":"end_exchange","arguments":"{}"}]`})
	t.Run("silent end of an exchange", func(t *testing.T) {
		out, err := w.send(ann, turn, wire.SourceSilent)
		require.NoError(t, err)
		require.Equal(t, wire.OutboxCanceled, out.First.Status)
		require.Zero(t, w.carrier.sends, "nothing is said")
		c, err := w.people.Turns.TurnContext(t.Context(), turn, 10)
		require.NoError(t, err)
		require.Equal(t, string(wire.SourceSilent), c.Turn.Outcome)
	})
}

// memoryStub counts what is asked of it.
type memoryStub struct {
	seen []models.TurnContext
	err  error
}

func (k *memoryStub) Worth(models.TurnContext) bool { return true }

func (k *memoryStub) Remember(_ context.Context, c models.TurnContext) error {
	k.seen = append(k.seen, c)
	return k.err
}

func TestRemember(t *testing.T) {
	for _, tt := range []struct {
		name, turn string
		err        error
		kind       string
		final      bool
	}{
		{"done", "conv_ann-t1", nil, "", false},
		{"a busy model", "conv_ann-t1", &models.ModelError{Class: models.ModelBusy}, wire.ErrTypeModelBusy, false},
		{"who has left", "conv_ann-t1", models.ErrNotFound, wire.ErrTypeMissing, true},
		{"an unknown turn", "conv_ann-t9", nil, wire.ErrTypeMissing, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newStoreFixture(t)
			require.Equal(t, "conv_ann-t1", w.turn(ann, "I have a bad knee", models.Step{Text: "I see."}))
			kept := &memoryStub{err: tt.err}
			after := &activities.MemoryActivities{Store: w.people.Turns, Keeper: kept}
			w.env.RegisterActivityWithOptions(after.Remember, activityName(wire.ActivityRemember))
			_, err := w.env.ExecuteActivity(wire.ActivityRemember, wire.RememberInput{TurnID: tt.turn})
			if tt.kind == "" {
				require.NoError(t, err)
				require.Equal(t, "I have a bad knee", kept.seen[0].Window[0].Text)
				return
			}
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, tt.kind, app.Type())
			require.Equal(t, tt.final, app.NonRetryable())
		})
	}
}

// run executes one call of a turn and returns its stored result.
func (w *storeFixture) run(id string, call models.ToolCall) models.ToolResult {
	w.t.Helper()
	return w.runAfter(id, "please do it", call)
}

// runAfter executes a call of a turn that answers a message.
func (w *storeFixture) runAfter(id, text string, call models.ToolCall) models.ToolResult {
	w.t.Helper()
	registry, err := tools.New(w.more...)
	require.NoError(w.t, err)
	library, err := prompts.Load("")
	require.NoError(w.t, err)
	calls, err := json.Marshal([]models.ToolCall{call})
	require.NoError(w.t, err)
	turn := w.turn(id, text, models.Step{Calls: string(calls)})
	runner := &activities.ToolActivities{
		Store: w.turns, Outbox: w.people.Outbox, Tools: registry, Model: w.model, Embedder: unreachableEmbedder{}, Facts: w.facts, Prompts: library,
		Zones: zones, ModelName: "gpt-4.1", Now: fixed, Drafts: w.drafts,
	}
	in := wire.ToolInput{ParticipantID: id, TurnID: turn, Step: 1, Call: 0, Mode: wire.ModeIntake}
	for range 2 {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(runner)
		effect, err := env.ExecuteActivity(runner.RunTool, in)
		require.NoError(w.t, err)
		w.effect = wire.ToolEffect{}
		require.NoError(w.t, effect.Get(&w.effect))
	}
	row, err := w.people.Turns.ToolRun(w.t.Context(), turn, 1, 0)
	require.NoError(w.t, err)
	out, err := row.ToolResult()
	require.NoError(w.t, err)
	return out
}

// What was said before a turn of many texts is read with it: a summary that is
// still to be made holds both.
func TestRememberReadsBeforeALongTurn(t *testing.T) {
	w := newStoreFixture(t)
	w.turn(ann, "I have a bad knee", models.Step{Text: "I see."})
	var ids []int64
	for n := range 200 {
		got, err := w.people.Inbound.AcceptInbound(t.Context(), models.Inbound{
			ProviderSID: fmt.Sprintf("SMmany%d", n), From: "+12025550123", Body: fmt.Sprintf("text %d", n), ReceivedAt: now,
		})
		require.NoError(t, err)
		ids = append(ids, got.Inbound.ID)
	}
	turn := models.TurnID(ann, 2)
	_, err := w.people.Turns.BeginTurn(t.Context(), wire.PrepareTurnInput{
		ParticipantID: ann, TurnID: turn, Number: 2, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: ids, Now: now,
	})
	require.NoError(t, err)
	kept := &memoryStub{}
	after := &activities.MemoryActivities{Store: w.people.Turns, Keeper: kept}
	w.env.RegisterActivityWithOptions(after.Remember, activityName(wire.ActivityRemember))
	_, err = w.env.ExecuteActivity(wire.ActivityRemember, wire.RememberInput{TurnID: turn})
	require.NoError(t, err)
	window := kept.seen[0].Window
	require.Equal(t, "I have a bad knee", window[0].Text)
	require.Equal(t, "text 199", window[len(window)-1].Text)
}

// What follows from a prompt is decided with its send, from the instant at which
// the carrier took it; from one that was not taken nothing follows.
func TestPromptIsDecidedWithItsSend(t *testing.T) {
	for name, refusal := range map[string]error{"taken": nil, "refused": &models.CarrierError{Class: models.CarrierBadNumber, Code: "21211"}} {
		t.Run(name, func(t *testing.T) {
			w := newStoreFixture(t)
			w.carrier.err = refusal
			w.closing.Rules = &activities.DecisionActivities{Rules: coach.Rules{ReminderDelay: time.Hour}, Zones: time.LoadLocation}
			plan := wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: "p1"}
			value, err := w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{
				End: wire.PersistTurnInput{
					ParticipantID: ann, TurnID: w.turn(ann, "hello", models.Step{Text: "Time to walk."}), Mode: wire.ModeFeedback, Plan: plan,
					Source: wire.SourceStep, Step: 1, Now: now,
				},
				Sent: &wire.DecideInput{
					State: wire.ParticipantState{ParticipantID: ann, Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeFeedback},
					Event: wire.Event{Kind: wire.EventPromptSent, Plan: plan}, Now: now,
				},
			})
			require.NoError(t, err)
			var out wire.SendTurnResult
			require.NoError(t, value.Get(&out))
			if refusal != nil {
				require.Nil(t, out.Decided)
				return
			}
			require.NotNil(t, out.Decided)
			require.Contains(t, out.Decided.Effects, wire.Effect{
				Kind: wire.EffectSetDue, Due: wire.Due{Kind: wire.DueReminder, Ref: "p1", At: out.First.AcceptedAt.Add(time.Hour)},
			})
		})
	}
}

// A fixed text that stands in for the model is counted with its reason.
func TestFallbacksAreCounted(t *testing.T) {
	w := newStoreFixture(t)
	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	w.closing.Metrics, w.closing.Stages = m, w.facts
	late := w.turn(ann, "hello there", models.Step{Text: "not the one"})
	require.NoError(t, w.facts.SaveStage(t.Context(), models.Stage{
		TurnID: late, Number: 7, Name: models.StageModel, CreatedAt: now,
		Decision: models.DescribeFailure(&models.ModelError{Class: models.ModelBusy, Message: "no answer in time", TimedOut: true}),
	}))
	_, err = w.send(ann, late, wire.SourceFallback)
	require.NoError(t, err)
	guarded := w.turn(ben, "hello there", models.Step{Trace: `{"stages":[{"Name":"guard","Decision":"guard promise"}]}`})
	_, err = w.send(ben, guarded, wire.SourceFallback)
	require.NoError(t, err)
	_, err = w.send(ann, w.turn(ann, "and you?", models.Step{Text: "I see."}), wire.SourceStep)
	require.NoError(t, err)
	page := scrape(t, m)
	require.Len(t, regexp.MustCompile(`coachline_fallbacks_total\{[^}]*\} [1-9]`).FindAllString(page, -1), 2, "the model's own words are none")
	require.Contains(t, page, `coachline_fallbacks_total{reason="time_out"} 1`)
	require.Contains(t, page, `coachline_fallbacks_total{reason="guard"} 1`)
}

// Texts that nothing answers are kept, the state is mirrored with what was missed, and a
// new workflow reads what went before it.
func TestTurnsWithoutAnAnswer(t *testing.T) {
	w := newStoreFixture(t)
	m, err := metrics.New(metrics.Config{})
	require.NoError(t, err)
	w.closing.Turns.Metrics = m
	w.env.RegisterActivity(w.closing.Turns)
	in, err := w.people.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: "SM1", From: "+12025550123", Body: "thanks", ReceivedAt: now})
	require.NoError(t, err)
	turn := models.TurnID(ann, 1)
	prepare := wire.PrepareTurnInput{
		ParticipantID: ann, TurnID: turn, Number: 1, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnMessage}, InboundIDs: []int64{in.Inbound.ID}, Now: now,
	}
	_, err = w.env.ExecuteActivity(w.closing.Turns.PrepareTurn, prepare)
	require.NoError(t, err)
	kept, err := w.people.Turns.TurnContext(t.Context(), turn, 10)
	require.NoError(t, err)
	require.Equal(t, "thanks", kept.Window[0].Text)
	missed := []wire.MissedPrompt{{ScheduleID: "s1", Reason: "late"}}
	_, err = w.env.ExecuteActivity(w.closing.Turns.SaveState, wire.SaveStateInput{ParticipantID: ann, Mode: wire.ModeFeedback, Missed: missed, Now: now})
	require.NoError(t, err)
	counted := func() string {
		return strings.Join(regexp.MustCompile(`(?m)^coachline_(?:turns|prompts)_total.*`).FindAllString(scrape(t, m), -1), "\n")
	}
	page := counted()
	require.Regexp(t, `coachline_turns_total\{[^}]*kind="message"[^}]*\} 1`, page)
	require.Regexp(t, `coachline_prompts_total\{[^}]*missed[^}]*\} 1`, page)

	value, err := w.env.ExecuteActivity(w.closing.Turns.ReadPast, ann)
	require.NoError(t, err)
	var past wire.Past
	require.NoError(t, value.Get(&past))
	require.Equal(t, 1, past.Turns)
	value, err = w.env.ExecuteActivity(w.closing.Turns.CheckNumbers, wire.NumberCheck{ParticipantID: ann})
	require.NoError(t, err)
	var fresh []wire.InboxItem
	require.NoError(t, value.Get(&fresh))
	require.Empty(t, fresh)
	_, err = w.env.ExecuteActivity(w.closing.Turns.ReadPast, "conv_nobody")
	require.Error(t, err)
	prepare.ParticipantID, prepare.TurnID = "conv_nobody", "conv_nobody-t1"
	_, err = w.env.ExecuteActivity(w.closing.Turns.PrepareTurn, prepare)
	require.Error(t, err)
	_, err = w.env.ExecuteActivity(w.closing.Turns.SaveState, wire.SaveStateInput{ParticipantID: "conv_nobody", Missed: missed, Now: now})
	require.Error(t, err)
	require.Equal(t, page, counted(), "what failed is not counted")
}
