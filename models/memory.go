package models

import (
	"errors"
	"time"
)

// FactKind sorts what is remembered of a person.
type FactKind string

const (
	FactIdentity   FactKind = "identity"
	FactPreference FactKind = "preference"
	FactGoal       FactKind = "goal"
	FactConstraint FactKind = "constraint"
	// FactEvent is something that happened, true at its time.
	FactEvent FactKind = "event"
)

// FactKinds lists every kind in the order they are documented.
func FactKinds() []FactKind {
	return []FactKind{FactIdentity, FactPreference, FactGoal, FactConstraint, FactEvent}
}

// Fact is one row of table facts: the current version of something that a
// participant told. It is personal data.
type Fact struct {
	// ID keeps its value through updates: f1, f2, ... of one participant.
	ID            string        `gorm:"primaryKey" json:"id"`
	Kind          FactKind      `json:"kind"`
	ParticipantID string        `gorm:"primaryKey" json:"-"`
	Text          string        `gorm:"serializer:sealed" json:"text"`
	SourceID      int64         `json:"source_entry" doc:"Entry of the conversation that it was learnt from."`
	TurnID        string        `json:"turn_id"`
	Version       int           `json:"version"`
	UpdatedAt     time.Time     `json:"updated_at"`
	Before        []FactVersion `gorm:"-" json:"before" nullable:"false"`
	CreatedAt     time.Time     `json:"-"`
	DeletedAt     *time.Time    `json:"-"`
}

// FactVersion is one row of table fact_versions: what a fact said before. It
// is personal data.
type FactVersion struct {
	Version       int       `gorm:"primaryKey" json:"version"`
	Kind          FactKind  `json:"kind"`
	FactID        string    `gorm:"primaryKey" json:"-"`
	ParticipantID string    `gorm:"primaryKey" json:"-"`
	Text          string    `gorm:"serializer:sealed" json:"text"`
	SourceID      int64     `json:"source_entry"`
	TurnID        string    `json:"turn_id"`
	At            time.Time `json:"at"`
}

// DuplicateFactError says that the person has a fact of the same meaning
// already.
type DuplicateFactError struct {
	// FactID is the fact that is there.
	FactID string
}

func (e *DuplicateFactError) Error() string { return "fact " + e.FactID + " says the same" }

// ErrMemoryFull says that no further fact of this person can be kept.
var ErrMemoryFull = errors.New("memory is full")

// Forgetting says whose facts are erased, by whom (an operator's name,
// "participant") and when. FactID is empty where all of them are.
type Forgetting struct {
	ParticipantID string
	FactID        string
	Actor         string
	At            time.Time
}

// FoundFact is a fact that a search brought up. Score is 0..1 and orders the hits
// of one search, Likeness is the cosine with the query's vector, 0 without one.
type FoundFact struct {
	Fact     Fact
	Score    float64
	Likeness float64
	// ByWords: found by keywords, not by similarity.
	ByWords bool
	// ByField: found by words of one thing or a related one alone, which may be chance.
	ByField bool
}

// FactQuery searches the facts of one participant. A nil Vector or one of
// another length than the stored ones leaves the keyword search.
type FactQuery struct {
	ParticipantID string
	Vector        []float32
	Words         []string
	From, To      *time.Time // of the last update
	Limit         int        // 0 is 3
	// Diary: the notes of days before the last three take part, as events.
	Diary bool
	// Messages: what the person wrote before our newest text takes part, as events. It is not
	// masked.
	Messages bool
}

// Note is one row of table notes: the note of one local day. It is personal
// data.
type Note struct {
	LocalDate     string    `gorm:"primaryKey" json:"local_date"` // YYYY-MM-DD in the person's zone
	ParticipantID string    `gorm:"primaryKey" json:"-"`
	Text          string    `gorm:"serializer:sealed" json:"text"`
	UpdatedAt     time.Time `json:"updated_at"`
	// UptoMessage is the newest entry of the conversation that it covers.
	UptoMessage int64 `json:"-"`
	// Version is 1 for the first text of the day. Who writes a text gives the
	// version it was made from, 0 for none.
	Version int `json:"-"`
}

// Summary is one row of table summaries: what the conversation held before the
// window. It is personal data.
type Summary struct {
	ParticipantID string `gorm:"primaryKey"`
	Text          string `gorm:"serializer:sealed"`
	UptoMessage   int64
	// Version is 1 for the first summary. Who writes one gives the version it
	// was made from, 0 for none.
	Version   int
	UpdatedAt time.Time
}

// Memory is what is known of a person beside profile and window, as of one
// instant.
type Memory struct {
	Facts   []Fact // newest first, without deleted ones
	Notes   []Note // newest first, at most three
	Summary Summary
}

// Closing is what a conversation that rests came to. It is stored as a whole or
// not at all.
type Closing struct {
	ParticipantID string
	// MemoryVersion is the state of the person's memory that it was made from.
	MemoryVersion int64
	Facts         []FactChange
	Note          Note
	// Summary is nil where none was due.
	Summary *Summary
}

// FactChange is a fact to save, or where it has an ID the newest text of one.
// Vector may be nil.
type FactChange struct {
	Fact   Fact
	Vector []float32
}

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
