package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/prompts"
)

// While a crisis is open, HELP begins with the safety text, which says that the team is
// told only where it is, and the confirmation of a STOP has the emergency numbers.
func TestAnswersInACrisis(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	turns := &TurnLoader{Prompts: library, Programme: "Steps"}
	calm := models.TurnContext{Participant: models.Participant{Locale: "en-US"}}
	crisis := models.TurnContext{Participant: models.Participant{Locale: "en-US", Attention: models.AttentionCrisis}}
	answer := func(kind models.TurnKind, turn models.TurnContext) string {
		text, err := turns.answerText(kind, turn)
		require.NoError(t, err)
		return text
	}
	for _, turn := range []models.TurnContext{calm, crisis} {
		require.Contains(t, answer(models.TurnHelp, turn), "In danger? Call your local emergency number")
	}
	require.NotContains(t, answer(models.TurnHelp, calm), "In danger now?")
	require.Regexp(t, `(?s)no person may read this soon.*988.*automated habit coach`, answer(models.TurnHelp, crisis))
	turns.AlertsTeam = true
	require.Regexp(t, `(?s)is being told.*988.*automated habit coach`, answer(models.TurnHelp, crisis))

	calm.Participant.Status, crisis.Participant.Status = models.StatusOptedOut, models.StatusOptedOut
	require.NotContains(t, answer(models.TurnConsent, calm), "988")
	require.Contains(t, answer(models.TurnConsent, crisis), "988")
	require.Contains(t, answer(models.TurnConsent, crisis), "START")
}
