package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/models"
)

// EnrolmentKeyLife is how long an idempotency key stands for its enrolment.
const EnrolmentKeyLife = 24 * time.Hour

// EnrollOnce is Enroll for a request that may be repeated: with the key of an
// earlier equal request it returns the participant of then, as the row is now,
// and changes nothing. ErrKeyUsed when the key stands for another request, or for
// a participant who has been removed. Without a key it is Enroll.
func (s *People) EnrollOnce(ctx context.Context, p models.Participant, by models.Enrolment) (models.Participant, error) {
	if by.Key == "" {
		return s.enroll(ctx, p, by, nil)
	}
	key := models.EnrolmentKey{KeyIndex: s.db.Index("enrolment key " + by.Key), BodyIndex: s.db.Index("enrolment " + by.Body)}
	if earlier, found, err := s.enrolledBy(ctx, key, p.EnrolledAt); found || err != nil {
		return earlier, err
	}
	saved, err := s.enroll(ctx, p, by, &key)
	if !errors.Is(err, models.ErrConflict) {
		return saved, err
	}
	// An equal request may have been faster.
	if earlier, found, lookupErr := s.enrolledBy(ctx, key, p.EnrolledAt); found || lookupErr != nil {
		return earlier, lookupErr
	}
	return models.Participant{}, err
}

func (s *People) enrolledBy(ctx context.Context, key models.EnrolmentKey, now time.Time) (models.Participant, bool, error) {
	var rows []models.EnrolmentKey
	err := s.db.Reader(ctx).Where("key_index = ? AND created_at > ?", key.KeyIndex, instant(now.Add(-EnrolmentKeyLife))).Find(&rows).Error
	if err != nil {
		return models.Participant{}, false, fmt.Errorf("looking for an earlier enrolment: %w", classify(err))
	}
	if len(rows) == 0 {
		return models.Participant{}, false, nil
	}
	if rows[0].BodyIndex != key.BodyIndex {
		return models.Participant{}, true, models.ErrKeyUsed
	}
	p, err := s.Participant(ctx, rows[0].ParticipantID)
	if errors.Is(err, models.ErrNotFound) {
		return p, true, models.ErrKeyUsed
	}
	return p, true, err
}
