package models

import "time"

// MemoryJob is a turn whose texts are still to be remembered, a row of
// memory_queue.
type MemoryJob struct {
	TurnID        string `gorm:"primaryKey"`
	ParticipantID string
	QueuedAt      time.Time
	// ClaimedUntil is when the next batch may take it.
	ClaimedUntil time.Time
}

// TableName implements gorm's Tabler.
func (MemoryJob) TableName() string { return "memory_queue" }

// MemoryClaim asks for turns to remember.
type MemoryClaim struct {
	Now   time.Time
	Until time.Time // for how long no other batch takes them
	Limit int
}

// RememberTurnsInput names the turns of a batch, oldest first.
type RememberTurnsInput struct {
	TurnIDs []string `json:"turn_ids"`
}

// RememberTurnsResult counts what became of a batch.
type RememberTurnsResult struct {
	Remembered int `json:"remembered"`
	Left       int `json:"left,omitempty"` // for a later batch
	GivenUp    int `json:"given_up,omitempty"`
}
