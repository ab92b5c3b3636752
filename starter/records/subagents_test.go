package records

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

func TestTurnShowsItsSubagents(t *testing.T) {
	t.Parallel()
	turn := func(id string, kind models.Kind) models.TurnTotals {
		return models.TurnTotals{Turn: models.Turn{ID: id, ParticipantID: "ann", Number: 4, Kind: kind, Outcome: "step", StartedAt: at(0)}}
	}
	shown, err := turnOf(models.TurnRecord{
		Totals: turn("ann-t4", models.KindReply), Channel: models.ChannelSMS,
		Steps: []models.Step{{Number: 1, CreatedAt: at(1), Calls: encoded(t, []models.ToolCall{
			{Name: "list_memories", Arguments: "{}"}, {Name: "spawn", Arguments: `{"task":"When do they walk?","label":"walks"}`},
		})}},
		Subagents: []models.TurnRecord{{Totals: turn("ann-t4-s1-c1", models.KindSubagent), Steps: []models.Step{{Number: 1, Text: "At seven.", CreatedAt: at(2)}}}},
	})
	require.NoError(t, err)
	require.Len(t, shown.Subagents, 1)
	t.Run("P9", func(t *testing.T) {
		require.Equal(t, api.Origin{Workflow: "participant-ann", Channel: models.ChannelSMS, Turn: "ann-t4", Round: 1, Call: 1, Tool: "spawn"}, shown.Subagents[0].Origin)
	})
	require.Equal(t, "When do they walk?", shown.Subagents[0].Task)
	require.Equal(t, "walks", shown.Subagents[0].Label)
	require.Equal(t, "At seven.", shown.Subagents[0].Rounds[0].Text)
	require.Len(t, shown.Rounds, 1)
}
