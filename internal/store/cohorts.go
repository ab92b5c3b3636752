package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// knownAtOnce is how many numbers one statement looks for.
const knownAtOnce = 500

// Cohorts keeps imports of people.
type Cohorts struct{ db *database.Database }

// CreateCohort stores a job whose file is to be checked, with an audit row.
func (s *Cohorts) CreateCohort(ctx context.Context, job models.Cohort) (models.Cohort, error) {
	job.State, job.CreatedAt = models.CohortChecking, instant(job.CreatedAt)
	job.UpdatedAt, job.StudyID = job.CreatedAt, cmp.Or(job.StudyID, models.DefaultStudy)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&job).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: job.CreatedBy, Action: "cohort_upload", Object: cohortObject(job.ID), At: job.CreatedAt,
			Detail: fmt.Sprintf("%d bytes", len(job.File)),
		})
	})
	return job, wrap.Error(err, "storing the file")
}

func cohortObject(id string) string { return "cohort:" + id }

// Cohort returns a job. ErrNotFound for an unknown id.
func (s *Cohorts) Cohort(ctx context.Context, id string) (models.Cohort, error) {
	var job models.Cohort
	err := s.db.Reader(ctx).Where("id = ?", id).Take(&job).Error
	return job, wrap.Error(classify(err), "reading a cohort")
}

// CohortsToDo lists the ids of jobs that are to be checked or carried out, oldest
// first.
func (s *Cohorts) CohortsToDo(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.db.Reader(ctx).Model(&models.Cohort{}).Where("state IN ?", []models.CohortState{models.CohortChecking, models.CohortRunning}).
		Order("created_at, id").Limit(maxPage).Pluck("id", &ids).Error
	return ids, wrap.Error(classify(err), "reading cohorts")
}

// KnownNumbers returns what is known of those of the numbers that are enrolled or
// have opted out.
func (s *Cohorts) KnownNumbers(ctx context.Context, phones []string) (map[string]models.KnownNumber, error) {
	out := map[string]models.KnownNumber{}
	for begin := 0; begin < len(phones); begin += knownAtOnce {
		err := s.findKnown(s.db.Reader(ctx), phones[begin:min(begin+knownAtOnce, len(phones))], out)
		if err != nil {
			return nil, fmt.Errorf("looking for numbers: %w", classify(err))
		}
	}
	return out, nil
}

// findKnown adds what is known of a few numbers. Where a number may have opted
// out, the consent ledger decides.
func (s *Cohorts) findKnown(tx *gorm.DB, phones []string, into map[string]models.KnownNumber) error {
	phoneOf := map[string]string{}
	indexes := make([]string, len(phones))
	for i, phone := range phones {
		indexes[i] = s.db.Index(phone)
		phoneOf[indexes[i]] = phone
	}
	var enrolled []struct{ ID, PhoneIndex string }
	err := tx.Model(&models.Participant{}).Where("phone_index IN ? AND removed_at IS NULL", indexes).Find(&enrolled).Error
	if err != nil {
		return err
	}
	for _, p := range enrolled {
		into[phoneOf[p.PhoneIndex]] = models.KnownNumber{ParticipantID: p.ID}
	}
	var said []string
	strangers := tx.Model(&models.Inbound{}).Select("from_index").
		Where("from_index IN ? AND participant_id = '' AND intent = ?", indexes, models.IntentStop)
	err = tx.Model(&models.Consent{}).Where("phone_index IN ? AND action = ?", indexes, models.ConsentOptOut).Distinct().Pluck("phone_index", &said).Error
	if err != nil {
		return err
	}
	var texted []string
	if err := strangers.Distinct().Pluck("from_index", &texted).Error; err != nil {
		return err
	}
	var erased []string
	if err := tx.Model(&models.Suppression{}).Where("phone_index IN ?", indexes).Pluck("phone_index", &erased).Error; err != nil {
		return err
	}
	for _, index := range slices.Concat(said, texted, erased) {
		newest, err := consentOfPhone(tx, index)
		if err != nil {
			return err
		}
		if newest.Action == models.ConsentOptOut {
			known := into[phoneOf[index]]
			known.OptedOut = true
			into[phoneOf[index]] = known
		}
	}
	return nil
}

