package openai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/reply/focus"
	"coachline/internal/reply/plan"
	"coachline/internal/reply/recall"
	"coachline/internal/reply/route"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/prompts/pages"
)

// catalogue is what the product offers in a mode.
func catalogue(t testing.TB) []models.ToolSpec {
	t.Helper()
	registry, err := tools.New()
	require.NoError(t, err)
	return registry.For(models.ModeIntake)
}

// wire is a request as the script reads it.
func wire(req models.ChatRequest) Request {
	ask := Request{Model: "m"}
	for _, m := range req.Messages {
		message := Message{Role: m.Role, Content: Content(m.Content), ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, ToolCall{ID: c.ID, Type: "function", Function: Function{Name: c.Name, Arguments: c.Arguments}})
		}
		ask.Messages = append(ask.Messages, message)
	}
	for _, spec := range req.Tools {
		tool := Tool{}
		tool.Function.Name = spec.Name
		ask.Tools = append(ask.Tools, tool)
	}
	return ask
}

func inWordsOnly(t *testing.T, req models.ChatRequest) string {
	t.Helper()
	got := wire(req).answer("id")
	require.Empty(t, got.Calls)
	return got.Text
}

var habitQuestion = "coach: " + question("habit_domain")

func TestRouterStage(t *testing.T) {
	specs := catalogue(t)
	for _, tc := range []struct {
		name, said string
		dialogue   []string
		want       string // the first name
	}{
		{"an answer to a question", "a short walk", []string{"user: hi", habitQuestion}, toolSave},
		{"a yes to a time", "yes", []string{"coach: " + proposalMark + " at 08:00? Say yes, or another time."}, toolScheduler},
		{"schedules", "list my schedules", nil, toolScheduler},
		{"a delay", "feedback in 2 hours", nil, toolTransition},
		{"a report", "done!", []string{"coach: Walk to the corner."}, toolSave},
		{"something of oneself", "I walked to the shop", nil, toolSave},
		{"what is known", "what do you know about me?", nil, toolList},
		{"to forget", "forget my knee", nil, toolForget},
		{"a prompt", "give me a prompt", nil, toolPrompt},
		{"by the words of a description", "which daily prompts are there?", nil, toolScheduler},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ask := route.Ask{Input: route.Input{Query: tc.said, Tools: route.ToolsOf(specs, nil)}, Dialogue: tc.dialogue}
			req, err := route.Request(library(t), ask)
			require.NoError(t, err)
			names, ok := route.Picks(inWordsOnly(t, req), ask.Tools)
			require.True(t, ok)
			require.Contains(t, names, tc.want)
			require.LessOrEqual(t, len(names), 5)
		})
	}
	t.Run("none", func(t *testing.T) {
		req, err := route.Request(library(t), route.Ask{Input: route.Input{Query: "hola", Tools: route.ToolsOf(specs, nil)}})
		require.NoError(t, err)
		require.Equal(t, "none", inWordsOnly(t, req))
	})
}

// J8: the line that shares most words with the text.
func TestFocusStage(t *testing.T) {
	all := []pages.Page{
		{Name: "stress", Description: "calm and breathing on busy days"},
		{Name: "sleep", Description: "going to bed, evenings, nights"},
	}
	for said, want := range map[string]string{
		"I lie awake in bed all night": "sleep", "my days are so busy": "stress", "what a colour": "stress",
	} {
		req, err := focus.Request(library(t), focus.Ask{Query: said, Focuses: all})
		require.NoError(t, err)
		got, ok := focus.Pick(inWordsOnly(t, req), all)
		require.True(t, ok)
		require.Equal(t, want, got, said)
	}
}

