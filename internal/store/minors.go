package store

import (
	"strconv"

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
	study, err := readStudy(tx, p.StudyID)
	if err != nil {
		return err
	}
	settings, err := study.ReadSettings()
	if err == nil && !settings.IsForAdults() {
		in.Intent, in.IntentMethod = models.IntentNone, ""
	}
	return err
}

// raiseMinor has an operator told of a person who says that they are not 18 yet and is
// coached on; while it is open the model is told too.
func raiseMinor(tx *gorm.DB, in models.Inbound) error {
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionMinor, Ref: strconv.FormatInt(in.ID, 10), RaisedAt: in.ReceivedAt,
	})
	return err
}
