package models

import "time"

// ParticipantUpdate is a partial update of a participant's row.
type ParticipantUpdate struct {
	ID    string
	Patch ParticipantPatch
	// IfMatch, when not nil, must equal the row's version (ErrStale otherwise).
	IfMatch *int64
	Actor   string
	Now     time.Time
}

// OperatorMessage is a text that an operator wants sent.
type OperatorMessage struct {
	ParticipantID string
	Body          string
	// Key is the operator's idempotency key; equal keys of one participant
	// are one message.
	Key   string
	Actor string
	Now   time.Time
}

// AcceptedInbound is what became of a delivered text.
type AcceptedInbound struct {
	Inbound Inbound
	// Duplicate: this provider id was claimed before; nothing was written.
	Duplicate bool
	// NoticeID is the notice to deliver; 0 for strangers and duplicates.
	NoticeID int64
}
