package models

import (
	"time"

	"coachline/models/wire"
)

// ParticipantUpdate is a partial update of a participant's row.
type ParticipantUpdate struct {
	ID    string
	Patch ParticipantPatch
	// Waiting is what becomes of texts that came while the participant was paused;
	// empty: on resuming, they are answered if the newest is of today in the
	// participant's zone, and marked as read otherwise.
	Waiting WaitingAction
	// IfMatch, when not nil, must equal the row's version (ErrStale otherwise).
	IfMatch *int64
	Actor   string
	Now     time.Time
}

// Enrolment is who asks for an enrolment. Equal requests with equal keys are one
// enrolment; without a key each is its own.
type Enrolment struct {
	Actor string
	// Key is the caller's idempotency key, Body the request it stands for.
	Key, Body string
	// Consent is the person's agreement to take part in the study; nil where none
	// was recorded.
	Consent *StudyConsent
	// Strata holds the levels of the study's strata that are known, by name.
	Strata map[string]string
}

// Removal takes a participant out of the programme.
type Removal struct {
	ID string
	// IfMatch, when not nil, must equal the row's version (ErrStale otherwise).
	IfMatch *int64
	Actor   string
	Now     time.Time
}

// UserActorPrefix begins the actor of a person who signs in.
const UserActorPrefix = "user:"

// OperatorMessage is a text that an operator wants sent.
type OperatorMessage struct {
	ParticipantID string
	Body          string
	// Key is the operator's idempotency key; equal keys of one participant
	// are one message.
	Key string
	// Force: also when another operator has the conversation, or has just written.
	Force bool
	Actor string
	Now   time.Time
}

// ParticipantQuery selects a page of participants, ordered by id.
type ParticipantQuery struct {
	Status wire.Status // empty: any
	// Attention: only people who need it for this; empty: everybody.
	Attention wire.Attention
	// Waiting: only people with texts that wait for an operator.
	Waiting bool
	// TakenOver: only people whose conversation an operator has taken over.
	TakenOver bool
	After     string // id of the last row of the page before; empty: from the start
	Limit     int    // 1..200
}
