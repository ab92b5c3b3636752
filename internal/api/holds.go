package api

import (
	"time"

	"coachline/models"
)

// Hold stops prompts until an instant. Reason is an operator's own text.
type Hold struct {
	ID         int64            `json:"id"`
	Scope      models.HoldScope `json:"scope" enum:"all,participant,study"`
	ScopeID    string           `json:"scope_id,omitempty" doc:"The participant or the study, where the scope is one."`
	Reason     string           `json:"reason"`
	Active     bool             `json:"active" doc:"It stops prompts now."`
	Until      time.Time        `json:"until" doc:"Prompts go on with the first slot from then on."`
	CreatedAt  time.Time        `json:"created_at"`
	CreatedBy  string           `json:"created_by"`
	ReleasedAt *time.Time       `json:"released_at,omitempty" doc:"When an operator ended it before its time."`
	ReleasedBy string           `json:"released_by,omitempty"`
}

// HoldPage is one page of holds, newest first; NextCursor is null on the last.
type HoldPage struct {
	Holds      []Hold  `json:"holds" nullable:"false"`
	NextCursor *string `json:"next_cursor"`
}

// NewHold asks for a hold.
type NewHold struct {
	Reason  string           `json:"reason,omitempty" maxLength:"500" doc:"Kept sealed; the audit does not repeat it."`
	Scope   models.HoldScope `json:"scope,omitempty" enum:"all,participant,study" default:"all" doc:"Whose prompts are held: all participants', one's, or those of a study's people."`
	ScopeID string           `json:"scope_id,omitempty" maxLength:"64" doc:"Id of the participant or of the study; empty where the scope is all."`
	Until   time.Time        `json:"until" doc:"When prompts go on (RFC 3339), at most 366 days from now."`
}
