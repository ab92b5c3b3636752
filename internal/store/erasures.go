package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

const (
	actionErase  = "erase"
	actionErased = "erased"
)

// Erasures keeps the erasure of people who left.
type Erasures struct {
	db *database.Database
	// names are those that searches have opened.
	names *openedNames
}

// BeginErasure removes a participant who is enrolled, and records that the person
// is to be erased; the relay carries it on. A second call returns the erasure as it
// is. ErrNotFound for an unknown participant, *FieldError for a reason that names
// the person, because the reason stays.
func (s *Erasures) BeginErasure(ctx context.Context, r models.ErasureRequest) (models.Erasure, error) {
	var out models.Erasure
	// What a lost key has sealed is erased too.
	err := s.db.Write(database.AllowUnreadable(ctx), func(tx *gorm.DB) error {
		p, err := lockParticipant(tx, r.ParticipantID)
		if err != nil {
			return err
		}
		err = tx.Where("participant_id = ?", p.ID).Take(&out).Error
		if !errors.Is(err, gorm.ErrRecordNotFound) {
			return err
		}
		if err := checkErasureReason(r.Reason, p); err != nil {
			return err
		}
		if p.RemovedAt == nil {
			if err := removeParticipant(tx, p, models.Removal{Actor: r.Actor, Now: r.Now}); err != nil {
				return err
			}
		}
		now := instant(r.Now)
		out = models.Erasure{
			ParticipantID: p.ID, State: models.ErasureEnding, RequestedBy: r.Actor, RequestedAt: now, UpdatedAt: now,
			Rows: map[string]int64{}, Reason: r.Reason,
		}
		if err := tx.Create(&out).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{ParticipantID: p.ID, Actor: r.Actor, Action: actionErase, At: r.Now})
	})
	return out, wrap.Error(err, "beginning the erasure")
}

// checkErasureReason refuses a reason that holds a word of the person's name or
// their number.
func checkErasureReason(reason string, p models.Participant) error {
	low := strings.ToLower(reason)
	for _, word := range strings.Fields(strings.ToLower(p.Name)) {
		if len(word) > 2 && strings.Contains(low, word) {
			return models.BadField("reason", "must not name the person, because it is kept")
		}
	}
	if p.Phone != "" && strings.Contains(onlyDigits(reason), onlyDigits(p.Phone)) {
		return models.BadField("reason", "must not hold the person's number, because it is kept")
	}
	return nil
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// Erasure returns the erasure of a participant; ErrNotFound when there is none.
func (s *Erasures) Erasure(ctx context.Context, participantID string) (models.Erasure, error) {
	var out models.Erasure
	err := s.db.Reader(database.AllowUnreadable(ctx)).Where("participant_id = ?", participantID).Take(&out).Error
	return out, wrap.Error(classify(err), "reading the erasure")
}

// List returns a page of erasures, newest first. A limit outside 1..200 counts
// as 200.
func (s *Erasures) List(ctx context.Context, q models.ErasureQuery) ([]models.Erasure, error) {
	find := s.db.Reader(database.AllowUnreadable(ctx)).Order("requested_at DESC, participant_id DESC").Limit(pageLimit(q.Limit))
	if q.Before != "" {
		last, err := s.Erasure(ctx, q.Before)
		if errors.Is(err, models.ErrNotFound) {
			return nil, models.BadField("cursor", "must be next_cursor of the page before")
		}
		if err != nil {
			return nil, err
		}
		find = find.Where("(requested_at, participant_id) < (?, ?)", last.RequestedAt, last.ParticipantID)
	}
	var rows []models.Erasure
	err := find.Find(&rows).Error
	return rows, wrap.Error(classify(err), "listing erasures")
}

// PendingErasures lists erasures that are not done, oldest first.
func (s *Erasures) PendingErasures(ctx context.Context, limit int) ([]models.Erasure, error) {
	var rows []models.Erasure
	err := s.db.Reader(database.AllowUnreadable(ctx)).Where("state <> 'done'").Order("requested_at").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(classify(err), "listing pending erasures")
}

// ExpiredParticipants lists people who were removed before an instant and are not
// erased, the longest removed first.
func (s *Erasures) ExpiredParticipants(ctx context.Context, removedBefore time.Time, limit int) ([]string, error) {
	var ids []string
	err := s.db.Reader(ctx).Model(&models.Participant{}).
		Where("removed_at < ? AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.participant_id = participants.id)", instant(removedBefore)).
		Order("removed_at").Limit(limit).Pluck("id", &ids).Error
	return ids, wrap.Error(classify(err), "listing people who were removed long ago")
}

// IsSettled reports whether nothing is on its way for a removed participant any
// more: no notice to the workflow, no text to the carrier.
func (s *Erasures) IsSettled(ctx context.Context, participantID string) (bool, error) {
	var open int64
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var untold int64
		err := tx.Model(&models.Notice{}).Where("participant_id = ? AND delivered_at IS NULL", participantID).Count(&untold).Error
		if err != nil {
			return err
		}
		err = tx.Model(&models.Outbox{}).Where("participant_id = ? AND status IN ?", participantID,
			[]wire.OutboxStatus{wire.OutboxReady, wire.OutboxSending}).Count(&open).Error
		open += untold
		return err
	})
	if err != nil {
		return false, fmt.Errorf("reading what is on its way: %w", err)
	}
	return open == 0, nil
}

