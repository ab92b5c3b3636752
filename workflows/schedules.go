package workflows

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

var errNoSchedule = errors.New("id: is required")

// handleSchedules declares the update by which an operator changes daily prompts.
// What the rules refuse is the update's error.
func (p *participant) handleSchedules(ctx workflow.Context) error {
	return registerUpdate(ctx, p, spec[wire.ScheduleAsk]{
		name: wire.UpdateChangeSchedules, about: "add, change, move or remove daily prompts",
		command: func(ask wire.ScheduleAsk) wire.Command {
			ask.ByOperator = true
			return wire.Command{Kind: wire.CommandSchedule, Schedule: &ask}
		},
		valid: func(ask wire.ScheduleAsk) error {
			if ask.ID == "" && ask.NewID == "" {
				return errNoSchedule
			}
			return nil
		},
	})
}
