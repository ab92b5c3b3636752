package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
)

// peoplePage is how many people's rows are read at once, rowsPage how many rows
// where they are not read by person.
const (
	peoplePage = 50
	rowsPage   = 1000
)

// ReadStudy calls fn with the rows of a study as they are in one state of the
// database. ErrNotFound for an unknown study.
func (s *Studies) ReadStudy(ctx context.Context, what models.StudyReading, fn func(models.Study, models.StudyRows) error) error {
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		study, err := readStudy(tx, what.ID)
		if err != nil {
			return err
		}
		return fn(study, &studyRows{tx: tx, study: what.ID, now: what.Now, texts: what.Texts})
	})
	return wrap.Error(classify(err), "reading the rows of a study")
}

// studyRows implements models.StudyRows within a transaction.
type studyRows struct {
	tx    *gorm.DB
	study string
	now   time.Time
	texts bool
}

// selectPeople leaves out what tells who people are, which is not even opened.
func (r *studyRows) selectPeople() *gorm.DB {
	return r.tx.Table("participants").Where("study_id = ?", r.study).
		Select("id", "timezone", "locale", "channel", "status", "mode", "tester", "arm", "enrolled_at", "removed_at", "zone_assumed")
}

// eachPage calls fn with the people of the study, page by page.
func (r *studyRows) eachPage(fn func([]models.StudyPerson) error) error {
	for after := ""; ; {
		var page []models.StudyPerson
		if err := r.selectPeople().Where("id > ?", after).Order("id").Limit(peoplePage).Scan(&page).Error; err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		if err := fn(page); err != nil {
			return err
		}
		after = page[len(page)-1].ID
	}
}

// People reads the people.
func (r *studyRows) People(fn func(models.StudyPerson) error) error {
	return r.eachPage(func(page []models.StudyPerson) error {
		var withdrew []string
		err := r.tx.Model(&models.StudyConsent{}).Where("participant_id IN ? AND study_id = ? AND given = ?", idsOf(page), r.study, false).
			Distinct().Pluck("participant_id", &withdrew).Error
		if err != nil {
			return err
		}
		gone := map[string]bool{}
		for _, id := range withdrew {
			gone[id] = true
		}
		for _, p := range page {
			p.Withdrew = gone[p.ID]
			if err := fn(p); err != nil {
				return err
			}
		}
		return nil
	})
}

func idsOf(page []models.StudyPerson) []string {
	ids := make([]string, len(page))
	for i, p := range page {
		ids[i] = p.ID
	}
	return ids
}

// byPerson says how rows are read person by person.
type byPerson[T any] struct {
	columns []string
	order   string
	owner   func(T) string
	fn      func(models.StudyPerson, T) error
}

func eachOfPeople[T any](r *studyRows, q byPerson[T]) error {
	return r.eachPage(func(page []models.StudyPerson) error {
		var rows []T
		var row T
		err := r.tx.Model(&row).Select(q.columns).Where("participant_id IN ?", idsOf(page)).Order("participant_id, " + q.order).Find(&rows).Error
		if err != nil {
			return err
		}
		return eachWith(page, rows, q.owner, q.fn)
	})
}

// eachWith calls fn with each row and its person; rows of others are left out.
func eachWith[T any](page []models.StudyPerson, rows []T, owner func(T) string, fn func(models.StudyPerson, T) error) error {
	people := map[string]models.StudyPerson{}
	for _, p := range page {
		people[p.ID] = p
	}
	for _, row := range rows {
		p, known := people[owner(row)]
		if !known {
			continue
		}
		if err := fn(p, row); err != nil {
			return err
		}
	}
	return nil
}

// Turns reads the turns.
func (r *studyRows) Turns(fn func(models.StudyPerson, models.Turn) error) error {
	return eachOfPeople(r, byPerson[models.Turn]{
		columns: []string{"id", "participant_id", "number", "kind", "mode", "channel", "prompt_id", "arm", "study_version", "outcome", "started_at", "finished_at"},
		order:   "number, id", owner: func(t models.Turn) string { return t.ParticipantID }, fn: fn,
	})
}