// SaveCohortCheck records what the check of a job found, once: a job that is no
// longer being checked is returned as it is.
func (s *Cohorts) SaveCohortCheck(ctx context.Context, check models.CohortCheck) (models.Cohort, error) {
	now := instant(check.Now)
	return s.changeCohort(ctx, check.ID, now, func(tx *gorm.DB, job *models.Cohort) error {
		if job.State != models.CohortChecking {
			return nil
		}
		job.State, job.Rows, job.Good, job.FaultCount, job.ZonesSuggested = check.State, check.Rows, check.Good, check.Faults, check.Suggested
		if err := setReport(job, check.Report); err != nil {
			return err
		}
		if job.State == models.CohortFailed {
			endCohort(job, models.CohortFailed, now)
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: job.CreatedBy, Action: "cohort_check", Object: cohortObject(job.ID), At: now,
			Detail: fmt.Sprintf("%s, %d rows, %d good, %d faults", job.State, job.Rows, job.Good, job.FaultCount),
		})
	})
}

// ConfirmCohort has a checked job carried out. A job that is confirmed already is
// returned as it is; ErrConflict for one that is not ready.
func (s *Cohorts) ConfirmCohort(ctx context.Context, step models.CohortStep) (models.Cohort, error) {
	now := instant(step.Now)
	return s.changeCohort(ctx, step.ID, now, func(tx *gorm.DB, job *models.Cohort) error {
		switch job.State {
		case models.CohortRunning, models.CohortDone:
			return nil
		case models.CohortChecking, models.CohortFailed, models.CohortCanceled:
			return models.ErrConflict
		case models.CohortReady:
		}
		job.State, job.ConfirmedBy, job.ConfirmedAt = models.CohortRunning, step.Actor, &now
		if err := dropFirst(job); err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: step.Actor, Action: "cohort_confirm", Object: cohortObject(job.ID), At: now, Detail: fmt.Sprintf("%d people", job.Good),
		})
	})
}

// CancelCohort ends a job; who is enrolled stays so. A job that was canceled is
// returned as it is; ErrConflict for one that is over otherwise.
func (s *Cohorts) CancelCohort(ctx context.Context, step models.CohortStep) (models.Cohort, error) {
	now := instant(step.Now)
	return s.changeCohort(ctx, step.ID, now, func(tx *gorm.DB, job *models.Cohort) error {
		if job.State == models.CohortCanceled {
			return nil
		}
		if job.State.IsOver() {
			return models.ErrConflict
		}
		endCohort(job, models.CohortCanceled, now)
		return database.AddAudit(tx, models.AuditRow{
			Actor: step.Actor, Action: "cohort_cancel", Object: cohortObject(job.ID), At: now, Detail: fmt.Sprintf("%d enrolled", job.Enrolled),
		})
	})
}

