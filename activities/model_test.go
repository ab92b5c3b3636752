package activities_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// steps is the part of the store that a conversation needs, for one turn.
type steps struct {
	activities.Turns
	steps  map[int]models.Step
	raised []models.AttentionEntry
	run    models.ToolRun
	down   error
	text   string // the person's; "hello" where empty
}

func (r *steps) TurnContext(context.Context, string, int) (models.TurnContext, error) {
	turn := models.TurnContext{
		Participant: models.Participant{ID: "conv_1", Timezone: "UTC"},
		Window:      []models.Message{{ID: 7, Role: models.RoleUser, Kind: models.KindMessage, Text: cmp.Or(r.text, "hello"), At: now}},
	}
	for _, step := range r.steps {
		turn.Steps = append(turn.Steps, step)
	}
	return turn, nil
}

// RaiseAttention notes the entry; a store that is away fails.
func (r *steps) RaiseAdvice(context.Context, models.AttentionEntry) (bool, error) { return false, nil }

func (r *steps) RaiseAttention(_ context.Context, entry models.AttentionEntry) (bool, error) {
	r.raised = append(r.raised, entry)
	return true, r.down
}

func (r *steps) Step(_ context.Context, _ string, number int) (models.Step, error) {
	return r.steps[number], nil
}

func (r *steps) SaveStep(_ context.Context, step models.Step) (models.Step, error) {
	if _, ok := r.steps[step.Number]; !ok {
		r.steps[step.Number] = step
	}
	return r.steps[step.Number], nil
}

// modelStub answers every request the same way and counts them.
type modelStub struct {
	calls  int
	asked  models.ChatRequest
	answer models.ChatResponse
	err    error
	// ask, when set, answers in place of answer and err.
	ask func(models.ChatRequest) (models.ChatResponse, error)
}

func (o *modelStub) Complete(_ context.Context, in models.ChatRequest) (models.ChatResponse, error) {
	if strings.HasPrefix(in.Messages[0].Content, "Judge a text before") {
		return models.ChatResponse{Text: `{"verdict":"fine","kind":"other"}`}, nil
	}
	o.calls++
	o.asked = in
	if o.ask != nil {
		return o.ask(in)
	}
	return o.answer, o.err
}

// nothingKept is a journal that holds nothing.
type nothingKept struct{}

func (nothingKept) StageBy(context.Context, string, models.StageName, string) (models.Stage, error) {
	return models.Stage{}, models.ErrNotFound
}
func (nothingKept) SaveStage(context.Context, models.Stage) error { return nil }
func (nothingKept) Capability(context.Context, string, string) (models.Capability, error) {
	return models.Capability{}, models.ErrNotFound
}
func (nothingKept) SaveCapability(context.Context, models.Capability) error { return nil }

func (r *steps) ToolRun(context.Context, string, int, int) (models.ToolRun, error) {
	return models.ToolRun{}, models.ErrNotFound
}

// CommitTool notes the first result; a store that is away fails.
func (r *steps) CommitTool(_ context.Context, commit models.ToolCommit) error {
	if r.down == nil && r.run.Name == "" {
		r.run = commit.Run
	}
	return r.down
}

func callModel(t *testing.T, r *steps, o *modelStub, in wire.CallModelInput) (wire.CallModelResult, error) {
	t.Helper()
	return callModelWithin(t, r, o, in, nil)
}

func callModelWithin(t *testing.T, r *steps, o *modelStub, in wire.CallModelInput, budgets activities.Budgets) (wire.CallModelResult, error) {
	t.Helper()
	registry, err := tools.New()
	require.NoError(t, err)
	library, err := prompts.Load("")
	require.NoError(t, err)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	talk := &activities.ModelActivities{Turns: &activities.TurnLoader{}, Store: r, Attention: r, Tools: registry, Replies: agent.New(agent.Config{
		Prompts: library, Model: o, Journal: nothingKept{}, Zones: time.LoadLocation, Now: func() time.Time { return now },
		Settings: agent.Settings{ChatModel: "gpt-4.1", HistoryLimit: 30},
	}), Rules: &activities.DecisionActivities{Zones: time.LoadLocation, Tools: registry, Calls: r}, Budgets: budgets}
	env.RegisterActivity(talk)
	value, err := env.ExecuteActivity(talk.CallModel, in)
	if err != nil {
		return wire.CallModelResult{}, err
	}
	var out wire.CallModelResult
	require.NoError(t, value.Get(&out))
	return out, nil
}

