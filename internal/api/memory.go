package api

import (
	"time"

	"coachline/models"
)

// Memory is what is remembered of a person. It holds personal data.
type Memory struct {
	Facts   []models.Fact `json:"facts" nullable:"false"`
	Notes   []models.Note `json:"notes" nullable:"false"`
	Summary Summary       `json:"summary"`
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
