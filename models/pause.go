package models

import (
	"time"

	"coachline/models/wire"
)

// PauseMost is the longest time after which a pause may end by itself.
const PauseMost = 366 * 24 * time.Hour

// PauseEndsAt returns when the participant's pause ends by itself; nil for one who
// is not paused, and for a pause that an operator ends.
func (p Participant) PauseEndsAt() *time.Time {
	if p.Status != wire.StatusPaused || p.PausedUntil == nil {
		return nil
	}
	at := p.PausedUntil.UTC()
	return &at
}
