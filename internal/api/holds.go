package api

import (
	"time"

	"coachline/models"
)

// HoldPage is one page of holds, newest first; NextCursor is null on the last.
type HoldPage struct {
	Holds      []models.Hold `json:"holds" nullable:"false"`
	NextCursor *string       `json:"next_cursor"`
}

// NewHold asks for a hold.
type NewHold struct {
	Reason  string           `json:"reason,omitempty" maxLength:"500" doc:"Kept sealed; the audit does not repeat it."`
	Scope   models.HoldScope `json:"scope,omitempty" enum:"all,participant,study" default:"all" doc:"Whose prompts are held: all participants', one's, or those of a study's people."`
	ScopeID string           `json:"scope_id,omitempty" maxLength:"64" doc:"Id of the participant or of the study; empty where the scope is all."`
	Until   time.Time        `json:"until" doc:"When prompts go on (RFC 3339), at most 366 days from now."`
}
