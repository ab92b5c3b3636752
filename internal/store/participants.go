package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// maxPage is the largest page of the API, and the row behind it which says that there is
// another.
const maxPage = 201

// People keeps participants, their history and their place in the programme.
type People struct {
	db *database.Database
	// names are those that searches have opened.
	names *openedNames
}

// Enroll adds a participant together with an empty profile, an audit row and
// the notice that starts the workflow, and returns the row as stored. Empty
// Status, Mode and Channel become active, INTAKE and sms. EnrolledAt is
// required; CreatedAt and UpdatedAt follow it when zero. An opt-out belongs to
// the phone: a participant who opted out of an earlier enrolment is opted out
// of this one too, until they text START. ErrConflict when the phone (or the
// id) belongs to an enrolled participant; for a phone it is a
// *models.PhoneTakenError.
func (s *People) Enroll(ctx context.Context, p models.Participant, actor string) (models.Participant, error) {
	return s.enroll(ctx, p, models.Enrolment{Actor: actor}, nil)
}

// enroll is Enroll; key, unless nil, is stored with the rows.
func (s *People) enroll(ctx context.Context, p models.Participant, by models.Enrolment, key *models.EnrolmentKey) (models.Participant, error) {
	if err := validate(p); err != nil {
		return models.Participant{}, err
	}
	setDefaults(&p)
	p.PhoneIndex = s.db.Index(p.Phone)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := addParticipant(tx, &p, newMember{by: models.AuditRow{Actor: by.Actor}, consent: by.Consent, strata: by.Strata}); err != nil || key == nil {
			return err
		}
		expired := p.EnrolledAt.Add(-EnrolmentKeyLife)
		if err := tx.Where("created_at <= ?", expired).Delete(&models.EnrolmentKey{}).Error; err != nil {
			return err
		}
		key.ParticipantID, key.CreatedAt = p.ID, p.EnrolledAt
		return tx.Create(key).Error
	})
	if err != nil {
		return models.Participant{}, fmt.Errorf("enrolling participant: %w", s.phoneTaken(ctx, p.Phone, err))
	}
	return p, nil
}

// newMember says who enrols a participant, of what the enrolment is a part, what the
// person has agreed to, and the levels of their strata as far as they are known.
type newMember struct {
	by      models.AuditRow
	consent *models.StudyConsent
	strata  map[string]string
}

func addParticipant(tx *gorm.DB, p *models.Participant, in newMember) error {
	if err := joinStudy(tx, p, in); err != nil {
		return err
	}
	if err := allocateNew(tx, p, in); err != nil {
		return err
	}
	before, err := consentOfPhone(tx, p.PhoneIndex)
	if err != nil {
		return err
	}
	if before.Action == models.ConsentOptOut {
		p.Status = wire.StatusOptedOut
	}
	if err := tx.Create(p).Error; err != nil {
		return err
	}
	if before.Action == models.ConsentOptOut {
		before.ID, before.ParticipantID, before.PhoneIndex = 0, p.ID, p.PhoneIndex
		if err := tx.Create(&before).Error; err != nil {
			return err
		}
	}
	profile := models.Profile{ParticipantID: p.ID, UpdatedAt: p.CreatedAt, Version: 1}
	if err := tx.Create(&profile).Error; err != nil {
		return err
	}
	if err := addConsent(tx, *p, in); err != nil {
		return err
	}
	by := in.by
	by.ParticipantID, by.Action, by.At = p.ID, "enroll", p.CreatedAt
	if err := database.AddAudit(tx, by); err != nil {
		return err
	}
	_, err = insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeStart, CreatedAt: p.CreatedAt})
	return err
}

// Participant returns an enrolled participant; ErrNotFound also after removal.
func (s *People) Participant(ctx context.Context, id string) (models.Participant, error) {
	var p models.Participant
	err := s.db.Reader(ctx).Where("id = ? AND removed_at IS NULL", id).Take(&p).Error
	return p, wrap.Error(classify(err), "reading participant")
}

