package subagent

import (
	"coachline/models"
)

// Input is the argument of a subagent's workflow.
type Input struct {
	ParticipantID string          `json:"participant_id"`
	Mode          models.Mode     `json:"mode"`
	Subagent      models.Subagent `json:"subagent"`
}

// Result is how it ended: SourceStep, SourceFailed, or SourceSilent
// where it was stopped. Unheard: the participant's workflow was gone.
type Result struct {
	Source  models.TextSource `json:"source"`
	Rounds  int               `json:"rounds"`
	Unheard bool              `json:"unheard,omitempty"`
}
