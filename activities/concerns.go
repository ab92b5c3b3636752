package activities

import (
	"context"
	"fmt"

	"coachline/internal/tools"
	"coachline/models"
	"coachline/prompts"
)

// ConcernStore keeps the alerts that the coach raises itself.
type ConcernStore interface {
	ReportConcern(ctx context.Context, c models.Concern) (models.Alert, error)
}

// concerns raises alerts about one person, for the tool that reports them.
type concerns struct {
	tools  *ToolActivities
	person models.Participant
}

// ReportConcern implements tools.Concerns. It says what the safety text would say.
func (c concerns) ReportConcern(ctx context.Context, concern models.Concern) (tools.ConcernReport, error) {
	raised, err := c.tools.Alerts.ReportConcern(ctx, concern)
	if err != nil {
		return tools.ConcernReport{}, err
	}
	lines := c.tools.Helplines.Find(c.person.Phone, c.person.Locale)
	text, err := c.tools.Prompts.Fixed(prompts.SafetyText(raised.Safety), c.person.Locale, prompts.FixedData{
		Programme: c.tools.Programme, TeamAlerted: c.tools.AlertsTeam && raised.Pages, Weak: !raised.Pages, Lines: lines,
	})
	if err != nil {
		return tools.ConcernReport{}, fmt.Errorf("rendering the safety text: %w", err)
	}
	return tools.ConcernReport{Sentence: text, Numbers: lines.Numbers()}, nil
}
