package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/agent/plan"
	"coachline/internal/api"
	"coachline/internal/goldens"
	"coachline/models"
	"coachline/models/wire"
)

func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	path := filepath.Join("testdata", name+".golden")
	if goldens.ShouldRecord() {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got)+"\n")
}

var viewStart = time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return viewStart.Add(time.Duration(seconds) * time.Second) }

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// traced is a trace as package agent writes it.
func traced(t *testing.T, newest int64, decision string) string {
	t.Helper()
	return encoded(t, agent.Trace{
		Prepared: agent.Prepared{
			Older:   &agent.Older{Count: 453, Upto: 5, Text: "They walked a lot."},
			Allowed: []string{"save_user_profile", "scheduler"}, Label: "keyword", Newest: newest, Memory: "- goal: two walks (f1)",
			Plan: plan.Plan{Steps: []plan.Step{{Text: "save the success", Tool: "save_user_profile"}, {Text: "thank"}}},
		},
		Stages: []models.Stage{
			{Name: models.StageRecallCheck, Decision: decision, CreatedAt: at(1)},
			{Name: models.StageModel, Decision: "model native", Model: "m", Usage: models.Usage{Prompt: 100, Cached: 70, Completion: 8}, Millis: 812, CreatedAt: at(2)},
		},
	})
}

