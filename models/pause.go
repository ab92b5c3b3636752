package models

import "time"

// PauseMost is the longest time after which a pause may end by itself.
const PauseMost = 366 * 24 * time.Hour

// PauseEnd is the end of a pause whose time has come.
type PauseEnd struct {
	ParticipantID string    `json:"participant_id"`
	Now           time.Time `json:"now"`
}

// PauseEndsAt returns when the participant's pause ends by itself; nil for one who
// is not paused, and for a pause that an operator ends.
func (p Participant) PauseEndsAt() *time.Time {
	if p.Status != StatusPaused || p.PausedUntil == nil {
		return nil
	}
	at := p.PausedUntil.UTC()
	return &at
}
