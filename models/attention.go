package models

import (
	"slices"
	"time"
)

// Attention is why an operator should look at a participant.
type Attention string

const (
	// AttentionCrisis: a message of theirs may be a crisis. It alone holds what we
	// start ourselves.
	AttentionCrisis Attention = "crisis"
	// AttentionUnreachable: the carrier cannot reach their number.
	AttentionUnreachable Attention = "unreachable"
	// AttentionSend: an answer to them was given up undelivered.
	AttentionSend Attention = "send"
	// AttentionRefusal: the model refused to answer them.
	AttentionRefusal Attention = "refusal"
	// AttentionStuck: their text ended two runs of the workflow; the fixed text
	// answered it.
	AttentionStuck Attention = "stuck"
	// AttentionUnanswered: the model wanted to leave them without an answer that was
	// due.
	AttentionUnanswered Attention = "unanswered"
	// AttentionLostRows: the database has lost what it had stored of them: a replica
	// without its last commits has taken over.
	AttentionLostRows Attention = "lost_rows"
	// AttentionFlood: more messages came from them than are answered.
	AttentionFlood Attention = "flood"
	// AttentionWrongNumber: a text said that the number is another person's; the
	// participant was paused.
	AttentionWrongNumber Attention = "wrong_number"
	// AttentionErasure: the carrier has not deleted its copies of an erased person's
	// messages. It ends by itself.
	AttentionErasure Attention = "erasure"
)

// Attentions lists every kind, the most urgent first.
func Attentions() []Attention {
	return []Attention{AttentionCrisis, AttentionUnreachable, AttentionSend, AttentionRefusal, AttentionStuck, AttentionUnanswered, AttentionLostRows, AttentionFlood, AttentionWrongNumber, AttentionErasure}
}

// AttentionEntry is one row of table attention: a participant needed an
// operator, from RaisedAt until EndedAt. A participant has one open entry of a
// kind at most. It holds no personal data.
type AttentionEntry struct {
	ID            int64 `gorm:"primaryKey"`
	ParticipantID string
	Kind          Attention
	// Ref names what raised it: an inbound row, an outbox row or a turn.
	Ref string
	// Code is the carrier's or model's error code, or the gate of a message.
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
}

// AttentionQuery selects a page of open entries, oldest first.
type AttentionQuery struct {
	Kind    Attention // empty: any
	AfterID int64     // of the last row of the page before
	Limit   int       // 1..200
}

// AttentionCount is how often a kind of attention was raised, and how many
// entries of it are open.
type AttentionCount struct {
	Kind         Attention
	Raised, Open int64
}

// ParticipantFlags are what search attributes show of a participant's row beside
// status and mode.
type ParticipantFlags struct {
	// Attention are the open kinds, the most urgent first.
	Attention []Attention `json:"attention,omitempty"`
	// Unreachable: the carrier cannot reach the number.
	Unreachable bool `json:"unreachable,omitempty"`
}

// Clone copies the flags.
func (f ParticipantFlags) Clone() ParticipantFlags {
	f.Attention = slices.Clone(f.Attention)
	return f
}