func TestTurnView(t *testing.T) {
	accepted := at(9)
	calls := encoded(t, []models.ToolCall{
		{ID: "c0", Name: "save_user_profile", Arguments: `{"success":true}`},
		{ID: "c1", Name: "scheduler", Arguments: `{"at"`},
		{ID: "c2", Name: "scheduler", Arguments: `{}`, Refused: "not asked for"},
		{ID: "c3", Name: "transition_state", Arguments: `{}`},
	})
	full := models.TurnRecord{
		Totals: models.TurnSummary{
			Turn: models.Turn{ID: "conv_a-t42", ParticipantID: "conv_a", Number: 42, Kind: wire.TurnReply, Mode: wire.ModeFeedback,
				PromptID: "p1", PromptVersion: "9f2c", Outcome: "step", StartedAt: viewStart, FinishedAt: &accepted},
			Steps: 3, Tools: []string{"save_user_profile", "scheduler"}, Tokens: models.Usage{Prompt: 300, Cached: 140, Completion: 24},
		},
		Steps: []models.Step{
			{Number: 1, Calls: calls, FinishReason: "tool_calls", Model: "m", Trace: traced(t, 7, "gate skip 0.75"), CreatedAt: at(2)},
			{Number: 2, Text: "Hm", FinishReason: "stop", Model: "m", Trace: traced(t, 7, "gate kept"), CreatedAt: at(4)},
			{Number: 3, Text: "Well done!", FinishReason: "stop", Model: "m", Trace: traced(t, 8, "gate search 0.91"), CreatedAt: at(6)},
		},
		Runs: []models.ToolRun{
			{Step: 1, Call: 0, Name: "save_user_profile", Result: `{"content":"saved"}`},
			{Step: 1, Call: 1, Name: "scheduler", Result: `{"content":"no time given"}`, Failed: true},
			{Step: 1, Call: 2, Name: "scheduler", Result: `{"content":"not asked for"}`, Failed: true},
		},
		Stages: []models.Stage{{Name: models.StageMemory, Decision: "memory asked", Output: "never shown", Model: "small",
			Usage: models.Usage{Prompt: 50, Completion: 3}, Millis: 301, CreatedAt: at(12)}},
		Entries: []models.Message{
			{Role: models.RoleUser, Kind: models.KindMessage, Text: "It went well!", At: viewStart},
			{Role: models.RoleAssistant, Kind: models.KindToolCall, Text: calls, At: at(2)},
			{Role: models.RoleTool, Kind: models.KindToolResult, Text: `{"content":"saved"}`, At: at(3)},
			{Role: models.RoleAssistant, Kind: models.KindReply, Text: "Well done!", At: at(9)},
		},
		Outbox: []models.Outbox{
			{ID: "conv_a-t42-p1", Part: 1, Kind: models.KindReply, Body: "Well", Status: wire.OutboxUndelivered, ErrorCode: "30003",
				Attempts: 1, CreatedAt: at(9), AcceptedAt: &accepted, UpdatedAt: at(11)},
			{ID: "conv_a-t42-p2", Part: 2, Kind: models.KindReply, Body: "done!", Status: wire.OutboxCanceled, ErrorCode: "earlier_part", CreatedAt: at(9), UpdatedAt: at(11)},
			{ID: "conv_a-t42-p3", Part: 3, Kind: models.KindReply, Body: "!", Status: wire.OutboxFailed, ErrorCode: "99999", CreatedAt: at(9), UpdatedAt: at(11)},
		},
	}
	erased := full
	erased.Steps = []models.Step{{Number: 1, Text: "Well done!", Model: "m", Usage: models.Usage{Prompt: 100}, CreatedAt: at(2)}}
	for _, tc := range []struct {
		name string
		in   models.TurnRecord
	}{
		{"turn", full},
		{"turn-erased", erased},
		{"turn-running", models.TurnRecord{Totals: models.TurnSummary{Turn: models.Turn{ID: "conv_a-t1", Number: 1, Kind: wire.TurnGreeting, StartedAt: viewStart}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := toTurn(tc.in)
			require.NoError(t, err)
			golden(t, tc.name, out)
			require.NotContains(t, encoded(t, out), "never shown")
		})
	}
	full.Steps = []models.Step{{Number: 1, Calls: "["}}
	_, err := toTurn(full)
	require.ErrorContains(t, err, "decoding tool calls")
	full.Steps[0].Calls, full.Runs[0].Result = calls, "{"
	_, err = toTurn(full)
	require.ErrorContains(t, err, "decoding tool result")
}

func TestConsentsAndMemoryView(t *testing.T) {
	golden(t, "consents", []models.Consent{
		{ID: 1, Action: models.ConsentOptOut, Method: models.MethodPhrase, Text: "please stop", RecordedBy: "participant", InboundID: 4, TurnID: "conv_a-t3", At: viewStart},
		{ID: 2, Action: models.ConsentOptOut, Method: models.MethodCarrierError, RecordedBy: "carrier", At: at(60)},
	})
	known := models.Memory{
		Facts: []models.Fact{
			{ID: "f2", Kind: models.FactGoal, Text: "Two walks", SourceID: 12, TurnID: "conv_a-t9", Version: 2, UpdatedAt: at(9)},
			{ID: "f1", Kind: models.FactIdentity, Text: "Has a dog", SourceID: 2, TurnID: "conv_a-t1", Version: 1, UpdatedAt: viewStart},
		},
		Notes: []models.Note{
			{LocalDate: "2026-11-23", Text: "Walked twice.", UpdatedAt: viewStart}, {LocalDate: "2026-11-22", Version: 2, UpdatedAt: viewStart},
		},
		Summary: models.Summary{Text: "They settled on a walk.", UpdatedAt: viewStart},
	}
	golden(t, "memories", toMemory(known, map[string][]models.FactVersion{"f2": {
		{FactID: "f2", Version: 2, Kind: models.FactGoal, Text: "Two walks", At: at(9)},
		{FactID: "f2", Version: 1, Kind: models.FactGoal, Text: "One walk", SourceID: 4, TurnID: "conv_a-t2", At: viewStart},
	}}))
	golden(t, "memories-empty", toMemory(models.Memory{Notes: known.Notes[1:], Summary: models.Summary{Version: 2, UpdatedAt: viewStart}}, nil))
}

func TestMeanings(t *testing.T) {
	for code, want := range map[string]string{
		"": "", "21610": "the recipient opted out", "opted_out": "the person had opted out", "superseded": "a newer choice or a newer reply had made it pointless",
		"12": "", "later": "",
	} {
		require.Equal(t, want, toDelivery(models.Outbox{ErrorCode: code}).Meaning, code)
	}
}

func TestTurnShowsItsSubagents(t *testing.T) {
	t.Parallel()
	turn := func(id string, kind wire.TurnKind) models.TurnSummary {
		return models.TurnSummary{Turn: models.Turn{ID: id, ParticipantID: "ann", Number: 4, Kind: kind, Outcome: "step", StartedAt: at(0)}}
	}
	shown, err := toTurn(models.TurnRecord{
		Totals: turn("ann-t4", wire.TurnReply), Channel: wire.ChannelSMS,
		Steps: []models.Step{{Number: 1, CreatedAt: at(1), Calls: encoded(t, []models.ToolCall{
			{Name: "list_memories", Arguments: "{}"}, {Name: "spawn", Arguments: `{"task":"When do they walk?","label":"walks"}`},
		})}},
		Subagents: []models.TurnRecord{{Totals: turn("ann-t4-s1-c1", wire.TurnSubagent), Steps: []models.Step{{Number: 1, Text: "At seven.", CreatedAt: at(2)}}}},
	})
	require.NoError(t, err)
	require.Len(t, shown.Subagents, 1)
	t.Run("origin of a subagent's result", func(t *testing.T) {
		require.Equal(t, api.Origin{Workflow: "participant-ann", Channel: wire.ChannelSMS, Turn: "ann-t4", Step: 1, Call: 1, Tool: "spawn"}, shown.Subagents[0].Origin)
	})
	require.Equal(t, "When do they walk?", shown.Subagents[0].Task)
	require.Equal(t, "walks", shown.Subagents[0].Label)
	require.Equal(t, "At seven.", shown.Subagents[0].Steps[0].Text)
	require.Len(t, shown.Steps, 1)
}
