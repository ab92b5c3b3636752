package cli

import (
	"time"

	"coachline/models"
)

// Participant is what the API shows of a participant.
type Participant struct {
	ID          string         `json:"id"`
	Phone       string         `json:"phone_number"`
	Name        string         `json:"name"`
	Gender      string         `json:"gender"`
	Ethnicity   string         `json:"ethnicity"`
	Background  string         `json:"background"`
	Timezone    string         `json:"timezone"`
	ZoneAssumed bool           `json:"timezone_assumed"`
	Locale      string         `json:"locale"`
	Channel     models.Channel `json:"channel"`
	Status      models.Status  `json:"status"`
	Mode        models.Mode    `json:"mode"`
	Tester      bool           `json:"tester"`
	Debug       bool           `json:"debug"`
	// UnreachableAt is set while the carrier cannot reach the number.
	UnreachableAt   *time.Time `json:"unreachable_at"`
	UnreachableCode string     `json:"unreachable_code"`
	// Attention is set while an operator should look after the person.
	Attention   models.Attention `json:"attention"`
	AttentionAt *time.Time       `json:"attention_at"`
	EnrolledAt  time.Time        `json:"enrolled_at"`
	GreetingAt  *time.Time       `json:"greeting_at"`
	Version     int64            `json:"version"`
}

// roster is one page of participants; NextCursor is nil on the last.
type roster[T any] struct {
	Participants []T     `json:"participants"`
	NextCursor   *string `json:"next_cursor"`
}

type state struct {
	Mode        models.Mode    `json:"mode"`
	Status      models.Status  `json:"status"`
	LastChannel models.Channel `json:"last_channel"`
	Counters    struct {
		Successes int `json:"success_count"`
		Prompts   int `json:"total_prompts"`
	} `json:"counters"`
	Schedules []schedule   `json:"schedules"`
	Due       []models.Due `json:"due"`
	Pending   *struct {
		PromptID string    `json:"prompt_id"`
		SentAt   time.Time `json:"sent_at"`
	} `json:"pending_prompt"`
	Waiting int `json:"waiting_messages"`
	Hold    *struct {
		ID    int64     `json:"id"`
		Until time.Time `json:"until"`
	} `json:"hold"`
}

type schedule struct {
	ID       string              `json:"id"`
	Type     models.ScheduleType `json:"type"`
	At       string              `json:"at"`
	From     string              `json:"from"`
	To       string              `json:"to"`
	Timezone string              `json:"timezone"`
	NextAt   *time.Time          `json:"next_at"`
	Held     bool                `json:"held"`
}

type queued struct {
	ID     string              `json:"id"`
	Status models.OutboxStatus `json:"status"`
}

// NewParticipant is what an enrolment may say; empty fields are left to the
// server.
type NewParticipant struct {
	Phone      string         `json:"phone_number"`
	Name       string         `json:"name,omitempty"`
	Gender     string         `json:"gender,omitempty"`
	Ethnicity  string         `json:"ethnicity,omitempty"`
	Background string         `json:"background,omitempty"`
	Timezone   *string        `json:"timezone,omitempty"`
	Locale     string         `json:"locale,omitempty"`
	Tester     bool           `json:"tester,omitempty"`
	Debug      bool           `json:"debug,omitempty"`
	Channel    models.Channel `json:"channel,omitempty"`
	// Signup: the person has just signed up themselves and is greeted at once.
	Signup bool `json:"signup,omitempty"`
}

// Change is a partial update; nil fields stay as they are.
type Change struct {
	Phone      *string        `json:"phone_number,omitempty"`
	Name       *string        `json:"name,omitempty"`
	Gender     *string        `json:"gender,omitempty"`
	Ethnicity  *string        `json:"ethnicity,omitempty"`
	Background *string        `json:"background,omitempty"`
	Timezone   *string        `json:"timezone,omitempty"`
	Locale     *string        `json:"locale,omitempty"`
	Status     *models.Status `json:"status,omitempty"`
	Tester     *bool          `json:"tester,omitempty"`
	Debug      *bool          `json:"debug,omitempty"`
	// Waiting is what becomes of texts that came while the participant was paused.
	Waiting models.WaitingAction `json:"waiting_messages,omitempty"`
}
