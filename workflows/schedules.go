package workflows

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"coachline/models"
)

var errNoSchedule = errors.New("id: is required")

// handleSchedules declares the update by which an operator changes daily prompts.
// What the rules refuse is the update's error.
func (p *participant) handleSchedules(ctx workflow.Context) error {
	return registerUpdate(ctx, p, spec[models.ScheduleAsk]{
		name: models.UpdateChangeSchedules, about: "add, change, move or remove daily prompts",
		command: func(ask models.ScheduleAsk) models.Command {
			ask.ByOperator = true
			return models.Command{Kind: models.CommandSchedule, Schedule: &ask}
		},
		valid: func(ask models.ScheduleAsk) error {
			if ask.ID == "" && ask.NewID == "" {
				return errNoSchedule
			}
			return nil
		},
	})
}
