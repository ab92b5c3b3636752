package openai

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts/pages"
)

// catalogue is what the product offers in a mode.
func catalogue(t testing.TB) []models.ToolSpec {
	t.Helper()
	registry, err := tools.New()
	require.NoError(t, err)
	return registry.For(wire.ModeIntake)
}

// wireRequest is a request as the script reads it.
func wireRequest(req models.ChatRequest) Request {
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
	got := wireRequest(req).answer("id")
	require.Empty(t, got.Calls)
	return got.Text
}

// TestCannedStagesLeaveTheReplyAlone holds that the product reads the canned
// answers as no choice at all.
func TestCannedStagesLeaveTheReplyAlone(t *testing.T) {
	specs := catalogue(t)
	asked := plan.RouterInput{RouteInput: plan.RouteInput{Query: "list my schedules", Tools: specs}}
	req, err := plan.RouterRequest(library(t), asked)
	require.NoError(t, err)
	_, ok := plan.PickTools(inWordsOnly(t, req), asked.Tools)
	require.False(t, ok, "every tool is offered")

	all := []pages.Page{{Name: "stress", Description: "calm"}, {Name: "sleep", Description: "nights"}}
	req, err = plan.FocusRequest(library(t), plan.FocusInput{Query: "I lie awake", Focuses: all})
	require.NoError(t, err)
	_, ok = plan.PickFocus(inWordsOnly(t, req), all)
	require.False(t, ok, "no focus")

	req, err = plan.PlannerRequest(library(t), plan.PlannerInput{Query: "list my schedules", Tools: specs})
	require.NoError(t, err)
	planned := plan.Parse(inWordsOnly(t, req), plan.Catalogue{Tools: specs})
	require.Empty(t, planned.Names)
	require.False(t, planned.Recall)

	req, err = plan.ResolverRequest(library(t), plan.ResolverInput{Query: "hi", Step: plan.Step{Text: "scheduler action='list'"}, Tools: specs})
	require.NoError(t, err)
	_, ok = plan.Resolve(inWordsOnly(t, req), plan.Catalogue{Tools: specs}, nil)
	require.False(t, ok, "the chat model takes the turn")

	ask := recall.Ask{Query: "What did I say about my knee?", Topic: "running pain"}
	req, err = recall.ExtractRequest(library(t), ask)
	require.NoError(t, err)
	_, ok = recall.ParseExtract(inWordsOnly(t, req), ask)
	require.True(t, ok)
}

func TestMemoryStepIsRead(t *testing.T) {
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
