package wire

import "time"

// Subagent is a task that the model gave away. Its words are in the rows of the
// call and of its own turn.
type Subagent struct {
	TurnID string `json:"turn_id,omitempty"` // models.SubagentTurnID(...)
	// Wait: the call waits for the result. Tell: the person is sent it.
	Wait bool `json:"wait,omitempty"`
	Tell bool `json:"tell,omitempty"`
	// Failed: it ended without a result.
	Failed bool `json:"failed,omitempty"`
}

// SubagentStart says when a subagent was started, and whether it is over.
type SubagentStart struct {
	TurnID string    `json:"turn_id"`
	At     time.Time `json:"at"`
	Over   bool      `json:"over,omitempty"`
}

// SubagentInput is the argument of a subagent's workflow.
type SubagentInput struct {
	ParticipantID string   `json:"participant_id"`
	Mode          Mode     `json:"mode"`
	Subagent      Subagent `json:"subagent"`
	// Study is the participant's; empty is the default one.
	Study string `json:"study,omitempty"`
}

// SubagentResult is how it ended: SourceStep, SourceFailed, or SourceSilent
// where it was stopped. Undelivered: the participant's workflow was gone.
type SubagentResult struct {
	Source      TextSource `json:"source"`
	Steps       int        `json:"rounds"`
	Undelivered bool       `json:"unheard,omitempty"`
}
