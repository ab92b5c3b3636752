package models

import "time"

// Profile is one row of table profiles: what the coach has learnt of a
// person's habit. The text fields are personal data and sealed at rest.
type Profile struct {
	ParticipantID        string `gorm:"primaryKey"`
	HabitDomain          string `gorm:"serializer:sealed"`
	MotivationalFrame    string `gorm:"serializer:sealed"`
	PreferredTime        string `gorm:"serializer:sealed"`
	PromptAnchor         string `gorm:"serializer:sealed"`
	AdditionalInfo       string `gorm:"serializer:sealed"`
	LastSuccessfulPrompt string `gorm:"serializer:sealed"`
	LastBarrier          string `gorm:"serializer:sealed"`
	LastMotivator        string `gorm:"serializer:sealed"`
	LastTweak            string `gorm:"serializer:sealed"`
	// LastHabitPrompt is the newest generated prompt text; PreparedPrompt is
	// one generated ahead for the next scheduled slot, empty when none waits.
	LastHabitPrompt string `gorm:"serializer:sealed"`
	PreparedPrompt  string `gorm:"serializer:sealed"`
	Tone            Tone   `gorm:"serializer:json"`
	// SuccessCount and TotalPrompts belong to the system, never to the model.
	SuccessCount     int
	TotalPrompts     int
	LastPromptSentAt *time.Time
	UpdatedAt        time.Time
	Version          int64
}

// Tone is how a person likes to be written to.
type Tone struct {
	// Active tags, sorted.
	Tags []string `json:"tags,omitempty"`
	// Scores holds the smoothed weight 0..1 of each tag that was ever observed
	// implicitly.
	Scores map[string]float64 `json:"scores,omitempty"`
	// ImplicitAt is when an implicit observation was last taken.
	ImplicitAt time.Time `json:"implicit_at,omitzero"`
}
