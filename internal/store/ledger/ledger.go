// Package ledger reads the consent ledger: who has opted out, and which one
// turn may confirm it. It works inside the store's transactions.
package ledger

import (
	"errors"

	"gorm.io/gorm"

	"coachline/models"
)

// Newest is the last entry of a participant about their present number; zero
// when there is none.
func Newest(tx *gorm.DB, p models.Participant) (models.Consent, error) {
	return newest(tx.Where("participant_id = ? AND phone_index = ?", p.ID, p.PhoneIndex))
}

// OfPhone is the last entry of the participant who had the phone, enrolled or
// removed, or what was texted from it since by a person who was not enrolled:
// such a STOP or START is kept with its text only, because the ledger is of
// participants.
func OfPhone(tx *gorm.DB, phoneIndex string) (models.Consent, error) {
	last, err := newest(tx.Where("phone_index = ?", phoneIndex))
	if err != nil {
		return last, err
	}
	var texts []models.Inbound
	err = tx.Where("from_index = ? AND intent <> '' AND participant_id = '' AND intent IN ?",
		phoneIndex, []models.Intent{models.IntentStop, models.IntentStart}).Order("id DESC").Limit(1).Find(&texts).Error
	if err != nil || len(texts) == 0 || texts[0].ReceivedAt.Before(last.At) {
		return last, err
	}
	return strangers(texts[0]), nil
}

// strangers is the entry that a stranger's text stands for.
func strangers(in models.Inbound) models.Consent {
	entry := models.Consent{
		Action: models.ConsentOptOut, Method: in.IntentMethod, Text: in.Body, RecordedBy: "participant", InboundID: in.ID, At: in.ReceivedAt,
	}
	if in.Intent == models.IntentStart {
		entry.Action = models.ConsentOptIn
	}
	if in.IntentMethod == models.MethodCarrier {
		entry.RecordedBy = "carrier"
	}
	return entry
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
	entry, err := Newest(tx, p)
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
