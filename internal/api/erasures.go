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

// Erasure is the receipt of an erasure: what stays of the person, and how far it has
// come.
type Erasure struct {
	ParticipantID   string              `json:"participant_id" doc:"The pseudonym under which figures are kept."`
	State           models.ErasureState `json:"state" enum:"ending,history,rows,carrier,done" doc:"The step that is next. ending: the workflow is ending. history: Temporal's histories are being deleted. rows: the tables are being emptied. carrier: the carrier is deleting its copies. done: nothing is left."`
	RequestedBy     string              `json:"requested_by"`
	Reason          string              `json:"reason,omitempty"`
	RequestedAt     time.Time           `json:"requested_at"`
	FinishedAt      *time.Time          `json:"finished_at,omitempty"`
	Rows            map[string]int64    `json:"rows" nullable:"false" doc:"How many rows of each table were emptied or deleted."`
	Executions      int64               `json:"executions" doc:"Workflow runs whose histories were deleted."`
	CarrierMessages int64               `json:"carrier_messages" doc:"Messages that the carrier has deleted."`
	CarrierUnknown  int64               `json:"carrier_unknown" doc:"Messages that may be at the carrier under an id that never came back; delete them in its console."`
	Suppressed      bool                `json:"suppressed" doc:"A number had opted out. A keyed hash of it is kept, so that the opt-out is honoured."`
	Problem         string              `json:"problem,omitempty" doc:"Why the carrier has not deleted everything yet; it is asked again."`
	Notes           []string            `json:"notes" nullable:"false" doc:"What the erasure does not reach."`
}

// ErasurePage is one page of erasures, newest first; NextCursor is null on the last.
type ErasurePage struct {
	Erasures   []Erasure `json:"erasures" nullable:"false"`
	NextCursor *string   `json:"next_cursor"`
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