// Prompts reads the prompts.
func (r *studyRows) Prompts(fn func(models.StudyPerson, models.Prompt) error) error {
	return eachOfPeople(r, byPerson[models.Prompt]{
		columns: []string{"*"}, order: "target_at, id", owner: func(p models.Prompt) string { return p.ParticipantID }, fn: fn,
	})
}

// Outbound reads the texts to people.
func (r *studyRows) Outbound(fn func(models.StudyPerson, models.Outbox) error) error {
	columns := []string{"id", "participant_id", "turn_id", "part", "kind", "prompt_id", "channel", "status", "error_code", "segments", "created_at", "accepted_at"}
	if r.texts {
		columns = append(columns, "body")
	}
	return eachOfPeople(r, byPerson[models.Outbox]{
		columns: columns,
		order:   "created_at, id", owner: func(o models.Outbox) string { return o.ParticipantID }, fn: fn,
	})
}

// StudyConsents reads the consents to the study and their withdrawals.
func (r *studyRows) StudyConsents(fn func(models.StudyPerson, models.StudyConsent) error) error {
	return eachOfPeople(r, byPerson[models.StudyConsent]{
		columns: []string{"*"}, order: "id", owner: func(c models.StudyConsent) string { return c.ParticipantID }, fn: fn,
	})
}

// Disclosures reads when people were told that a program writes.
func (r *studyRows) Disclosures(fn func(models.StudyPerson, models.Disclosure) error) error {
	return eachOfPeople(r, byPerson[models.Disclosure]{
		columns: []string{"*"}, order: "at, outbox_id", owner: func(d models.Disclosure) string { return d.ParticipantID }, fn: fn,
	})
}

// Alerts reads the alerts, without what operators wrote.
func (r *studyRows) Alerts(fn func(models.StudyPerson, models.Alert) error) error {
	return eachOfPeople(r, byPerson[models.Alert]{
		columns: []string{
			"id", "participant_id", "inbound_id", "danger", "tier", "rule", "kind", "escalated", "mark", "created_at", "paged_at", "acknowledged_at", "cleared_at",
		},
		order: "created_at, id", owner: func(a models.Alert) string { return a.ParticipantID }, fn: fn,
	})
}

// Costs reads what was paid.
func (r *studyRows) Costs(fn func(models.StudyPerson, models.Cost) error) error {
	return eachOfPeople(r, byPerson[models.Cost]{
		columns: []string{"*"}, order: "day, ref", owner: func(c models.Cost) string { return c.ParticipantID }, fn: fn,
	})
}

// auditColumns leave out what may be personal, and what names rows.
var auditColumns = []string{"id", "participant_id", "actor", "action", "at"}

// Audit reads the audit rows about the study, and then those about its people.
func (r *studyRows) Audit(fn func(models.StudyPerson, models.AuditRow) error) error {
	objects, err := r.auditObjects()
	if err != nil {
		return err
	}
	for after := int64(0); ; {
		var rows []models.AuditRow
		err := r.tx.Select(auditColumns).Where("participant_id = '' AND id > ? AND object IN ?", after, objects).Order("id").Limit(rowsPage).Find(&rows).Error
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			if err := fn(models.StudyPerson{}, row); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].ID
	}
	return eachOfPeople(r, byPerson[models.AuditRow]{
		columns: auditColumns, order: "id", owner: func(a models.AuditRow) string { return a.ParticipantID }, fn: fn,
	})
}

