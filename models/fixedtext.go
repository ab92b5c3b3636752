package models

import (
	"time"

	"coachline/models/wire"
)

// Hint is one row of table hints: the one fixed text that a sender who is not
// enrolled gets on a local day. It holds no text and no number.
type Hint struct {
	// ID is the beginning of the sender's blind index and the local date, so
	// that a second one cannot exist.
	ID          string `gorm:"primaryKey"`
	InboundID   int64  // the text that it answers
	Status      wire.OutboxStatus
	ErrorCode   string
	CreatedAt   time.Time
	ToldAt      *time.Time // when Temporal was told to send it
	ProviderSID string
	UpdatedAt   time.Time
	// JoinID and Purpose are of a text to a person who wants to join a study; empty
	// for the hint to a stranger.
	JoinID  string
	Purpose HintPurpose
}

// HintClaim is the answer to "may I send this hint now?".
type HintClaim struct {
	To   string // E.164
	Post bool
	// Status is where the row stands when it is not to be posted.
	Status wire.OutboxStatus
	// Wait is how long to wait before the next claim, because the sender is stopped.
	Wait time.Duration
}

// HintResult ends an attempt to send a hint: ready when the carrier refused it
// for sure and it may be tried again.
type HintResult struct {
	ID          string
	Status      wire.OutboxStatus
	ProviderSID string
	ErrorCode   string
	// Segments is how many the carrier took the text in.
	Segments int
	Now      time.Time
}

// LimitNotice asks for the fixed text that tells a participant of the limit.
type LimitNotice struct {
	InboundID int64 // the first text above the limit
	Body      string
	Now       time.Time
}

// Ask is a fixed text that asks a participant what a text of theirs meant.
type Ask struct {
	InboundID int64
	Body      string
	// IsHelp: it answers a HELP, which is all that a person who opted out may get.
	IsHelp bool
	Now    time.Time
}

// FixedTextValidity is how long after the text that it answers a fixed text of the
// starter is still sent: the time in which quiet hours do not hold for an
// answer.
const FixedTextValidity = 10 * time.Minute