// EndErasureStep moves an erasure to its next step; another process may have done
// so before.
func (s *Erasures) EndErasureStep(ctx context.Context, step models.ErasureStep) error {
	err := s.db.WriteOne(ctx, func(rows *gorm.DB) error {
		return rows.Model(&models.Erasure{}).Where("participant_id = ? AND state = ?", step.ParticipantID, step.From).
			UpdateColumns(map[string]any{"state": step.To, "updated_at": instant(step.Now)}).Error
	})
	return wrap.Errorf(err, "ending step %s of the erasure", step.From)
}

// NoteExecutions records how many workflow runs an erasure has found to delete;
// the greatest number stays.
func (s *Erasures) NoteExecutions(ctx context.Context, participantID string, count int) error {
	err := s.db.WriteOne(ctx, func(rows *gorm.DB) error {
		return rows.Model(&models.Erasure{}).Where("participant_id = ? AND executions < ?", participantID, count).
			UpdateColumn("executions", count).Error
	})
	return wrap.Error(err, "recording deleted executions")
}

// NoteErasureProblem records why the carrier has not deleted everything, and calls
// an operator, once until the erasure is done.
func (s *Erasures) NoteErasureProblem(ctx context.Context, participantID, problem string, now time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := lockParticipant(tx, participantID); err != nil {
			return err
		}
		res := tx.Model(&models.Erasure{}).Where("participant_id = ? AND state = ?", participantID, models.ErasureCarrier).
			UpdateColumns(map[string]any{"problem": problem, "updated_at": instant(now)})
		if res.Error != nil || res.RowsAffected == 0 {
			return res.Error
		}
		_, err := raiseAttention(tx, models.AttentionEntry{ParticipantID: participantID, Kind: wire.AttentionErasure, RaisedAt: now})
		return err
	})
	return wrap.Error(err, "recording a problem of the erasure")
}

// EraseRows empties and deletes what the tables hold of a person, keeps an opt-out
// of their numbers, and has the carrier's copies come next. Safe to repeat.
func (s *Erasures) EraseRows(ctx context.Context, participantID string, now time.Time) error {
	return s.erase(ctx, participantID, func(_ *gorm.DB, e *models.Erasure) error {
		if e.State == models.ErasureRows {
			e.State, e.UpdatedAt = models.ErasureCarrier, instant(now)
		}
		return nil
	})
}

