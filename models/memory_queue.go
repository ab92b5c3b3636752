package models

import "time"

// MemoryJob is a conversation that is still to be closed, a row of memory_queue.
// A person has one at most while none is being worked on.
type MemoryJob struct {
	// TurnID is the newest turn that leaves something to remember.
	TurnID        string `gorm:"primaryKey"`
	ParticipantID string
	// QueuedAt is when the first of its turns ended.
	QueuedAt time.Time
	// ClaimedUntil is when a batch may take it: once the conversation has rested,
	// and again when the claim of a batch is over.
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
