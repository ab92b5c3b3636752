package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// HistoryEntry is an entry of the conversation. Text is personal data.
type HistoryEntry struct {
	Role     models.Role       `json:"role"`
	Kind     models.EntryKind  `json:"kind"`
	Text     string            `json:"text"`
	At       time.Time         `json:"at"`
	Channel  wire.Channel      `json:"channel"`
	Delivery wire.OutboxStatus `json:"delivery,omitempty"`
	// By is the operator who wrote a message or a note; empty for others.
	By string `json:"by,omitempty"`
	// ErrorCode, Meaning and NextStep are of a message that was not delivered.
	ErrorCode string `json:"error_code,omitempty" doc:"Why it was not delivered: the carrier's code or our own."`
	Meaning   string `json:"error_meaning,omitempty" doc:"What the code means."`
	NextStep  string `json:"error_next_step,omitempty" doc:"What an operator can do about it."`
	// TurnID names the turn that the entry belongs to; empty for texts of no turn.
	TurnID string `json:"turn_id,omitempty"`
	// Limit is set for a text that was kept from the coach.
	Limit models.InboundLimit `json:"gate,omitempty"`
	// Danger is set for a text that may be a crisis.
	Danger models.Danger `json:"danger,omitempty"`
	// Unreadable is set for a text that could not be opened; Text is empty then.
	Unreadable bool `json:"unreadable,omitempty"`
}

// WaitingMessage is a text that came while the participant was paused and waits
// for an operator. Text is personal data.
type WaitingMessage struct {
	ID      int64        `json:"id"`
	Text    string       `json:"text"`
	At      time.Time    `json:"at"`
	Channel wire.Channel `json:"channel"`
	// Danger is set for a text that may be a crisis.
	Danger models.Danger `json:"danger,omitempty"`
}

// NewMessage is an operator's message to a participant.
type NewMessage struct {
	Body string `json:"body" minLength:"1" maxLength:"1600" pattern:"\\S"`
	// Force stands for what the person who sends was asked about.
	Force bool `json:"force,omitempty" doc:"Also when another operator has the conversation, or, for a user, when another user has written within ten minutes; 409 without it."`
}

// QueuedMessage is where an operator's message stands.
type QueuedMessage struct {
	ID     string            `json:"id"`
	Status wire.OutboxStatus `json:"status"`
}

// ChatMessage is a text of the participant on channel chat.
type ChatMessage struct {
	Body string `json:"body" minLength:"1" maxLength:"1600" pattern:"\\S"`
}

// ChatAccepted is what became of a text on channel chat.
type ChatAccepted struct {
	ID         int64        `json:"id"`
	Channel    wire.Channel `json:"channel"`
	ReceivedAt time.Time    `json:"received_at" doc:"The answer is in the history after this instant."`
	// Limit is set for a text that is kept from the coach, Intent for one that the
	// programme itself answers.
	Limit  models.InboundLimit `json:"gate,omitempty" doc:"Why the text is stored and not answered."`
	Intent models.Intent       `json:"intent,omitempty" doc:"What the text asks of the programme itself: stop, start, yes, help; or what the person is asked about: unclear, wrong_number; or about data: data, erasure."`
	// Danger is set for a text that may be a crisis.
	Danger models.Danger `json:"danger,omitempty" doc:"What the text may speak of; a safety text may have answered it."`
	// Repeated: the key was used before, and this is what became of it then.
	Repeated bool `json:"repeated,omitempty"`
}