// ExpireCohorts cancels the jobs that have waited for a confirmation since before
// an instant, so that their files do not stay.
func (s *Cohorts) ExpireCohorts(ctx context.Context, before, now time.Time) error {
	var ids []string
	err := s.db.Reader(ctx).Model(&models.Cohort{}).Where("state = ? AND created_at < ?", models.CohortReady, instant(before)).
		Limit(maxPage).Pluck("id", &ids).Error
	if err != nil {
		return fmt.Errorf("reading cohorts: %w", classify(err))
	}
	for _, id := range ids {
		_, err := s.changeCohort(ctx, id, instant(now), func(tx *gorm.DB, job *models.Cohort) error {
			if job.State != models.CohortReady {
				return nil
			}
			endCohort(job, models.CohortCanceled, instant(now))
			return database.AddAudit(tx, models.AuditRow{
				Actor: "system", Action: "cohort_cancel", Object: cohortObject(job.ID), At: instant(now), Detail: "not confirmed in time",
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// EnrolBatch enrols the next people of a running job in one transaction with the
// job's progress, so that each is enrolled once. Numbers that were enrolled or
// have opted out meanwhile are left out and reported. ErrStale when the job is at
// another row, ErrConflict when it is not running.
func (s *Cohorts) EnrolBatch(ctx context.Context, b models.CohortBatch) (models.Cohort, error) {
	now := instant(b.Now)
	return s.changeCohort(ctx, b.ID, now, func(tx *gorm.DB, job *models.Cohort) error {
		switch {
		case job.State != models.CohortRunning:
			return models.ErrConflict
		case job.Tried != b.From:
			return models.ErrStale
		}
		if err := s.enrolRows(tx, job, b); err != nil {
			return err
		}
		job.Tried += len(b.People)
		if !b.IsLast {
			return nil
		}
		endCohort(job, models.CohortDone, now)
		return database.AddAudit(tx, models.AuditRow{
			Actor: job.ConfirmedBy, Action: "cohort_done", Object: cohortObject(job.ID), At: now,
			Detail: fmt.Sprintf("%d enrolled, %d skipped", job.Enrolled, job.Skipped),
		})
	})
}

func (s *Cohorts) enrolRows(tx *gorm.DB, job *models.Cohort, b models.CohortBatch) error {
	phones := make([]string, len(b.People))
	for i, p := range b.People {
		phones[i] = p.Phone
	}
	known := map[string]models.KnownNumber{}
	if err := s.findKnown(tx, phones, known); err != nil {
		return err
	}
	var faults []models.CohortFault
	for i, p := range b.People {
		if number, found := known[p.Phone]; found {
			faults = append(faults, b.Rows[i].FaultOf(number))
			continue
		}
		if err := validate(p); err != nil {
			return err
		}
		setDefaults(&p)
		p.PhoneIndex = s.db.Index(p.Phone)
		member := newMember{by: models.AuditRow{Actor: job.ConfirmedBy, Object: cohortObject(job.ID)}, strata: b.Rows[i].Strata}
		if len(b.Consents) > 0 {
			member.consent = b.Consents[i]
		}
		var refused *models.FieldError
		err := addParticipant(tx, &p, member)
		switch {
		case errors.As(err, &refused): // before anything was written, see joinStudy
			faults = append(faults, b.Rows[i].StudyFault(refused))
		case err != nil:
			return err
		default:
			job.Enrolled++
		}
	}
	report, err := job.ReadReport()
	if err != nil {
		return err
	}
	if len(faults) == 0 && report.LastGreetingAt.Equal(b.LastGreetingAt) {
		return nil
	}
	job.Skipped += len(faults)
	report.AddFaults(faults)
	report.LastGreetingAt = b.LastGreetingAt
	return setReport(job, report)
}

// changeCohort changes a job whose row is locked and returns it without its file;
// an error of change is returned as it is.
func (s *Cohorts) changeCohort(ctx context.Context, id string, now time.Time, change func(tx *gorm.DB, job *models.Cohort) error) (models.Cohort, error) {
	var job models.Cohort
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		job = models.Cohort{}
		if err := forUpdate(tx).Omit("file").Where("id = ?", id).Take(&job).Error; err != nil {
			return err
		}
		report := job.Report
		if err := change(tx, &job); err != nil {
			return err
		}
		job.UpdatedAt = now
		return saveCohort(tx, job, job.Report != report)
	})
	return job, wrap.Error(err, "changing a cohort")
}

// saveCohort writes a job. Its file, which may be large, is only ever emptied.
func saveCohort(tx *gorm.DB, job models.Cohort, withReport bool) error {
	columns := []string{
		"state", "rows", "good", "faults", "suggested", "next_row", "enrolled", "skipped",
		"updated_at", "confirmed_by", "confirmed_at", "finished_at",
	}
	if withReport {
		columns = append(columns, "report")
	}
	if job.State.IsOver() {
		columns = append(columns, "file")
	}
	return tx.Model(&job).Select(columns).UpdateColumns(&job).Error
}

// dropFirst takes the first people out of a report; they are shown before the
// confirmation only.
func dropFirst(job *models.Cohort) error {
	report, err := job.ReadReport()
	if err != nil {
		return err
	}
	report.First = nil
	return setReport(job, report)
}

func endCohort(job *models.Cohort, state models.CohortState, now time.Time) {
	job.State, job.FinishedAt, job.File = state, &now, nil
}

func setReport(job *models.Cohort, report models.CohortReport) error {
	raw, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("encoding a report: %w", err)
	}
	job.Report = string(raw)
	return nil
}
