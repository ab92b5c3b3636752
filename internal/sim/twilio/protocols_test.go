package twilio

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/recall"
	"coachline/internal/agent/toolcall"
	"coachline/models"
	"coachline/models/wire"
)

// ask puts a step into the protocol of the conversation and reads the answer
// as the product does.
func (l *participant) ask(request models.ChatRequest) (string, []models.ToolCall) {
	l.t.Helper()
	if l.protocol == models.ProtocolTwoPhase && len(request.Tools) > 0 {
		if call, chosen := l.choose(request); chosen {
			return "", []models.ToolCall{call}
		}
	}
	offered, err := toolcall.Offer(l.lib, models.Capability{Protocol: l.protocol}, request)
	require.NoError(l.t, err)
	text, calls := l.post(offered)
	if l.protocol != models.ProtocolText {
		return text, calls
	}
	require.Empty(l.t, calls)
	verdict := toolcall.Judge(models.ChatResponse{Text: text}, request.Tools)
	require.Contains(l.t, []toolcall.Judgment{toolcall.Words, toolcall.Calls}, verdict.Judgment, text)
	for i := range verdict.Calls {
		verdict.Calls[i].ID = fmt.Sprintf("t%d-c%d", len(l.ctx.Steps), i)
	}
	return verdict.Text, verdict.Calls
}

// choose goes through the two phases.
func (l *participant) choose(request models.ChatRequest) (models.ToolCall, bool) {
	l.t.Helper()
	ask := toolcall.Ask{Capability: models.Capability{Protocol: l.protocol}, Request: request}
	choice, err := toolcall.AskChoice(l.lib, ask)
	require.NoError(l.t, err)
	text, _ := l.post(choice)
	name, err := toolcall.ReadChoice(text, request.Tools)
	require.NoError(l.t, err)
	if name == "" {
		return models.ToolCall{}, false
	}
	fill, err := toolcall.AskArguments(l.lib, ask, name)
	require.NoError(l.t, err)
	text, _ = l.post(fill)
	args, err := toolcall.ReadArguments(text)
	require.NoError(l.t, err)
	return models.ToolCall{ID: fmt.Sprintf("t%d", len(l.ctx.Steps)), Name: name, Arguments: args}, true
}

func TestConversationInEveryProtocol(t *testing.T) {
	for _, as := range []models.Protocol{models.ProtocolNative, models.ProtocolText, models.ProtocolTwoPhase} {
		t.Run(string(as), func(t *testing.T) {
			l := newParticipant(t)
			l.protocol = as
			require.Contains(t, l.turn(wire.TurnGreeting), "Are you ready to start?")
			l.intake()
			require.Equal(t, "after my morning coffee", l.ctx.Profile.PromptAnchor)
			require.Equal(t, "You have 1: s1 at 08:00 (America/New_York), next 2026-11-25 08:00.", l.say("list my schedules please"))
			require.Contains(t, l.say("text and tool"), "That did not work: ")

			prompt := l.prompt()
			l.state.Mode = wire.ModeFeedback
			require.Contains(t, l.say("Done!"), "Well done!")
			require.Equal(t, prompt, l.ctx.Profile.LastSuccessfulPrompt)
			require.Equal(t, wire.ModeIntake, l.state.Mode)
			require.Equal(t, []string{"save_user_profile", "transition_state"}, l.names)

			require.Contains(t, l.say("delete the 8:00 one"), "Done. I deleted the schedule at 08:00")
			require.Empty(t, l.state.Schedules)
		})
	}
}

func TestRememberedOverHTTP(t *testing.T) {
	l := newParticipant(t)
	rights := recall.Rights{Save: true, Update: true}
	var facts []models.Fact
	for _, said := range []string{"I walk at 6am by the river, and I love it", "My knee hurts", "Actually, make that 7am", "ok"} {
		request, err := recall.StepRequest(l.lib, recall.StepAsk{Query: said, Facts: facts, Rights: rights})
		require.NoError(t, err)
		text, _ := l.post(request)
		operation, fault := recall.ParseStep(text, recall.Known{Facts: facts, Rights: rights})
		require.Equal(t, recall.FaultNone, fault, text)
		switch operation.Action {
		case recall.ActionSave:
			facts = append(facts, models.Fact{ID: fmt.Sprintf("f%d", len(facts)+1), Kind: operation.Kind, Text: operation.Text, UpdatedAt: l.now})
		case recall.ActionUpdate:
			at := slices.IndexFunc(facts, func(fact models.Fact) bool { return fact.ID == operation.ID })
			facts[at].Text = operation.Text
		case recall.ActionNone:
		}
	}
	memory, err := recall.Framed(l.lib, recall.Lines(facts, l.zone)...)
	require.NoError(t, err)
	for said, want := range map[string]string{
		"When do I walk?":               "You told me on 2026-11-24: You walk at 7am by the river.",
		"What did I say about my knee?": "You told me on 2026-11-24: Your knee hurts.",
	} {
		text, calls := l.post(models.ChatRequest{Messages: []models.ChatMessage{
			{Role: "system", Content: system + "\n\n# Memory\n" + memory}, {Role: "user", Content: said},
		}})
		require.Empty(t, calls)
		require.Equal(t, want, text)
	}
}
