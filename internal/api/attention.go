package api

import (
	"time"

	"coachline/models/wire"
)

// Attention is one thing that an operator should look at. Name, Phone and Reason are personal data.
type Attention struct {
	ParticipantID string         `json:"participant_id" doc:"Empty for numbers that are not enrolled."`
	Name          string         `json:"name"`
	Phone         string         `json:"phone_number,omitempty" doc:"The number that is not enrolled, of flood. Left out for callers who may not see personal data."`
	Kind          wire.Attention `json:"kind" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice" doc:"crisis: a message may be a crisis. person: they asked for a human. unreachable: the carrier cannot reach the number. send: an answer was given up undelivered. refusal: the model refused to answer. lost_rows: the database has lost what it had stored of them. flood: more messages came than are answered; all numbers that are not enrolled have one, which ends by itself when none came for a day. wrong_number: a message said that the number is not theirs, and coaching is paused. erasure: they want their data deleted, or a deletion failed. language: a message is in a language that the screening does not read."`
	Since         time.Time      `json:"since"`
	Ref           string         `json:"ref,omitempty" doc:"What raised it first: an inbound message, an outbound message or a turn."`
	Code          string         `json:"code,omitempty" doc:"Error code of the carrier or the model, or why messages are held."`
	Reason        string         `json:"reason,omitempty" doc:"Of person: what they want a human for. Left out for callers who may not see personal data."`
	TakenOver     *TakeOver      `json:"taken_over,omitempty" doc:"Set while an operator writes to the person in the place of the coach."`
	// Alerts are those of the participant, not of one entry.
	AcknowledgedBy string     `json:"acknowledged_by,omitempty" doc:"Of a crisis: the operator who acknowledged the last of the person's alerts; absent while one is not acknowledged."`
	AcknowledgedAt *time.Time `json:"acknowledged_at,omitempty"`
}

// AttentionPage is one page, oldest first; NextCursor is null on the last.
type AttentionPage struct {
	Attention  []Attention `json:"attention" nullable:"false"`
	NextCursor *string     `json:"next_cursor"`
}

// AttentionClearing ends a participant's attention. Note may hold personal data;
// it is sealed, and the audit does not repeat it.
type AttentionClearing struct {
	Clear bool   `json:"clear" enum:"true" doc:"Must be true."`
	Note  string `json:"note,omitempty" maxLength:"2000" doc:"What was done; kept sealed with the alert."`
}

// AttentionCleared is where the attention of a participant stands: none.
type AttentionCleared struct {
	ID        string         `json:"id"`
	Attention wire.Attention `json:"attention" doc:"Empty: the participant needs no attention."`
	Version   int64          `json:"version"`
}