var firstStep = wire.CallModelInput{ParticipantID: "conv_1", TurnID: "conv_1-t1", Step: 1, Mode: wire.ModeIntake, Kind: wire.TurnReply}

func TestCallModelIsPaidOnce(t *testing.T) {
	r := &steps{steps: map[int]models.Step{}}
	o := &modelStub{answer: models.ChatResponse{Text: "hi", Calls: []models.ToolCall{
		{ID: "a", Name: "scheduler", Arguments: "{}"}, {ID: "b", Name: "save_user_profile"}, {ID: "c", Name: "invented"},
	}}}
	want := wire.CallModelResult{HasText: true, Calls: []wire.CallRef{
		{Name: "scheduler", InWorkflow: true}, {Name: "save_user_profile"}, {Name: "unknown", InWorkflow: true, Refused: true},
	}}
	for range 3 {
		got, err := callModel(t, r, o, firstStep)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Equal(t, 1, o.calls)
	require.EqualValues(t, 7, r.steps[1].AfterMessage)
	require.NotEmpty(t, r.steps[1].PromptVersion)
}

// stopsAll has every budget spent.
type stopsAll bool

func (s stopsAll) Stops(string, string) bool { return bool(s) }

// A spent budget asks no model and is final, so that the fixed text stands in at
// once; a step that was paid for is read back all the same.
func TestCallModelStopsWhenTheBudgetIsSpent(t *testing.T) {
	r := &steps{steps: map[int]models.Step{}}
	o := &modelStub{answer: models.ChatResponse{Text: "hi"}}
	_, err := callModelWithin(t, r, o, firstStep, stopsAll(true))
	var final *temporal.ApplicationError
	require.ErrorAs(t, err, &final)
	require.Equal(t, wire.ErrTypeBudget, final.Type())
	require.True(t, final.NonRetryable())
	require.Zero(t, o.calls)
	_, err = callModelWithin(t, r, o, firstStep, stopsAll(false))
	require.NoError(t, err)
	out, err := callModelWithin(t, r, o, firstStep, stopsAll(true))
	require.NoError(t, err)
	require.True(t, out.HasText)
	require.Equal(t, 1, o.calls)
}

func TestCallModelWithoutToolsKeepsNoCalls(t *testing.T) {
	r := &steps{steps: map[int]models.Step{}}
	in := firstStep
	in.NoTools = true
	got, err := callModel(t, r, &modelStub{answer: models.ChatResponse{Text: "hi", Calls: []models.ToolCall{{Name: "scheduler"}}}}, in)
	require.NoError(t, err)
	require.Empty(t, got.Calls)
}

func TestModelErrorClasses(t *testing.T) {
	for _, tt := range []struct {
		class models.ModelErrorClass
		kind  string
		final bool
	}{
		{models.ModelBusy, wire.ErrTypeModelBusy, false},
		{models.ModelRefused, wire.ErrTypeModelRefused, true},
		{models.ModelAuth, wire.ErrTypeModelRefused, true},
		{models.ModelOverflow, wire.ErrTypeModelOverflow, true},
	} {
		t.Run(string(tt.class), func(t *testing.T) {
			o := &modelStub{err: &models.ModelError{Class: tt.class, RetryAfter: 7 * time.Second, Message: "no"}}
			_, err := callModel(t, &steps{steps: map[int]models.Step{}}, o, firstStep)
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, tt.kind, app.Type())
			require.Equal(t, tt.final, app.NonRetryable())
			if !tt.final {
				require.Equal(t, 7*time.Second, app.NextRetryDelay(), "as long as the server asked for")
			}
		})
	}
}

// TestRefusedSilenceRaisesAttention: the model wanted to leave a question unanswered.
func TestRefusedSilenceRaisesAttention(t *testing.T) {
	r := &steps{steps: map[int]models.Step{}, text: "when?"}
	answer := models.ChatResponse{Calls: []models.ToolCall{{ID: "c", Name: "end_exchange", Arguments: "{}"}}}
	out, err := callModel(t, r, &modelStub{answer: answer}, firstStep)
	require.NoError(t, err)
	require.True(t, out.Calls[0].Refused)
	require.Len(t, r.raised, 1)
	require.Equal(t, wire.AttentionUnanswered, r.raised[0].Kind)
}

