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
	// Force: also when another operator has the conversation.
	Force bool
	// Note is told to the coach; it may be empty.
	Note  string
	Actor string
	Now   time.Time
}

// TakenOverError says which other operator has a conversation, or has just written in
// it.
type TakenOverError struct {
	By string
	// Wrote: they have written, and not taken the conversation over.
	Wrote bool
}

func (e *TakenOverError) Error() string {
	if e.Wrote {
		return "force: " + e.By + " has written to the person in the last minutes; read it, and set force to write all the same"
	}
	return "force: the conversation is taken over by " + e.By + "; set force to do it all the same"
}

// JustWritten is how long after an operator's message another operator is asked before
// writing as well.
const JustWritten = 10 * time.Minute

// IsOthers reports whether an operator other than this one has the conversation. One
// that an alert took over is anybody's.
func (p Participant) IsOthers(actor string) bool {
	return p.IsTakenOver() && p.TakenOverBy != actor && p.TakenOverBy != TakenOverByAlert
}

// IsTakenOver reports whether an operator writes in the place of the coach.
func (p Participant) IsTakenOver() bool { return p.TakenOverBy != "" }
