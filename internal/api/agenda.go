package api

import (
	"time"

	"coachline/models"
)

// PlannedPrompt is a prompt that is planned. Name is personal data.
type PlannedPrompt struct {
	ParticipantID string    `json:"participant_id"`
	Name          string    `json:"name,omitempty" doc:"Left out for callers who may not see personal data."`
	ScheduleID    string    `json:"schedule_id"`
	At            time.Time `json:"at" doc:"In UTC."`
	Local         time.Time `json:"local" doc:"The same instant with the offset of the schedule's zone."`
	Timezone      string    `json:"timezone"`
	Held          bool      `json:"held" doc:"A hold stops it: it will be missed and not sent later."`
	Paused        bool      `json:"paused" doc:"The participant is not active."`
	Unreachable   bool      `json:"unreachable" doc:"The carrier cannot reach the number; it is not sent."`
	Crisis        bool      `json:"crisis" doc:"An open crisis stops it."`
}

// PlannedResumption is the end of a person's pause. Name is personal data.
type PlannedResumption struct {
	ParticipantID string    `json:"participant_id"`
	Name          string    `json:"name,omitempty" doc:"Left out for callers who may not see personal data."`
	At            time.Time `json:"at" doc:"In UTC."`
	Timezone      string    `json:"timezone"`
}

// LeftOut is a text of ours that was not sent. Name is personal data.
type LeftOut struct {
	ParticipantID string    `json:"participant_id"`
	Name          string    `json:"name,omitempty" doc:"Left out for callers who may not see personal data."`
	Date          string    `json:"date" doc:"The local day that the prompt belongs to."`
	At            time.Time `json:"at" doc:"The instant that the prompt prepares for, in UTC."`
	What          string    `json:"what" enum:"prompt,follow_up" doc:"follow_up: the prompt went out, and no more question or reminder follows it."`
	Reason        string    `json:"reason" doc:"daily_limit, backed_off, one_follow_up, next_day, held, outage, quiet_hours, paused, attention, taken_over, spent, or another one of a missed prompt."`
}

// Agenda is one page of what is planned, the earliest first; NextCursor is null on
// the last.
type Agenda struct {
	From    time.Time            `json:"from"`
	Until   time.Time            `json:"until"`
	Total   int                  `json:"total" doc:"All prompts of the span, not only of this page."`
	Hours   []models.PlannedHour `json:"hours" nullable:"false" doc:"All hours of the span that have a prompt."`
	Prompts []PlannedPrompt      `json:"prompts" nullable:"false"`
	// Resumptions are on the first page only.
	Resumptions []PlannedResumption `json:"resumptions" nullable:"false" doc:"People whose pause ends by itself in the span, the earliest first, at most 200; on the first page only."`
	LeftOut     []LeftOut           `json:"left_out" nullable:"false" doc:"What was not sent in the 24 hours before from, or since, the newest first, at most 200; on the first page only."`
	NextCursor  *string             `json:"next_cursor"`
}
