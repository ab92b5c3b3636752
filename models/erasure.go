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
	// ParticipantID is the pseudonym under which figures are kept.
	ParticipantID string `gorm:"primaryKey"`
	State         ErasureState
	RequestedBy   string
	RequestedAt   time.Time
	UpdatedAt     time.Time
	FinishedAt    *time.Time
	// Suppressed: a number of the person's had opted out, and stays so as a keyed
	// hash.
	Suppressed bool
	// Executions is how many workflow runs were deleted.
	Executions int64
	// CarrierMessages is how many messages the carrier has deleted.
	CarrierMessages int64
	// CarrierUnknown is how many messages may be at the carrier under an id that we
	// never learned.
	CarrierUnknown int64
	// Problem is why the carrier has not deleted everything; no personal data.
	Problem string
	// Counts is how many rows of each table were emptied or deleted, as JSON.
	Counts map[string]int64 `gorm:"serializer:json"`
	// Reason is what the operator wrote. It stays, sealed.
	Reason string `gorm:"serializer:sealed"`

	// Unreadable names sealed columns that could not be opened; lists only.
	Unreadable string `gorm:"-"`
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
	// Before is the last row of the page before.
	Before string
	Limit  int // 1..200
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
