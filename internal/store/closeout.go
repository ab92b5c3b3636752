package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/segments"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// closeOutActor is who ends a participation because a study is over.
const closeOutActor = "study"

// PeopleToCloseOut lists people who are coached although their study is closed or
// archived, by id, after an id.
func (s *People) PeopleToCloseOut(ctx context.Context, afterID string, limit int) ([]models.Participant, error) {
	over := s.db.Reader(ctx).Model(&models.Study{}).Select("id").Where("state IN ?", []models.StudyState{models.StudyClosed, models.StudyArchived})
	var rows []models.Participant
	err := s.db.Reader(database.AllowUnreadable(ctx)).
		Where("study_id IN (?) AND status IN ? AND removed_at IS NULL AND id > ?", over, []wire.Status{wire.StatusActive, wire.StatusPaused}, afterID).
		Order("id").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(classify(err), "listing people of studies that are over")
}

// CloseOut ends the coaching of a person whose study is over: they have completed
// it, and in a study that is closed they are sent its close-out text, once. It does
// nothing for a person who is not coached, or whose study goes on, so it is safe to
// repeat, also by several processes. ErrNotFound for an unknown participant.
func (s *People) CloseOut(ctx context.Context, participantID string, now time.Time) error {
	now = instant(now)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		old, err := lockEnrolled(tx, participantID)
		if err != nil || !old.Status.Coached() {
			return err
		}
		study, err := readStudy(tx, old.StudyID)
		if err != nil || study.State != models.StudyClosed && study.State != models.StudyArchived {
			return err
		}
		settings, err := study.ReadSettings()
		if err != nil {
			return err
		}
		if text := settings.CloseOutFor(old.Locale); study.State == models.StudyClosed && text != "" {
			if err := queueCloseOut(tx, old, text, now); err != nil {
				return err
			}
		}
		p := old
		p.Status = wire.StatusCompleted
		if err := saveParticipant(tx, &p, now); err != nil {
			return err
		}
		err = database.AddAudit(tx, models.AuditRow{
			ParticipantID: p.ID, Actor: closeOutActor, Action: "close_out", Object: studyObject(study.ID), Detail: string(study.State),
			Before: map[string]string{"status": string(old.Status)}, After: map[string]string{"status": string(p.Status)}, At: now,
		})
		if err != nil {
			return err
		}
		return notifyChanges(tx, old, p, waitingUpdate{}, now)
	})
	return wrap.Error(classify(err), "closing out")
}

// queueCloseOut writes the last text of a study, as an operator's message.
func queueCloseOut(tx *gorm.DB, p models.Participant, body string, now time.Time) error {
	id := p.ID + "-closeout"
	added, err := insertOnce(tx, &models.Outbox{
		ID: id, ParticipantID: p.ID, Part: 1, Kind: models.KindOperator, Body: segments.Smart(body), SentBy: closeOutActor,
		Status: wire.OutboxReady, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil || !added {
		return err
	}
	_, err = insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeSend, Ref: id, CreatedAt: now})
	return err
}
