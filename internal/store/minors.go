package store

import (
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

// settleMinor has a message of a person who says that they are not 18 yet answered like any
// other where the study is not for adults alone.
func settleMinor(tx *gorm.DB, in *models.Inbound, p models.Participant) error {
	if in.Intent != models.IntentMinor {
		return nil
	}
	isForAdults, err := isForAdults(tx, p)
	if err == nil && !isForAdults {
		in.Intent, in.IntentMethod = models.IntentNone, ""
	}
	return err
}

// isForAdults reports whether a person's study is for adults.
func isForAdults(tx *gorm.DB, p models.Participant) (bool, error) {
	study, err := readStudy(tx, p.StudyID)
	if err != nil {
		return false, err
	}
	settings, err := study.ReadSettings()
	return settings.IsForAdults(), err
}

// pauseYoung has a person paused whose new birth year is that of a minor, where the study
// is for adults, and an operator told. p becomes the row as it is then.
func pauseYoung(tx *gorm.DB, old models.Participant, p *models.Participant, at time.Time) error {
	if p.BirthYear == old.BirthYear || !models.IsMinor(p.BirthYear, at) || !p.Status.Coached() {
		return nil
	}
	isForAdults, err := isForAdults(tx, *p)
	if err != nil || !isForAdults {
		return err
	}
	why := pauseReason{attention: wire.AttentionMinor, ref: "birth_year", detail: string(wire.AttentionMinor), at: at}
	if err := pauseFor(tx, *p, why); err != nil {
		return err
	}
	return tx.Where("id = ?", p.ID).Take(p).Error
}

// raiseMinor has an operator told of a person who says that they are not 18 yet and is
// coached on; while it is open the model is told too.
func raiseMinor(tx *gorm.DB, in models.Inbound) error {
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionMinor, Ref: strconv.FormatInt(in.ID, 10), RaisedAt: in.ReceivedAt,
	})
	return err
}
