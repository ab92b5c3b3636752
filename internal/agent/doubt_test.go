package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/models"
)

// TestDoubtedPersonIsUnknown: while a number may have gone to another person, a model
// reads nothing that is known of them, and what came since the doubt.
func TestDoubtedPersonIsUnknown(t *testing.T) {
	since := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	turn := models.TurnContext{
		Participant: models.Participant{Phone: "+12025550123", MemoryVersion: 3},
		Profile:     models.Profile{LastHabitPrompt: "canary", PreparedPrompt: "canary"},
		Window: []models.Message{
			{Role: models.RoleUser, Text: "canary", At: since.Add(-time.Hour)}, {Role: models.RoleUser, Text: "who is this", At: since},
		},
		Recent: []models.PastPrompt{{Text: "canary"}}, Instruction: "canary",
	}
	for _, text := range turn.Participant.All() {
		*text = "canary"
	}
	for _, text := range turn.Profile.All() {
		*text = "canary"
	}
	seen := func() string {
		clean, err := agent.NewCleaner().Turn(turn)
		require.NoError(t, err)
		raw, err := json.Marshal(clean)
		require.NoError(t, err)
		return string(raw)
	}
	require.Contains(t, seen(), "canary")
	turn.Participant.DoubtedAt = &since
	require.NotContains(t, seen(), "canary")
	require.Contains(t, seen(), "who is this")
	require.Contains(t, seen(), `"MemoryVersion":0`)
}
