// Package ledger reads the consent ledger: who has opted out, and which one
// turn may confirm it. It works inside the store's transactions.
package ledger

import (
	"errors"

	"gorm.io/gorm"

	"coachline/models"
)

// Newest is the last entry of a participant; zero when there is none.
func Newest(tx *gorm.DB, participantID string) (models.Consent, error) {
	return newest(tx.Where("participant_id = ?", participantID))
}

// OfPhone is the last entry of whoever had the phone, enrolled or removed.
func OfPhone(tx *gorm.DB, phoneIndex string) (models.Consent, error) {
	owners := tx.Model(&models.Participant{}).Select("id").Where("phone_index = ?", phoneIndex)
	return newest(tx.Where("participant_id IN (?)", owners))
}

func newest(find *gorm.DB) (models.Consent, error) {
	var row models.Consent
	err := find.Order("id DESC").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Consent{}, nil
	}
	return row, err
}

// OptedOut judges by the newest entry, so that it also holds for people whom an
// operator has completed or removed since.
func OptedOut(p models.Participant, newest models.Consent) bool {
	return p.Status == models.StatusOptedOut || newest.Action == models.ConsentOptOut
}

// Tie gives the confirmation of the newest entry to a turn, and to no other
// turn afterwards. False: it is another turn's, or there is nothing that we
// confirm. Safe to retry.
func Tie(tx *gorm.DB, p models.Participant, turnID string) (bool, error) {
	entry, err := Newest(tx, p.ID)
	switch {
	case err != nil:
		return false, err
	case !entry.Method.Confirms(), entry.Action == models.ConsentOptOut && p.Status != models.StatusOptedOut:
		return false, nil
	case entry.TurnID != "":
		return entry.TurnID == turnID, nil
	}
	return true, tx.Model(&entry).UpdateColumn("turn_id", turnID).Error
}

// Confirms reports whether a text of a turn confirms the newest entry.
func Confirms(turnID string, newest models.Consent) bool {
	return newest.TurnID != "" && newest.TurnID == turnID
}