// Participants returns a page of enrolled participants in the order of their
// ids. A limit outside 1..200 counts as 200. A row with columns that cannot be
// opened names them in Unreadable and leaves them empty.
func (s *People) Participants(ctx context.Context, q models.ParticipantQuery) ([]models.Participant, error) {
	limit := q.Limit
	if limit < 1 || limit > maxPage {
		limit = maxPage
	}
	find := s.db.Reader(database.AllowUnreadable(ctx)).Where("removed_at IS NULL AND id > ?", q.After)
	if q.Status != "" {
		find = find.Where("status = ?", q.Status)
	}
	if q.Attention != "" {
		find = find.Where("EXISTS (SELECT 1 FROM attention a WHERE a.participant_id = participants.id AND a.kind = ? AND a.ended_at IS NULL)", q.Attention)
	}
	if q.TakenOver {
		find = find.Where("taken_over_by <> ''")
	}
	if q.Waiting {
		find = find.Where("EXISTS (SELECT 1 FROM inbound WHERE inbound.participant_id = participants.id AND inbound.waiting)")
	}
	var rows []models.Participant
	err := find.Order("id").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading participants")
}

// Profile returns an enrolled participant's profile; ErrNotFound also after
// removal.
func (s *People) Profile(ctx context.Context, id string) (models.Profile, error) {
	var p models.Profile
	enrolled := s.db.Reader(ctx).Model(&models.Participant{}).Select("id").Where("id = ? AND removed_at IS NULL", id)
	err := s.db.Reader(ctx).Where("participant_id IN (?)", enrolled).Take(&p).Error
	return p, wrap.Error(classify(err), "reading profile")
}

// UpdateParticipant applies a patch and returns the row afterwards. A patch
// that changes nothing writes nothing. Otherwise the version rises, the audit
// row names the changed fields (never their values), and the workflow is told
// of a new status or zone. An opt-out that an operator records goes into the
// consent ledger. ErrNotFound, ErrStale when IfMatch does not hold, *FieldError
// for debug on a participant who is no tester and for bringing back one who
// opted out, *PhoneTakenError for a number that is enrolled. A new number that
// has opted out makes the participant opted out. A birth year of a minor pauses one of a
// study for adults.
func (s *People) UpdateParticipant(ctx context.Context, u models.ParticipantUpdate) (models.Participant, error) {
	var out models.Participant
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		old, err := lockEnrolled(tx, u.ID)
		if err != nil {
			return err
		}
		if u.IfMatch != nil && *u.IfMatch != old.Version {
			return models.ErrStale
		}
		p, changed, err := applyPatch(old, u.Patch)
		if err != nil {
			return err
		}
		out = p
		waiting, err := waitingFor(tx, old, p, u)
		if err != nil {
			return err
		}
		if len(changed) == 0 {
			return waiting.settleWaiting(tx, p, u)
		}
		asked := p
		if p.Phone != old.Phone {
			if err := s.changePhone(tx, old, &p, u); err != nil {
				return err
			}
			asked.PhoneIndex = p.PhoneIndex
		}
		if err := savePatched(tx, old, &p, u.Now); err != nil {
			return err
		}
		out = p
		audit := models.AuditRow{ParticipantID: p.ID, Actor: u.Actor, Action: "update", Detail: strings.Join(changed, ","), At: u.Now}
		audit.Before, audit.After = changedFields(old, changed), changedFields(p, changed)
		if err := database.AddAudit(tx, audit); err != nil {
			return err
		}
		if err := operatorConsent(tx, old, asked, models.Consent{RecordedBy: u.Actor, At: u.Now}); err != nil {
			return err
		}
		if err := notifyChanges(tx, old, p, waiting, u.Now); err != nil {
			return err
		}
		if err := waiting.settleWaiting(tx, p, u); err != nil {
			return err
		}
		return pauseYoung(tx, old, &out, u.Now)
	})
	if u.Patch.Phone != nil {
		err = s.phoneTaken(ctx, *u.Patch.Phone, err)
	}
	return out, wrap.Error(err, "updating participant")
}

