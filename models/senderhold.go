package models

import "time"

// Refusal is what a refused text asks for beyond itself.
type Refusal struct {
	OutboxID string
	Class    CarrierClass
	Code     string // the carrier's error code; empty when there is none
	// Reported: the carrier took the text and refused it later, in a report.
	Reported bool
	Now      time.Time
}

// SenderHold is one row of table brakes: a sender whose texts wait because the
// carrier takes none of them.
type SenderHold struct {
	// Sender is a keyed hash of the number or service that sends, or of the account;
	// Name is the number or service, empty for the account.
	Sender   string `gorm:"primaryKey"`
	Name     string
	Class    CarrierClass
	Code     string
	OutboxID string // the last text that was refused
	Reported bool   // as in Refusal
	SetAt    time.Time
	// RefusedAt is the last refusal; UntilAt is when the next text may go.
	RefusedAt time.Time
	UntilAt   time.Time
}

// TableName implements gorm's Tabler.
func (SenderHold) TableName() string { return "brakes" }

// UnsettledQuery selects texts that the carrier took and has not finished
// with: last changed before Before, created after After, with an id above
// AfterID.
type UnsettledQuery struct {
	Before, After time.Time
	AfterID       string
	Limit         int
}

// AnswerValidity is how long after it was written a text that answers may be tried
// for: it is still an answer after hours.
const AnswerValidity = 12 * time.Hour

// Why a text is not posted any more; kept in the row's error code.
const (
	// CodeNewerReply: a reply that was written later has been sent.
	CodeNewerReply = "newer_reply"
	CodeStale      = "stale"       // the carrier did not take it while it was of use
	CodeQuiet      = "quiet_hours" // quiet hours have begun
	// CodeReassigned: the carrier says that the number has gone to another person.
	CodeReassigned = "reassigned"
)
