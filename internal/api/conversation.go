package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

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
	Intent models.Intent       `json:"intent,omitempty" doc:"What the text asks of the programme itself: stop, start, yes, help; or what the person is asked about: unclear, wrong_number, doubted (whether the number is still theirs); minor (says that they are not 18); or about data: data, erasure."`
	// Danger is set for a text that may be a crisis.
	Danger models.Danger `json:"danger,omitempty" doc:"What the text may speak of; a safety text may have answered it."`
	// Repeated: the key was used before, and this is what became of it then.
	Repeated bool `json:"repeated,omitempty"`
}
