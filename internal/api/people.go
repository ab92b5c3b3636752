package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// Person is a participant in a list of people. Name and Phone are personal data.
type Person struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	Phone         string         `json:"phone_number"`
	Timezone      string         `json:"timezone"`
	Status        wire.Status    `json:"status"`
	Mode          wire.Mode      `json:"mode"`
	Attention     wire.Attention `json:"attention,omitempty" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice" doc:"The most urgent reason why an operator should look at the person."`
	UnreachableAt *time.Time     `json:"unreachable_at,omitempty" doc:"Since then the carrier cannot reach the number."`
	TakenOver     *TakeOver      `json:"taken_over,omitempty" doc:"Set while an operator writes in the place of the coach."`
	EnrolledAt    time.Time      `json:"enrolled_at"`
	LastInboundAt *time.Time     `json:"last_inbound_at,omitempty" doc:"When the newest text of the person came."`
	NextPromptAt  *time.Time     `json:"next_prompt_at,omitempty" doc:"When the next prompt is planned to go out."`
	Prompts       int            `json:"prompts_7_days" doc:"Prompts that went out in the last seven days."`
	Answered      int            `json:"answered_7_days" doc:"Those of them that were answered."`
}

// PeoplePage is one page; NextCursor is null on the last.
type PeoplePage struct {
	People     []Person `json:"people" nullable:"false"`
	NextCursor *string  `json:"next_cursor"`
}

// AttentionCount counts the people who call for an operator for one reason.
type AttentionCount struct {
	Kind   wire.Attention `json:"kind" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice"`
	People int            `json:"people"`
}

// SenderHold is why nothing is sent for now.
type SenderHold struct {
	Sender string    `json:"sender" doc:"The number or messaging service; empty for the whole account."`
	Code   string    `json:"code" doc:"The carrier's error code."`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until" doc:"When the next text may go."`
}

// Today is what an operator looks at first. Each number counts the people whom GET
// /people lists with the filter of the same name.
type Today struct {
	People      int                `json:"people" doc:"Everybody who is enrolled."`
	Crises      []Attention        `json:"crises" nullable:"false" doc:"Open crises, oldest first; at most 50."`
	Flood       *Attention         `json:"flood,omitempty" doc:"Numbers that are not enrolled send more messages than a person may; the newest is shown."`
	Strangers   []models.Alert     `json:"strangers" nullable:"false" doc:"Alerts of numbers that are not enrolled which no operator has acknowledged, oldest first; at most 50."`
	Attention   []AttentionCount   `json:"attention" nullable:"false" doc:"The most urgent kind first."`
	Silent      int                `json:"silent" doc:"Active people who were not heard for silent_days days."`
	SilentDays  int                `json:"silent_days"`
	Waiting     int                `json:"waiting" doc:"People with texts that wait for an operator."`
	Unreachable int                `json:"unreachable" doc:"People whose number the carrier cannot reach."`
	SenderHolds []SenderHold       `json:"sender_holds" nullable:"false" doc:"Senders that the carrier has us wait with, oldest first."`
	Hours       []models.HourCount `json:"hours" nullable:"false" doc:"People with a prompt in each of the next 24 hours, from the hour that holds now."`
}