// A refusal is the participant's matter and calls for an operator; a model that
// is busy, or a key that is not in order, is not.
func TestRefusalsRaiseAttention(t *testing.T) {
	for _, tt := range []struct {
		err  models.ModelError
		want string
	}{
		{models.ModelError{Class: models.ModelRefused, Status: 400}, "400"},
		{models.ModelError{Class: models.ModelRefused, Status: 200}, "refused"},
		{models.ModelError{Class: models.ModelOverflow, Status: 400}, "400"},
		{models.ModelError{Class: models.ModelAuth, Status: 401}, ""},
		{models.ModelError{Class: models.ModelBusy, Status: 503}, ""},
	} {
		r := &steps{steps: map[int]models.Step{}}
		_, err := callModel(t, r, &modelStub{err: &tt.err}, firstStep)
		require.Error(t, err)
		if tt.want == "" {
			require.Empty(t, r.raised, tt.err.Class)
			continue
		}
		require.NotEmpty(t, r.raised, tt.err.Class)
		got := r.raised[0]
		require.False(t, got.RaisedAt.IsZero())
		require.Equal(t, []any{"conv_1", wire.AttentionRefusal, "conv_1-t1", tt.want}, []any{got.ParticipantID, got.Kind, got.Ref, got.Code})
	}
}

// A refusal that cannot be recorded is tried again, so that it is not lost.
func TestRefusalIsRecordedBeforeItIsFinal(t *testing.T) {
	r := &steps{steps: map[int]models.Step{}, down: errors.New("the database is away")}
	_, err := callModel(t, r, &modelStub{err: &models.ModelError{Class: models.ModelRefused, Status: 400}}, firstStep)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable())
	require.ErrorContains(t, err, "the database is away")
}

// TestCallModelDecidesTheFirstCall: with the state the step decides its first
// call where rules decide it, a retry decides the same, and what cannot be stored
// is left to DecideTool.
func TestCallModelDecidesTheFirstCall(t *testing.T) {
	six := models.ToolCall{ID: "a", Name: "scheduler", Arguments: `{"action":"create","type":"fixed","fixed_time":"18:00"}`}
	save := models.ToolCall{ID: "b", Name: "save_user_profile", Arguments: `{}`}
	asked := firstStep
	asked.State = &wire.ParticipantState{ParticipantID: "conv_1", Zone: "UTC", Status: wire.StatusActive, Mode: wire.ModeIntake, Greeted: true}
	for name, tt := range map[string]struct {
		in    wire.CallModelInput
		calls []models.ToolCall
		down  error
		want  bool
	}{
		"rules decide":      {in: asked, calls: []models.ToolCall{six, save}, want: true},
		"a refused call":    {in: asked, calls: []models.ToolCall{{ID: "c", Name: "invented"}}, want: true},
		"another tool":      {in: asked, calls: []models.ToolCall{save, six}},
		"without the state": {in: firstStep, calls: []models.ToolCall{six}},
		"no store":          {in: asked, calls: []models.ToolCall{six}, down: errors.New("away")},
	} {
		t.Run(name, func(t *testing.T) {
			r := &steps{steps: map[int]models.Step{}, down: tt.down}
			o := &modelStub{answer: models.ChatResponse{Calls: tt.calls}}
			var decided []*wire.Decision
			for range 2 {
				got, err := callModel(t, r, o, tt.in)
				require.NoError(t, err)
				require.Len(t, got.Calls, len(tt.calls))
				decided = append(decided, got.Decided)
			}
			require.Equal(t, decided[0], decided[1])
			require.Equal(t, tt.want, decided[0] != nil)
			require.Equal(t, tt.want, r.run.Name != "")
			if tt.want && tt.calls[0].Name == "scheduler" {
				require.Len(t, decided[0].Effects, 2)
				require.Equal(t, wire.EffectPutSchedule, decided[0].Effects[0].Kind)
			}
		})
	}
}

func (*steps) DueLooks(context.Context, string) ([]models.DueLook, error) { return nil, nil }

func (*steps) SettleLook(context.Context, models.LookResult) (bool, error) { return false, nil }
