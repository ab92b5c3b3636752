package api

import (
	"time"

	"coachline/models"
)

// Consent is an entry of the consent ledger. Text is personal data.
type Consent struct {
	Action models.ConsentAction `json:"action"`
	Method models.ConsentMethod `json:"method"`
	At     time.Time            `json:"at"`
	Actor  string               `json:"actor" doc:"participant, carrier, or an operator's name."`
	Text   string               `json:"text" doc:"The person's own text; empty where there was none."`
	TurnID string               `json:"confirmed_by,omitempty" doc:"The turn that confirmed it."`
}

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
