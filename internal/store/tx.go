package store

import (
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// The store's files name these functions of package database, which other packages
// share, by their short names.

func classify(err error) error { return database.Classify(err) }

func forUpdate(tx *gorm.DB) *gorm.DB { return database.ForUpdate(tx) }

func insertOnce(tx *gorm.DB, row any) (added bool, err error) { return database.InsertOnce(tx, row) }

func lockParticipant(tx *gorm.DB, id string) (models.Participant, error) {
	return database.LockParticipant(tx, id)
}

func lockEnrolled(tx *gorm.DB, id string) (models.Participant, error) {
	return database.LockEnrolled(tx, id)
}

// saveParticipant is database.SaveParticipant; the end of a pause goes with the pause.
func saveParticipant(tx *gorm.DB, p *models.Participant, now time.Time) error {
	if p.Status != wire.StatusPaused {
		p.PausedUntil = nil
	}
	return database.SaveParticipant(tx, p, now)
}

func instant(t time.Time) time.Time { return database.Instant(t) }
