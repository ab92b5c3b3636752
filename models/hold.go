package models

import "time"

// HoldScope says whose prompts a hold stops.
type HoldScope string

const (
	// HoldAll stops the prompts of every participant.
	HoldAll HoldScope = "all"
	// HoldParticipant stops those of one participant, whose id is ScopeID.
	HoldParticipant HoldScope = "participant"
	// HoldStudy stops those of the people of one study, whose id is ScopeID.
	HoldStudy HoldScope = "study"
)

// MissedHold is the reason of a prompt that was missed because of a hold, and
// the error code of an outbox row that a hold canceled.
const MissedHold = "held"

// Hold is one row of table holds. It stops prompts, reminders, feedback
// questions and check-ins from CreatedAt until Until or, if earlier,
// ReleasedAt. Replies, operators' messages and consent texts are not affected.
type Hold struct {
	ID        int64     `gorm:"primaryKey" json:"id"`
	Scope     HoldScope `json:"scope" enum:"all,participant,study"`
	ScopeID   string    `json:"scope_id,omitempty" doc:"The participant or the study, where the scope is one."`
	Active    bool      `gorm:"-" json:"active" doc:"It stops prompts now."`
	Until     time.Time `gorm:"column:until_at" json:"until" doc:"Prompts go on with the first slot from then on."`
	CreatedAt time.Time `json:"created_at"` // before Reason, whose seal is bound to it
	// Reason is an operator's own text and may hold personal data.
	Reason     string     `gorm:"serializer:sealed" json:"reason"`
	CreatedBy  string     `json:"created_by"`
	ReleasedAt *time.Time `json:"released_at,omitempty" doc:"When an operator ended it before its time."`
	ReleasedBy string     `json:"released_by,omitempty"`
}

// IsActive reports whether the hold stops prompts at an instant.
func (h Hold) IsActive(at time.Time) bool {
	return !at.Before(h.CreatedAt) && at.Before(h.Until) && (h.ReleasedAt == nil || at.Before(*h.ReleasedAt))
}

// Stops reports whether the hold is about a participant.
func (h Hold) Stops(p Participant) bool {
	switch h.Scope {
	case HoldAll:
		return true
	case HoldParticipant:
		return h.ScopeID == p.ID
	case HoldStudy:
		return h.ScopeID == p.StudyID
	}
	return false
}

// HoldQuery selects a page of holds, newest first.
type HoldQuery struct {
	// ActiveAt, when not zero, selects the holds that stop prompts then.
	ActiveAt time.Time
	// ParticipantID, when not empty, selects the holds that stop this
	// participant's prompts.
	ParticipantID string
	// BeforeID is the id of the last hold of the page before; 0 is the first page.
	BeforeID int64
	Limit    int // 1..200
}

// HoldRelease ends a hold before its time.
type HoldRelease struct {
	ID    int64
	Actor string
	Now   time.Time
}
