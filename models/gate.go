package models

import "time"

// Gate says what kept an inbound text from the coach. Every text is stored,
// whatever its gate; texts that act by consent rules have none.
type Gate string

const (
	// GateNone: the text went to the coach, or acted by consent rules.
	GateNone Gate = ""
	// GateRateLimited: the sender had sent as many texts as the programme takes.
	GateRateLimited Gate = "rate_limited"
	// GateLoop: the text at which the sender was taken for a machine. GateMuted
	// is what that sender sent while it was muted.
	GateLoop  Gate = "loop"
	GateMuted Gate = "muted"
	// GateEmpty: nothing to see and no picture.
	GateEmpty Gate = "empty"
	// GateStranger: the sender is not enrolled.
	GateStranger Gate = "unknown_sender"
)

// LoopReason says what a sender was taken for a machine for.
type LoopReason string

const (
	LoopNone LoopReason = ""
	// LoopRepeats: the same text again and again.
	LoopRepeats LoopReason = "repeats"
	// LoopExchanges: an answer to every reply within seconds.
	LoopExchanges LoopReason = "exchanges"
)

// Hint is one row of table hints: the one fixed text that a sender who is not
// enrolled gets on a local day. It holds no text and no number.
type Hint struct {
	// ID is the beginning of the sender's blind index and the local date, so
	// that a second one cannot exist.
	ID          string `gorm:"primaryKey"`
	InboundID   int64  // the text that it answers
	Status      OutboxStatus
	ErrorCode   string
	CreatedAt   time.Time
	ToldAt      *time.Time // when Temporal was told to send it
	ProviderSID string
	UpdatedAt   time.Time
}

// HintClaim is the answer to "may I send this hint now?".
type HintClaim struct {
	To   string // E.164
	Post bool
	// Status is where the row stands when it is not to be posted.
	Status OutboxStatus
}

// HintResult ends an attempt to send a hint: ready when the carrier refused it
// for sure and it may be tried again.
type HintResult struct {
	ID          string
	Status      OutboxStatus
	ProviderSID string
	ErrorCode   string
	Now         time.Time
}

// LimitNotice asks for the fixed text that tells a participant of the limit.
type LimitNotice struct {
	InboundID int64 // the first text above the limit
	Body      string
	Now       time.Time
}

// Activities that the front door starts without a workflow: fixed texts that no
// turn belongs to.
const (
	ActivitySendHint        = "SendHint"
	ActivitySendLimitNotice = "SendLimitNotice"
)

// SendHintInput is the argument of ActivitySendHint.
type SendHintInput struct {
	HintID string `json:"hint_id"`
}

// SendLimitInput is the argument of ActivitySendLimitNotice.
type SendLimitInput struct {
	InboundID int64 `json:"inbound_id"`
}

// FrontTextLife is how long after the text that it answers a fixed text of the
// front door is still sent: the time in which quiet hours do not hold for an
// answer (messaging facts 1.5).
const FrontTextLife = 10 * time.Minute
