package api

import (
	"time"

	"coachline/models"
)

// NewErasure asks for the erasure of a participant.
type NewErasure struct {
	Confirm string `json:"confirm" maxLength:"64" doc:"The participant's id once more."`
	Reason  string `json:"reason,omitempty" maxLength:"500" doc:"Why. It is kept, sealed, and must not name the person."`
}

// ErasurePage is one page of erasures, newest first; NextCursor is null on the last.
type ErasurePage struct {
	Erasures   []models.Erasure `json:"erasures" nullable:"false"`
	NextCursor *string          `json:"next_cursor"`
}

// StrangerNumber names a number that is not enrolled.
type StrangerNumber struct {
	Phone string `json:"phone_number" minLength:"1" maxLength:"40"`
}

// StrangerForgotten says what became of the texts of a number.
type StrangerForgotten struct {
	Texts int      `json:"texts" doc:"How many texts were emptied."`
	Notes []string `json:"notes" nullable:"false" doc:"What this does not reach."`
}

// PersonData is everything that is held about one person.
type PersonData struct {
	ParticipantID string             `json:"participant_id"`
	At            time.Time          `json:"at" doc:"When it was read."`
	Tables        []models.HeldTable `json:"tables" nullable:"false" doc:"The tables that hold something of the person."`
	Notes         []string           `json:"notes" nullable:"false" doc:"What else may be held, and where."`
}
