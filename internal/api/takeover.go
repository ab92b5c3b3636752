package api

import (
	"time"

	"coachline/models"
)

// TakeOver says who writes in the place of the coach.
type TakeOver struct {
	By    string    `json:"by" doc:"The operator, or alert where a message that was taken for a crisis did it."`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// NewTakeOver has the caller write in the place of the coach.
type NewTakeOver struct {
	Until  *time.Time `json:"until,omitempty" doc:"When the coach writes again by itself, at most 7 days from now; 4 hours from now when absent."`
	Reason string     `json:"reason,omitempty" maxLength:"500" doc:"Kept sealed in the audit."`
	Note   string     `json:"note,omitempty" maxLength:"1000" doc:"Told to the coach when it writes again, never to the person."`
	Force  bool       `json:"force,omitempty" doc:"Also when another operator has the conversation."`
}

// TakeOverEnd has the coach write again.
type TakeOverEnd struct {
	Waiting models.WaitingAction `json:"waiting_messages,omitempty" enum:"answer,read" doc:"What becomes of texts that came meanwhile: answered in one turn, or marked as read. When absent they are answered if the newest is of today in the participant's zone, and marked as read otherwise."`
	Note    string               `json:"note,omitempty" maxLength:"1000" doc:"Told to the coach, never to the person."`
	Force   bool                 `json:"force,omitempty" doc:"Also when another operator has the conversation; 409 without it."`
}
