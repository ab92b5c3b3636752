package models

import "time"

// ErasureState is the step of an erasure that is to be done next.
type ErasureState string

const (
	// ErasureEnding: the participant is removed, and the workflow is ending.
	ErasureEnding ErasureState = "ending"
	// ErasureHistory: executions are terminated and their histories deleted.
	ErasureHistory ErasureState = "history"
	// ErasureRows: the person's rows and columns are emptied.
	ErasureRows ErasureState = "rows"
	// ErasureCarrier: the carrier is asked to delete its copies.
	ErasureCarrier ErasureState = "carrier"
	// ErasureDone: nothing is left to do.
	ErasureDone ErasureState = "done"
)

// Erasure is one row of table erasures: what stays of a person who was erased, and
// how far the erasure has come. It holds no personal data.
type Erasure struct {
	ParticipantID string       `gorm:"primaryKey" json:"participant_id" doc:"The pseudonym under which figures are kept."`
	State         ErasureState `json:"state" enum:"ending,history,rows,carrier,done" doc:"The step that is next. ending: the workflow is ending. history: Temporal's histories are being deleted. rows: the tables are being emptied. carrier: the carrier is deleting its copies. done: nothing is left."`
	RequestedBy   string       `json:"requested_by"`
	// Reason is what the operator wrote. It stays, sealed.
	Reason          string           `gorm:"serializer:sealed" json:"reason,omitempty"`
	RequestedAt     time.Time        `json:"requested_at"`
	FinishedAt      *time.Time       `json:"finished_at,omitempty"`
	Rows            map[string]int64 `gorm:"column:counts;serializer:json" json:"rows" nullable:"false" doc:"How many rows of each table were emptied or deleted."`
	Executions      int64            `json:"executions" doc:"Workflow runs whose histories were deleted."`
	CarrierMessages int64            `json:"carrier_messages" doc:"Messages that the carrier has deleted."`
	CarrierUnknown  int64            `json:"carrier_unknown" doc:"Messages that may be at the carrier under an id that never came back; delete them in its console."`
	Suppressed      bool             `json:"suppressed" doc:"A number had opted out. A keyed hash of it is kept, so that the opt-out is honoured."`
	Problem         string           `json:"problem,omitempty" doc:"Why the carrier has not deleted everything yet; it is asked again."`
	Notes           []string         `gorm:"-" json:"notes" nullable:"false" doc:"What the erasure does not reach."`
	UpdatedAt       time.Time        `json:"-"`
	// Unreadable names sealed columns that could not be opened; lists only.
	Unreadable string `gorm:"-" json:"-"`
}

// Suppression is one row of table suppressions: an opt-out of a number that is
// known as a keyed hash only.
type Suppression struct {
	PhoneIndex string `gorm:"primaryKey"`
	Method     ConsentMethod
	RecordedBy string
	At         time.Time
}

// ErasureRequest asks for the erasure of a participant, enrolled or removed.
type ErasureRequest struct {
	ParticipantID string
	Actor, Reason string
	Now           time.Time
}

// ErasureQuery selects a page of erasures, newest first.
type ErasureQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"cursor" maxLength:"64" doc:"next_cursor of the page before."`
}

// ErasureStep ends a step of an erasure.
type ErasureStep struct {
	ParticipantID string
	From, To      ErasureState
	Now           time.Time
}

// CarrierCopy is a message of an erased person that the carrier may still keep.
type CarrierCopy struct {
	// Table and RowID name our row of it.
	Table, RowID string
	ProviderSID  string
	// HasMedia: pictures or voice notes came with it.
	HasMedia bool
}

// StrangersForgotten asks to empty texts of people who were never enrolled: those from
// before an instant, of one number where it is set, at most Limit of them. An Actor has it
// recorded in the audit.
type StrangersForgotten struct {
	Before time.Time
	Phone  string
	Limit  int
	Actor  string
	Now    time.Time
}
