package store

import (
	"errors"
	"time"

	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

// newestConsent returns the last entry of a participant about their present number; zero
// when there is none.
func newestConsent(tx *gorm.DB, p models.Participant) (models.Consent, error) {
	return findConsent(tx.Where("participant_id = ? AND phone_index = ?", p.ID, p.PhoneIndex))
}

// consentOfPhone returns the last entry of the participant who had the phone, enrolled or
// removed, or what was texted from it since by a person who was not enrolled:
// such a STOP or START is kept with its text only, because the ledger is of
// participants. Of a number whose people were erased an opt-out is kept as a
// suppression.
func consentOfPhone(tx *gorm.DB, phoneIndex string) (models.Consent, error) {
	last, err := findConsent(tx.Where("phone_index = ?", phoneIndex))
	if err != nil {
		return last, err
	}
	var kept []models.Suppression
	if err := tx.Where("phone_index = ?", phoneIndex).Find(&kept).Error; err != nil {
		return last, err
	}
	if len(kept) > 0 && !kept[0].At.Before(last.At) {
		last = models.Consent{Action: models.ConsentOptOut, Method: kept[0].Method, RecordedBy: kept[0].RecordedBy, At: kept[0].At}
	}
	var texts []models.Inbound
	err = tx.Where("from_index = ? AND intent <> '' AND participant_id = '' AND intent IN ?",
		phoneIndex, []models.Intent{models.IntentStop, models.IntentStart}).Order("id DESC").Limit(1).Find(&texts).Error
	if err != nil || len(texts) == 0 || texts[0].ReceivedAt.Before(last.At) {
		return last, err
	}
	return strangerConsent(texts[0]), nil
}

// strangerConsent returns the entry that a stranger's text stands for.
func strangerConsent(in models.Inbound) models.Consent {
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

func findConsent(find *gorm.DB) (models.Consent, error) {
	var row models.Consent
	err := find.Order("id DESC").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Consent{}, nil
	}
	return row, err
}

// isOptedOut judges by the newest entry, so that it also holds for people whom an
// operator has completed or removed since.
func isOptedOut(p models.Participant, newest models.Consent) bool {
	return p.Status == wire.StatusOptedOut || newest.Action == models.ConsentOptOut
}

// How often a person's STOP and START are confirmed.
const (
	stopPause    = time.Hour
	startsPerDay = 3
)

// tieConsent gives the confirmation of the newest entry to a turn, and to no other
// turn afterwards. False: it is another turn's, or there is nothing that we
// confirm. Safe to retry.
func tieConsent(tx *gorm.DB, p models.Participant, turnID string) (bool, error) {
	entry, err := newestConsent(tx, p)
	switch {
	case err != nil:
		return false, err
	case !entry.Method.Confirms(), entry.Action == models.ConsentOptOut && p.Status != wire.StatusOptedOut:
		return false, nil
	case entry.TurnID != "":
		return entry.TurnID == turnID, nil
	}
	if isLimited, err := isConfirmationLimited(tx, entry); err != nil || isLimited {
		return false, err
	}
	return true, tx.Model(&entry).UpdateColumn("turn_id", turnID).Error
}

// isConfirmationLimited reports whether entries like this one were confirmed as often
// as they may be: opt-outs once an hour, returns three times a day.
func isConfirmationLimited(tx *gorm.DB, entry models.Consent) (bool, error) {
	span, most := stopPause, int64(1)
	if entry.Action == models.ConsentOptIn {
		span, most = 24*time.Hour, startsPerDay
	}
	var confirmed int64
	err := tx.Model(&models.Consent{}).Where("participant_id = ? AND action = ? AND turn_id <> '' AND at > ?",
		entry.ParticipantID, entry.Action, instant(entry.At.Add(-span))).Count(&confirmed).Error
	return confirmed >= most, err
}

// confirmsConsent reports whether a text of a turn confirms the newest entry.
func confirmsConsent(turnID string, newest models.Consent) bool {
	return newest.TurnID != "" && newest.TurnID == turnID
}
