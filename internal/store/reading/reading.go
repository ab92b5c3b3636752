// Package reading loads what turns are composed from. It works inside the
// store's transactions and writes nothing.
package reading

import (
	"errors"
	"slices"

	"gorm.io/gorm"

	"coachline/models"
)

// newestEntries are enough of the conversation to hold the texts of a turn that
// ends.
const newestEntries = 16

// Turn loads everything a reply is composed from: the newest window entries of
// the conversation (a negative window means all), the turn's rounds so far, the
// outstanding prompt, the schedules. gorm.ErrRecordNotFound for an unknown turn;
// a participant who has left is still found.
func Turn(tx *gorm.DB, turnID string, window int) (models.TurnContext, error) {
	out, err := base(tx, turnID)
	if err != nil {
		return out, err
	}
	id := out.Participant.ID
	if err := newest(tx, id, window).Find(&out.Window).Error; err != nil {
		return out, err
	}
	slices.Reverse(out.Window)
	if out.Outstanding, err = outstanding(tx, id); err != nil {
		return out, err
	}
	return out, tx.Where("participant_id = ?", id).Order("id").Find(&out.Schedules).Error
}

// Ending loads what the end of a turn is made from. It is Turn without the
// outstanding prompt and the schedules, and its window holds the turn's own
// entries only.
func Ending(tx *gorm.DB, turnID string) (models.TurnContext, error) {
	out, err := base(tx, turnID)
	if err != nil {
		return out, err
	}
	latest := newest(tx.Model(&models.Message{}), out.Participant.ID, newestEntries)
	return out, tx.Table("(?) AS messages", latest).Where("turn_id = ?", turnID).Order("id").Find(&out.Window).Error
}

// base is what both need: the turn, whose it is, and what it has come to.
func base(tx *gorm.DB, turnID string) (models.TurnContext, error) {
	var out models.TurnContext
	if err := tx.Where("id = ?", turnID).Take(&out.Turn).Error; err != nil {
		return out, err
	}
	id := out.Turn.ParticipantID
	if err := tx.Where("id = ?", id).Take(&out.Participant).Error; err != nil {
		return out, err
	}
	var err error
	if out.Profile, err = Profile(tx, id); err != nil {
		return out, err
	}
	if err := tx.Where("turn_id = ?", turnID).Order("number").Find(&out.Steps).Error; err != nil {
		return out, err
	}
	called := slices.ContainsFunc(out.Steps, func(step models.Step) bool { return step.Calls != "" })
	if !called {
		return out, nil
	}
	return out, tx.Where("turn_id = ?", turnID).Order("step, call").Find(&out.Runs).Error
}

// Profile reads a participant's profile.
func Profile(tx *gorm.DB, participantID string) (models.Profile, error) {
	var profile models.Profile
	err := tx.Where("participant_id = ?", participantID).Take(&profile).Error
	return profile, err
}

// newest are the newest entries of a conversation, the newest first.
func newest(tx *gorm.DB, participantID string, size int) *gorm.DB {
	return tx.Where("participant_id = ?", participantID).Order("id DESC").Limit(size)
}

// outstanding is the newest prompt that was sent and neither voided nor failed;
// nil when there is none.
func outstanding(tx *gorm.DB, participantID string) (*models.Prompt, error) {
	var row models.Prompt
	err := tx.Where("participant_id = ? AND sent_at IS NOT NULL AND state IN ?", participantID,
		[]models.PromptState{models.PromptPending, models.PromptReminded, models.PromptResponded}).
		Order("sent_at DESC, id DESC").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	return &row, err
}
