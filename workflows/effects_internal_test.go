package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// TestPlannedPromptOfAnOptOutIsMissed: an opt-out that comes between slot and prompt
// drops the prompt, which is recorded as missed.
func TestPlannedPromptOfAnOptOutIsMissed(t *testing.T) {
	slot := models.Slot{Date: "2026-01-15"}
	p := &participant{plans: []models.TurnPlan{{Kind: models.TurnPrompt, ScheduleID: "s1", Slot: slot}, {Kind: models.TurnMessage}, {Kind: models.TurnReminder}}}
	p.setStatus(models.StatusOptedOut)
	require.Equal(t, []models.TurnPlan{{Kind: models.TurnMessage}}, p.plans)
	require.Equal(t, []models.MissedPrompt{{ScheduleID: "s1", Slot: slot, Reason: "opted_out"}}, p.unsaved.missed)
}
