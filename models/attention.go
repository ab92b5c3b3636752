package models

import (
	"time"

	"coachline/models/wire"
)

// AttentionEntry is one row of table attention: a participant needed an
// operator, from RaisedAt until EndedAt. A participant has one open entry of a
// kind at most, and so have all numbers together that are not enrolled. It holds no
// personal data.
type AttentionEntry struct {
	ID int64 `gorm:"primaryKey"`
	// ParticipantID is empty for numbers that are not enrolled.
	ParticipantID string
	Kind          wire.Attention
	// Ref names what raised it: an inbound row, an outbox row or a turn.
	Ref string
	// Code is the carrier's or model's error code, or the limit of a message.
	Code     string
	RaisedAt time.Time
	EndedAt  *time.Time
}

// TableName is the table's name.
func (AttentionEntry) TableName() string { return "attention" }

// OpenAttention is an open entry.
type OpenAttention struct {
	AttentionEntry
	// Person has the participant's name, which is personal data, and who has taken
	// their conversation over.
	Person Participant
	// AcknowledgedBy acknowledged the last of the alerts of a crisis at
	// AcknowledgedAt; empty while one of them is open.
	AcknowledgedBy string
	AcknowledgedAt *time.Time
	// Reason is why they asked for a human; personal data, empty for other kinds.
	Reason string
	// Phone is the number that is not enrolled; personal data, empty for participants and
	// for a number that was erased.
	Phone string
}

// AttentionQuery selects a page of open entries, oldest first.
type AttentionQuery struct {
	Kind          wire.Attention `query:"kind" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice" doc:"Only this kind."`
	ParticipantID string         `query:"participant_id" maxLength:"64" doc:"Only this participant's."`
	Limit         int            `query:"limit" minimum:"1" maximum:"200" default:"50"`
	AfterID       int64          `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
	// Strangers selects those of numbers that are not enrolled; the store alone asks it.
	Strangers bool
}

// AttentionCount is how often a kind of attention was raised, and how many
// entries of it are open.
type AttentionCount struct {
	Kind         wire.Attention
	Raised, Open int64
}

// ErasureAsked is the code of attention erasure where the person asked for it.
const ErasureAsked = "asked"