// FinishErasure empties what was written since EraseRows and ends the erasure. It
// does nothing while the carrier has copies.
func (s *Erasures) FinishErasure(ctx context.Context, participantID string, now time.Time) error {
	return s.erase(ctx, participantID, func(tx *gorm.DB, e *models.Erasure) error {
		copies, err := carrierCopies(tx, participantID, 1)
		if err != nil || len(copies) > 0 || e.State != models.ErasureCarrier {
			return err
		}
		e.CarrierUnknown, err = countUnknownCopies(tx, participantID)
		if err != nil {
			return err
		}
		at := instant(now)
		e.State, e.Problem, e.UpdatedAt, e.FinishedAt = models.ErasureDone, "", at, &at
		p := models.Participant{ID: participantID}
		if _, err := endAttention(tx, &p, wire.Attentions(), at); err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{ParticipantID: participantID, Actor: e.RequestedBy, Action: actionErased, At: at})
	})
}

// erase empties the rows of a person and saves the erasure as then has changed it.
func (s *Erasures) erase(ctx context.Context, participantID string, then func(tx *gorm.DB, e *models.Erasure) error) error {
	defer s.names.drop(participantID)
	err := s.db.Write(database.AllowUnreadable(ctx), func(tx *gorm.DB) error {
		p, err := lockParticipant(tx, participantID)
		if err != nil {
			return err
		}
		var e models.Erasure
		if err := tx.Where("participant_id = ?", participantID).Take(&e).Error; err != nil {
			return err
		}
		if e.State == models.ErasureDone {
			return nil
		}
		kept, err := suppressNumbers(tx, p)
		if err != nil {
			return err
		}
		e.Suppressed = e.Suppressed || kept
		if err := takeStrangersTexts(tx, p); err != nil {
			return err
		}
		if err := emptyTables(tx, participantID, e.Rows); err != nil {
			return err
		}
		if err := then(tx, &e); err != nil {
			return err
		}
		return tx.Select("*").Omit("reason", "requested_at", "requested_by", "executions", "carrier_messages").UpdateColumns(&e).Error
	})
	return wrap.Errorf(err, "erasing the rows of %s", participantID)
}

// numberOf is a number that a person had, until an instant or to the end.
type numberOf struct {
	index string
	until *time.Time
}

func numbersOf(tx *gorm.DB, p models.Participant) ([]numberOf, error) {
	var former []models.FormerPhone
	err := tx.Select("phone_index", "until_at").Where("participant_id = ?", p.ID).Find(&former).Error
	var out []numberOf
	if p.PhoneIndex != "" {
		out = append(out, numberOf{index: p.PhoneIndex})
	}
	for _, row := range former {
		out = append(out, numberOf{index: row.PhoneIndex, until: &row.UntilAt})
	}
	return out, err
}

// suppressNumbers keeps what the ledger says last of each of a person's numbers,
// when that is an opt-out.
func suppressNumbers(tx *gorm.DB, p models.Participant) (kept bool, err error) {
	numbers, err := numbersOf(tx, p)
	if err != nil {
		return false, err
	}
	for _, number := range numbers {
		newest, err := consentOfPhone(tx, number.index)
		if err != nil {
			return false, err
		}
		if err := tx.Where("phone_index = ?", number.index).Delete(&models.Suppression{}).Error; err != nil {
			return false, err
		}
		if newest.Action != models.ConsentOptOut {
			continue
		}
		kept = true
		row := models.Suppression{PhoneIndex: number.index, Method: newest.Method, RecordedBy: newest.RecordedBy, At: instant(newest.At)}
		if err := tx.Create(&row).Error; err != nil {
			return false, err
		}
	}
	return kept, nil
}

// takeStrangersTexts makes texts the person's that came from their number while
// they were not enrolled, so that they are emptied with the others.
func takeStrangersTexts(tx *gorm.DB, p models.Participant) error {
	numbers, err := numbersOf(tx, p)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		find := tx.Model(&models.Inbound{}).Where("participant_id = '' AND from_index = ?", number.index)
		if number.until != nil {
			find = find.Where("received_at < ?", *number.until)
		}
		if err := find.UpdateColumn("participant_id", p.ID).Error; err != nil {
			return err
		}
	}
	return nil
}