// auditObjects lists what the audit calls the study, and its cohorts, budgets and
// holds.
func (r *studyRows) auditObjects() ([]string, error) {
	objects := []string{studyObject(r.study)}
	var cohorts []string
	if err := r.tx.Model(&models.Cohort{}).Where("study_id = ?", r.study).Order("id").Pluck("id", &cohorts).Error; err != nil {
		return nil, err
	}
	for _, id := range cohorts {
		objects = append(objects, cohortObject(id))
	}
	var budgets, holds []int64
	if err := r.tx.Model(&models.Budget{}).Where("study_id = ?", r.study).Order("id").Pluck("id", &budgets).Error; err != nil {
		return nil, err
	}
	for _, id := range budgets {
		objects = append(objects, budgetObject(id))
	}
	err := r.tx.Model(&models.Hold{}).Where("scope = ? AND scope_id = ?", models.HoldStudy, r.study).Order("id").Pluck("id", &holds).Error
	for _, id := range holds {
		objects = append(objects, holdObject(id))
	}
	return objects, err
}

// Inbound reads the texts of people in the order in which they came: not all of them
// are in an index by person.
func (r *studyRows) Inbound(fn func(models.StudyPerson, models.Inbound) error) error {
	columns := []string{"id", "participant_id", "media_count", "channel", "intent", "gate", "received_at"}
	if r.texts {
		columns = append(columns, "provider_sid", "body", "voice")
	}
	return eachOfRows(r, byNumber[models.Inbound]{
		next: func(after int64) *gorm.DB {
			rows := r.tx.Select(columns).Where("id > ? AND participant_id <> ''", after).Order("id")
			if r.texts { // those of other studies are not even opened
				rows = rows.Where("participant_id IN (SELECT id FROM participants WHERE study_id = ?)", r.study)
			}
			return rows
		},
		number: func(in models.Inbound) int64 { return in.ID }, owner: func(in models.Inbound) string { return in.ParticipantID }, fn: fn,
	})
}

// Allocations reads the allocations in their order.
func (r *studyRows) Allocations(fn func(models.StudyPerson, models.Allocation) error) error {
	return eachOfRows(r, byNumber[models.Allocation]{
		next: func(after int64) *gorm.DB {
			return r.tx.Where("study_id = ? AND number > ?", r.study, after).Order("number")
		},
		number: func(a models.Allocation) int64 { return a.Number }, owner: func(a models.Allocation) string { return a.ParticipantID }, fn: fn,
	})
}

// byNumber says how rows are read by a number of theirs; next selects those behind it.
type byNumber[T any] struct {
	next   func(after int64) *gorm.DB
	number func(T) int64
	owner  func(T) string
	fn     func(models.StudyPerson, T) error
}

// eachOfRows reads rows by their number, page by page, each with its person.
func eachOfRows[T any](r *studyRows, q byNumber[T]) error {
	for after := int64(0); ; {
		var rows []T
		if err := q.next(after).Limit(rowsPage).Find(&rows).Error; err != nil || len(rows) == 0 {
			return err
		}
		known := map[string]bool{}
		var ids []string
		for _, row := range rows {
			if id := q.owner(row); !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
		var people []models.StudyPerson
		if err := r.selectPeople().Where("id IN ?", ids).Scan(&people).Error; err != nil {
			return err
		}
		if err := eachWith(people, rows, q.owner, q.fn); err != nil {
			return err
		}
		after = q.number(rows[len(rows)-1])
	}
}

// Decisions reads the decision points with their outcomes.
func (r *studyRows) Decisions(fn func(models.StudyPerson, models.DecisionOutcome) error) error {
	return r.eachPage(func(page []models.StudyPerson) error {
		var rows []models.DecisionPoint
		if err := r.tx.Where("participant_id IN ?", idsOf(page)).Order("participant_id, number").Find(&rows).Error; err != nil {
			return err
		}
		decided, err := withOutcomes(r.tx, rows, r.now)
		if err != nil {
			return err
		}
		return eachWith(page, decided, func(d models.DecisionOutcome) string { return d.ParticipantID }, fn)
	})
}
