package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// While a crisis is open, HELP begins with the safety text, which says that the team is
// told only where it is, and the confirmation of a STOP has the emergency numbers.
func TestAnswersInACrisis(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	turns := &TurnLoader{Prompts: library, Programme: "Steps"}
	calm := models.TurnContext{Participant: models.Participant{Locale: "en-US"}}
	crisis := models.TurnContext{Participant: models.Participant{Locale: "en-US", Attention: wire.AttentionCrisis}}
	answer := func(kind wire.TurnKind, turn models.TurnContext) string {
		text, err := turns.answerText(kind, turn)
		require.NoError(t, err)
		return text
	}
	for _, turn := range []models.TurnContext{calm, crisis} {
		require.Contains(t, answer(wire.TurnHelp, turn), "In danger? Call 911.")
	}
	require.NotContains(t, answer(wire.TurnHelp, calm), "In danger now?")
	require.Regexp(t, `(?s)no person may read this soon.*988.*automated habit coach`, answer(wire.TurnHelp, crisis))
	violence := crisis
	violence.Safety = models.SafetyViolence
	require.NotContains(t, answer(wire.TurnHelp, violence), "988", "another may read the phone")
	turns.AlertsTeam = true
	require.Regexp(t, `(?s)is being told.*988.*automated habit coach`, answer(wire.TurnHelp, crisis))

	calm.Participant.Status, crisis.Participant.Status = wire.StatusOptedOut, wire.StatusOptedOut
	require.NotContains(t, answer(wire.TurnConsent, calm), "988")
	require.Contains(t, answer(wire.TurnConsent, crisis), "988")
	require.Contains(t, answer(wire.TurnConsent, crisis), "START")
}
