package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

// changePhone gives a locked participant, whose new number is set in p, the
// number's index and consent state. The former number is kept for texts that
// were posted to it, and is a stranger's from now on. A person who opted out
// stays so under the new number; a number that opted out makes p opted out.
func (s *People) changePhone(tx *gorm.DB, old models.Participant, p *models.Participant, u models.ParticipantUpdate) error {
	p.PhoneIndex = s.db.Index(p.Phone)
	if err := keepFormerPhone(tx, old, u); err != nil {
		return err
	}
	entry, err := consentOfPhone(tx, p.PhoneIndex)
	if err != nil {
		return err
	}
	if entry.Action == models.ConsentOptOut {
		if p.Status == wire.StatusActive || p.Status == wire.StatusPaused {
			p.Status = wire.StatusOptedOut
			if err := endCoaching(tx, ending{participantID: p.ID, reason: string(wire.StatusOptedOut), at: instant(u.Now)}); err != nil {
				return err
			}
		}
	} else if entry, err = newestConsent(tx, old); err != nil || entry.Action != models.ConsentOptOut {
		return err
	}
	entry.ID, entry.ParticipantID, entry.PhoneIndex = 0, p.ID, p.PhoneIndex
	return tx.Create(&entry).Error
}

// keepFormerPhone stores the number that a participant had, and notes it on the
// texts that were posted to it.
func keepFormerPhone(tx *gorm.DB, old models.Participant, u models.ParticipantUpdate) error {
	former := models.FormerPhone{
		ParticipantID: old.ID, Phone: old.Phone, PhoneIndex: old.PhoneIndex, UntilAt: instant(u.Now), ChangedBy: u.Actor,
	}
	if err := tx.Create(&former).Error; err != nil {
		return err
	}
	return tx.Model(&models.Outbox{}).
		Where("participant_id = ? AND former_phone_id = 0 AND attempted_at IS NOT NULL AND status <> ?", old.ID, wire.OutboxReady).
		UpdateColumn("former_phone_id", former.ID).Error
}

func formerPhone(tx *gorm.DB, id int64) (models.FormerPhone, error) {
	var former models.FormerPhone
	err := tx.Where("id = ?", id).Take(&former).Error
	return former, err
}

// phoneOf returns the number that a row was posted to, or is to be posted to.
func phoneOf(tx *gorm.DB, row models.Outbox, p models.Participant) (string, error) {
	if row.FormerPhoneID == 0 {
		return p.Phone, nil
	}
	former, err := formerPhone(tx, row.FormerPhoneID)
	return former.Phone, err
}

// formerRefusal records what a refusal says of a number that is no longer the
// participant's: an opt-out of that number. It says nothing of the person.
func formerRefusal(tx *gorm.DB, row models.Outbox, r models.Refusal) error {
	if !r.Class.Spec().OptsOut {
		return nil
	}
	former, err := formerPhone(tx, row.FormerPhoneID)
	if err != nil {
		return err
	}
	before, err := consentOfPhone(tx, former.PhoneIndex)
	if err != nil || before.Action == models.ConsentOptOut {
		return err
	}
	return tx.Create(&models.Consent{
		ParticipantID: row.ParticipantID, PhoneIndex: former.PhoneIndex, Action: models.ConsentOptOut,
		Method: models.MethodCarrierError, RecordedBy: byCarrier, At: r.Now,
	}).Error
}

// phoneTaken names the enrolled participant who has a number, where err says
// that it is taken.
func (s *People) phoneTaken(ctx context.Context, phone string, err error) error {
	if !errors.Is(err, models.ErrConflict) || phone == "" {
		return err
	}
	var owner models.Participant
	find := s.db.Reader(ctx).Select("id").Where("phone_index = ? AND removed_at IS NULL", s.db.Index(phone))
	if find.Take(&owner).Error != nil {
		return err
	}
	return &models.PhoneTakenError{ParticipantID: owner.ID}
}
