package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// TestPlannedPromptOfAnOptOutIsMissed: an opt-out that comes between slot and prompt
// drops the prompt, which is recorded as missed.
func TestPlannedPromptOfAnOptOutIsMissed(t *testing.T) {
	slot := wire.Slot{Date: "2026-01-15"}
	p := &participant{plans: []wire.TurnPlan{{Kind: wire.TurnPrompt, ScheduleID: "s1", Slot: slot}, {Kind: wire.TurnMessage}, {Kind: wire.TurnReminder}}}
	p.setStatus(wire.StatusOptedOut)
	require.Equal(t, []wire.TurnPlan{{Kind: wire.TurnMessage}}, p.plans)
	require.Equal(t, []wire.MissedPrompt{{ScheduleID: "s1", Slot: slot, Reason: "opted_out"}}, p.unsaved.missed)
}
