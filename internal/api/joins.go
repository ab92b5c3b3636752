package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// NewJoin asks for the consent of a person who filled in a form, by text.
type NewJoin struct {
	Phone    string `json:"phone" maxLength:"64" doc:"Phone number of the person."`
	Locale   string `json:"locale" minLength:"2" maxLength:"35" doc:"Language of the consent text, one of the settings join."`
	Timezone string `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone, such as that of the person's browser."`
}

// Join is a person's request to join a study. It shows no number.
type Join struct {
	ID      string               `json:"id"`
	State   models.JoinState     `json:"state" enum:"pending,enrolled,expired,declined,refused"`
	Reason  string               `json:"reason,omitempty" doc:"Why it ended without an enrolment."`
	Method  models.ConsentMethod `json:"method" enum:"keyword,web"`
	Keyword string               `json:"keyword,omitempty"`
	Locale  string               `json:"locale"`
	Version int                  `json:"consent_version"`
	// Delivery is where the newest text to the person stands.
	Delivery      wire.OutboxStatus `json:"delivery,omitempty" doc:"Where the newest text to the person stands."`
	ErrorCode     string            `json:"error_code,omitempty"`
	ParticipantID string            `json:"participant_id,omitempty"`
	CreatedAt     time.Time         `json:"created_at"`
	ExpiresAt     time.Time         `json:"expires_at"`
	EndedAt       *time.Time        `json:"ended_at,omitempty"`
}

// JoinList holds the newest joins of a study, and how many there are in each state.
type JoinList struct {
	Counts map[string]int64 `json:"counts"`
	Joins  []Join           `json:"joins" nullable:"false"`
}