// savePatched saves a patched row. What an unreachable number called for is over
// when the patch has the number tried again.
func savePatched(tx *gorm.DB, old models.Participant, p *models.Participant, now time.Time) error {
	err := saveParticipant(tx, p, now)
	if err != nil || old.UnreachableAt == nil || p.UnreachableAt != nil {
		return err
	}
	return endUnreachable(tx, p, now)
}

// notifyChanges writes the notices that tell the workflow of a patch. The notice
// of a resumption with texts to answer is left to settle, which writes it with
// the texts.
func notifyChanges(tx *gorm.DB, old, p models.Participant, waiting waitingUpdate, now time.Time) error {
	for _, kind := range noticesOf(old, p) {
		if kind == models.NoticeResume && waiting.action == models.WaitingAnswer {
			continue
		}
		notice := models.Notice{ParticipantID: p.ID, Kind: kind, CreatedAt: now}
		if kind == models.NoticePause {
			notice.Ref = formatPauseEnd(p)
		}
		if _, err := insertNotice(tx, notice); err != nil {
			return err
		}
	}
	return nil
}

// SaveState mirrors a workflow's state into the tables that operators read.
// ErrNotFound for an unknown id. Safe to retry.
func (s *Turns) SaveState(ctx context.Context, in wire.SaveStateInput) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		p, err := lockParticipant(tx, in.ParticipantID)
		if err != nil {
			return err
		}
		return saveState(tx, p, in)
	})
	return wrap.Error(err, "saving state")
}

// RemoveParticipant takes a participant out of the programme: the status is
// withdrawn, texts and prompts that have not gone out are called off (notices
// excepted), and the workflow is told to end. The phone is free to be enrolled
// again. ErrNotFound when unknown or removed before.
func (s *People) RemoveParticipant(ctx context.Context, id, actor string, now time.Time) error {
	return s.RemoveParticipantIf(ctx, models.Removal{ID: id, Actor: actor, Now: now})
}

// RemoveParticipantIf is RemoveParticipant for a row of a given version;
// ErrStale when it has another one.
func (s *People) RemoveParticipantIf(ctx context.Context, r models.Removal) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		p, err := lockEnrolled(tx, r.ID)
		if err != nil {
			return err
		}
		if r.IfMatch != nil && *r.IfMatch != p.Version {
			return models.ErrStale
		}
		return removeParticipant(tx, p, r)
	})
	return wrap.Error(err, "removing participant")
}

// removeParticipant removes a participant whose row is locked.
func removeParticipant(tx *gorm.DB, p models.Participant, r models.Removal) error {
	p.RemovedAt, p.Status = &r.Now, wire.StatusWithdrawn
	p.TakenOverBy, p.TakenOverAt, p.TakenOverUntil = "", nil, nil
	if err := saveParticipant(tx, &p, r.Now); err != nil {
		return err
	}
	if err := callOff(tx, ending{participantID: p.ID, reason: refusedRemoved, at: r.Now}); err != nil {
		return err
	}
	audit := models.AuditRow{ParticipantID: p.ID, Actor: r.Actor, Action: "remove", At: r.Now}
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	_, err := insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeUnenroll, CreatedAt: r.Now})
	return err
}

// ending says for whom and why nothing that is planned goes out any more.
// except is an outbox row that the caller settles itself.
type ending struct {
	participantID, reason, except string
	at                            time.Time
}

// callOff cancels what is ready and unsent.
func callOff(tx *gorm.DB, e ending) error {
	err := tx.Model(&models.Outbox{}).
		Where("participant_id = ? AND status = ? AND kind <> ? AND id <> ?", e.participantID, wire.OutboxReady, models.KindNotice, e.except).
		UpdateColumns(map[string]any{"status": wire.OutboxCanceled, "error_code": e.reason, "updated_at": e.at}).Error
	if err != nil {
		return err
	}
	return tx.Model(&models.Prompt{}).
		Where("participant_id = ? AND state = ?", e.participantID, models.PromptPlanned).
		UpdateColumns(map[string]any{"state": models.PromptFailed, "reason": e.reason}).Error
}
