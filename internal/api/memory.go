package api

import (
	"time"

	"coachline/models"
)

// Memory is what is remembered of a person. It holds personal data.
type Memory struct {
	Facts   []Fact  `json:"facts" nullable:"false"`
	Notes   []Note  `json:"notes" nullable:"false"`
	Summary Summary `json:"summary"`
}

// Fact is a fact and what it said before, newest first.
type Fact struct {
	ID      string          `json:"id"`
	Kind    models.FactKind `json:"kind"`
	Text    string          `json:"text"`
	Source  int64           `json:"source_entry" doc:"Entry of the conversation that it was learnt from."`
	TurnID  string          `json:"turn_id"`
	Version int             `json:"version"`
	At      time.Time       `json:"updated_at"`
	Before  []FactVersion   `json:"before" nullable:"false"`
}

// FactVersion is an earlier version of a fact.
type FactVersion struct {
	Version int             `json:"version"`
	Kind    models.FactKind `json:"kind"`
	Text    string          `json:"text"`
	Source  int64           `json:"source_entry"`
	TurnID  string          `json:"turn_id"`
	At      time.Time       `json:"at"`
}

// Note is the note of a local day.
type Note struct {
	LocalDate string    `json:"local_date"`
	Text      string    `json:"text"`
	At        time.Time `json:"updated_at"`
}

// Summary is the summary of what the window no longer holds; Text is empty
// where there is none.
type Summary struct {
	Text string     `json:"text"`
	At   *time.Time `json:"updated_at"`
}

// Forgotten says how many facts were erased by a request.
type Forgotten struct {
	Facts int `json:"facts"`
}