func TestPlannerStage(t *testing.T) {
	specs := catalogue(t)
	known := plan.Catalogue{Tools: specs}
	for _, tc := range []struct {
		name, said string
		dialogue   []string
		recall     bool
		topic      string
		wantCall   string // of the first tool step, as it is executed without a model
	}{
		{name: "J28 what did I say", said: "What did I say about my knee?", recall: true, topic: "knee"},
		{name: "J28 remember", said: "Do you remember when I walk?", recall: true, topic: "walk"},
		{name: "J28 my knee", said: "my knee is bad again", recall: true, topic: "knee bad"},
		{name: "J31 small things", said: "the weather is nice"},
		{name: "J31 a report", said: "I did it"},
		{name: "J36 schedules", said: "list my schedules", wantCall: `{"action":"list"}`},
		{name: "an answer", said: "a walk, it's fun", dialogue: []string{habitQuestion}, wantCall: `{"habit_domain":"a walk, it's fun"}`},
		{name: "a time", said: "yes", dialogue: []string{"coach: " + proposalMark + " between 09:00 and 11:00? Say yes, or another time."},
			wantCall: `{"action":"create","type":"random","random_start_time":"09:00","random_end_time":"11:00"}`},
		{name: "a number", said: "talk later in 20 minutes", wantCall: `{"target_state":"FEEDBACK","delay_minutes":20}`},
		{name: "everything", said: "yes", dialogue: []string{"coach: " + forgetEvery}, wantCall: `{"all":true}`},
		{name: "both", said: "Do you remember me? list my schedules", recall: true, topic: "schedules list", wantCall: `{"action":"list"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := plan.Request(library(t), plan.Ask{Query: tc.said, Dialogue: tc.dialogue, Tools: specs})
			require.NoError(t, err)
			got := plan.Parse(inWordsOnly(t, req), known)
			require.Equal(t, tc.recall, got.Recall)
			require.NotContains(t, got.Topic, "<")
			if tc.topic != "" {
				require.ElementsMatch(t, strings.Fields(tc.topic), strings.Fields(got.Topic))
			}
			if tc.wantCall == "" {
				require.Empty(t, got.Names)
				return
			}
			call, ok := plan.Concrete(got.Steps[0], known, nil)
			require.True(t, ok, got.Steps[0].Text)
			require.JSONEq(t, tc.wantCall, call.Arguments)
			require.Empty(t, got.Steps[len(got.Steps)-1].Tool, "the last step is words")
		})
	}
}

func TestResolverStage(t *testing.T) {
	specs := catalogue(t)
	listed := plan.Past{Call: models.ToolCall{Name: toolScheduler, Arguments: `{"action":"list"}`},
		Result: models.ToolResult{Name: toolScheduler, Content: `{"ok":true,"schedules":[{"id":"s1","time":"08:00"}]}`}}
	for _, tc := range []struct {
		name, step string
		past       []plan.Past
		want       string // empty: the chat model takes the turn
	}{
		{"J36 concrete", "scheduler action='create' type='fixed' fixed_time='08:00'", nil, `{"action":"create","type":"fixed","fixed_time":"08:00"}`},
		{"a placeholder", "scheduler action='delete' schedule_id='<id>'", []plan.Past{listed}, `{"action":"delete","schedule_id":"s1"}`},
		{"a placeholder that nothing fills", "scheduler action='delete' schedule_id='<id>'", nil, ""},
		{"W5 quotes inside", "save_user_profile additional_info='it's fine'", nil, `{"additional_info":"it's fine"}`},
		{"a number", "transition_state target_state='FEEDBACK' delay_minutes=20", nil, `{"target_state":"FEEDBACK","delay_minutes":20}`},
		{"a list", "save_user_profile tone_tags=concise,formal", nil, `{"tone_tags":["concise","formal"]}`},
		{"plain words", "list my schedules", nil, `{"action":"list"}`},
		{"no tool", "Tell Ann when she walks", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := plan.ResolveRequest(library(t), plan.ResolveAsk{Query: "hi", Step: plan.Step{Text: tc.step}, Tools: specs, Past: tc.past})
			require.NoError(t, err)
			call, ok := plan.Resolve(inWordsOnly(t, req), plan.Catalogue{Tools: specs}, tc.past)
			require.Equal(t, tc.want != "", ok)
			if ok {
				require.JSONEq(t, tc.want, call.Arguments)
			}
		})
	}
}

func TestExtractorAndMemoryStepAreRead(t *testing.T) {
	ask := recall.Ask{Query: "What did I say about my knee?", Topic: "running pain"}
	req, err := recall.ExtractRequest(library(t), ask)
	require.NoError(t, err)
	found, ok := recall.ParseExtract(inWordsOnly(t, req), ask)
	require.True(t, ok)
	require.Equal(t, []string{"knee", "running", "pain"}, found.Keywords)

	facts := []models.Fact{{ID: "f1", Kind: models.FactGoal, Text: "They walk at 6am."}}
	rights := recall.Rights{Save: true, Update: true}
	for said, want := range map[string]recall.Operation{
		"I have two kids":           {Action: recall.ActionSave, Kind: models.FactIdentity, Text: "They have two kids."},
		"Actually I walk at 7am":    {Action: recall.ActionUpdate, ID: "f1", Kind: models.FactGoal, Text: "They walk at 7am."},
		"what did I say about you?": {Action: recall.ActionNone},
	} {
		req, err := recall.StepRequest(library(t), recall.StepAsk{Query: said, Facts: facts, Rights: rights})
		require.NoError(t, err)
		got, fault := recall.ParseStep(inWordsOnly(t, req), recall.Known{Facts: facts, Rights: rights})
		require.Equal(t, recall.FaultNone, fault)
		require.Equal(t, want, got)
	}
}
