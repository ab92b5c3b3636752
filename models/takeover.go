package models

import "time"

// Bounds of a take-over, and how long it lasts where nothing is said.
const (
	TakeOverDefault = 4 * time.Hour
	TakeOverMost    = 7 * 24 * time.Hour
)

// MissedTakenOver is the reason of a prompt that was missed because an operator
// wrote in the place of the coach, and the error code of rows that it stopped.
const MissedTakenOver = "taken_over"

// TakenOverByAlert stands for the operator of a take-over that an alert opened:
// any operator may take the conversation from it.
const TakenOverByAlert = "alert"

// TakeOver has an operator write in the place of the coach.
type TakeOver struct {
	ParticipantID string
	Until         time.Time
	// Force: also when another operator has the conversation.
	Force bool
	// Note is told to the coach, Reason is kept in the audit; both may be empty.
	Note, Reason string
	Actor        string
	Now          time.Time
}

// HandBack has the coach write again.
type HandBack struct {
	ParticipantID string
	// Waiting is what becomes of the texts that came meanwhile; empty: they are
	// answered if the newest is of today in the participant's zone, and marked as
	// read otherwise.
	Waiting WaitingAction
	// Note is told to the coach; it may be empty.
	Note  string
	Actor string
	Now   time.Time
}

// TakeOverEnd is the end of a take-over whose time has come.
type TakeOverEnd struct {
	ParticipantID string    `json:"participant_id"`
	Now           time.Time `json:"now"`
}

// TakenOverError says who has a conversation.
type TakenOverError struct{ By string }

// Error implements error.
func (e *TakenOverError) Error() string {
	return "the conversation is taken over by " + e.By + "; use force to take it from them"
}

// IsTakenOver reports whether an operator writes in the place of the coach.
func (p Participant) IsTakenOver() bool { return p.TakenOverBy != "" }
