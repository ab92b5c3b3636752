package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/prices"
	"coachline/internal/wrap"
	"coachline/models"
)

// Budgets keeps what may be spent.
type Budgets struct {
	db *database.Database
	// personMicros is what a person without a budget may spend on a day, in millionths
	// of the currency; 0 is no limit.
	personMicros int64
	// prices are those of texts and calls that are not in the ledger yet.
	prices *prices.List
}

// SetBudget stores a budget in the place of the one of the same scope and period,
// with its audit row, and returns it as it stands. ErrNotFound for an unknown
// participant or study.
func (s *Budgets) SetBudget(ctx context.Context, b models.Budget) (models.Budget, error) {
	b.UpdatedAt = instant(b.UpdatedAt)
	var out models.Budget
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		out = b
		if err := checkBudgetScope(tx, b); err != nil {
			return err
		}
		var old []models.Budget
		if err := forUpdate(tx).Where("scope = ? AND participant_id = ? AND study_id = ? AND period = ?", b.Scope, b.ParticipantID, b.StudyID, b.Period).Find(&old).Error; err != nil {
			return err
		}
		var before map[string]string
		for _, row := range old {
			out.ID, before = row.ID, map[string]string{"budget": describeBudget(row)}
		}
		var err error
		out, err = saveBudget(tx, out, before)
		return err
	})
	return out, wrap.Error(err, "setting the budget")
}

// saveBudget writes a budget that was set at its UpdatedAt, and its audit row.
func saveBudget(tx *gorm.DB, b models.Budget, before map[string]string) (models.Budget, error) {
	b.PeriodStart = b.Period.FirstDay(b.UpdatedAt)
	var err error
	if b.Spent, err = spentOf(tx, b); err != nil {
		return b, err
	}
	b.State = models.BudgetOpen // the next sweep tells of what is crossed already
	// Save would put the clock's instant in the place of UpdatedAt.
	save := tx.Create
	if b.ID != 0 {
		save = tx.Select("*").UpdateColumns
	}
	if err := save(&b).Error; err != nil {
		return b, err
	}
	return b, database.AddAudit(tx, models.AuditRow{
		ParticipantID: b.ParticipantID, Actor: b.CreatedBy, Action: "budget", Object: budgetObject(b.ID),
		Detail: describeBudget(b), Before: before, After: map[string]string{"budget": describeBudget(b)}, At: b.UpdatedAt,
	})
}

// ChangeBudget changes some fields of a budget. ErrNotFound for an unknown id, and
// what the check of the change refuses.
func (s *Budgets) ChangeBudget(ctx context.Context, c models.BudgetChange) (models.Budget, error) {
	var out models.Budget
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var old models.Budget
		if err := forUpdate(tx).Where("id = ?", c.ID).Take(&old).Error; err != nil {
			return err
		}
		if c.Check != nil {
			if err := c.Check(old); err != nil {
				return err
			}
		}
		out = old
		if c.Micros != nil {
			out.Micros = *c.Micros
		}
		if c.WarnPercent != nil {
			out.WarnPercent = *c.WarnPercent
		}
		out.CreatedBy, out.UpdatedAt = c.Actor, instant(c.Now)
		var err error
		out, err = saveBudget(tx, out, map[string]string{"budget": describeBudget(old)})
		return err
	})
	return out, wrap.Error(err, "changing the budget")
}

func checkBudgetScope(tx *gorm.DB, b models.Budget) error {
	switch b.Scope {
	case models.BudgetParticipant:
		_, err := lockEnrolled(tx, b.ParticipantID)
		return err
	case models.BudgetStudy:
		return tx.Select("id").Where("id = ?", b.StudyID).Take(&models.Study{}).Error
	case models.BudgetProgramme:
	}
	return nil
}

func describeBudget(b models.Budget) string {
	scope := string(b.Scope)
	if b.StudyID != "" {
		scope += " " + b.StudyID
	}
	return fmt.Sprintf("%s %s %d micros, warning at %d percent", scope, b.Period, b.Micros, b.WarnPercent)
}

func budgetObject(id int64) string { return "budget/" + strconv.FormatInt(id, 10) }

// DeleteBudget removes a budget. ErrNotFound for an unknown id.
func (s *Budgets) DeleteBudget(ctx context.Context, id int64, actor string, now time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var row models.Budget
		if err := forUpdate(tx).Where("id = ?", id).Take(&row).Error; err != nil {
			return err
		}
		if err := tx.Delete(&row).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			ParticipantID: row.ParticipantID, Actor: actor, Action: "budget_delete", Object: budgetObject(id),
			Detail: describeBudget(row), Before: map[string]string{"budget": describeBudget(row)}, At: instant(now),
		})
	})
	return wrap.Error(err, "deleting the budget")
}

// List returns all budgets, the programme's first, then those of studies.
func (s *Budgets) List(ctx context.Context) ([]models.Budget, error) {
	var rows []models.Budget
	err := s.db.Reader(ctx).Order("CASE scope WHEN 'programme' THEN 1 WHEN 'study' THEN 2 ELSE 3 END, study_id, participant_id, period").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading budgets")
}

// spentOf adds up what counts against a budget.
func spentOf(tx *gorm.DB, b models.Budget) (int64, error) {
	find := tx.Model(&models.Cost{}).Where("day >= ? AND currency = ?", b.PeriodStart, b.Currency)
	switch b.Scope {
	case models.BudgetParticipant:
		find = find.Where("participant_id = ?", b.ParticipantID)
	case models.BudgetStudy:
		find = find.Where("participant_id IN (SELECT id FROM participants WHERE study_id = ?)", b.StudyID)
	case models.BudgetProgramme:
	}
	var spent int64
	err := find.Select("COALESCE(SUM(micros), 0)").Scan(&spent).Error
	return spent, err
}

// CheckBudgets brings every budget up to date and returns those that have crossed
// their warning or are spent since the last time, each crossing once for all
// processes.
func (s *Budgets) CheckBudgets(ctx context.Context, now time.Time) ([]models.Budget, error) {
	rows, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	var crossed []models.Budget
	for _, row := range rows {
		was, start := row.State, row.Period.FirstDay(now)
		if start != row.PeriodStart {
			was = models.BudgetOpen
		}
		fresh := row
		fresh.PeriodStart = start
		if fresh.Spent, err = spentOf(s.db.Reader(ctx), fresh); err != nil {
			return crossed, fmt.Errorf("adding up a budget: %w", classify(err))
		}
		fresh.State = fresh.StateAt(fresh.Spent)
		if fresh == row {
			continue
		}
		changed := false
		err = s.db.WriteOne(ctx, func(rows *gorm.DB) error {
			res := rows.Model(&models.Budget{}).
				Where("id = ? AND state = ? AND period_start = ? AND updated_at = ?", row.ID, row.State, row.PeriodStart, row.UpdatedAt).
				UpdateColumns(map[string]any{"state": fresh.State, "spent": fresh.Spent, "period_start": start})
			changed = res.RowsAffected > 0
			return res.Error
		})
		if err != nil {
			return crossed, fmt.Errorf("updating a budget: %w", err)
		}
		if changed && fresh.State != was && fresh.State != models.BudgetOpen {
			crossed = append(crossed, fresh)
		}
	}
	return crossed, nil
}

// personShare is which part of a programme's budget a person may spend on a day who has
// no budget of their own: one person does not spend everybody's.
const personShare = 20

// spentShares returns the people without a budget who have spent on the day of an instant
// what one may of a programme's budget, or at all.
func (s *Budgets) spentShares(tx *gorm.DB, now time.Time) ([]string, error) {
	var programmes []models.Budget
	if err := tx.Where("scope = ?", models.BudgetProgramme).Find(&programmes).Error; err != nil {
		return nil, err
	}
	var all []string
	if s.personMicros > 0 {
		programmes = append(programmes, models.Budget{Micros: s.personMicros * personShare})
	}
	for _, budget := range programmes {
		var people []string
		err := tx.Model(&models.Cost{}).
			Where("day = ? AND ? IN ('', currency) AND participant_id NOT IN (?)", models.BudgetDay.FirstDay(now), budget.Currency,
				tx.Model(&models.Budget{}).Select("participant_id").Where("scope = ?", models.BudgetParticipant)).
			Group("participant_id").Having("SUM(micros) >= ?", max(budget.Micros/personShare, 1)).Pluck("participant_id", &people).Error
		if err != nil {
			return nil, err
		}
		all = append(all, people...)
	}
	return all, nil
}

// spentOfDay reads a daySpent, spentArgs are what it is asked for.
const spentOfDay = `EXISTS (SELECT 1 FROM budgets WHERE scope = 'participant' AND participant_id = ?),
	(SELECT COALESCE(SUM(micros), 0) FROM costs WHERE participant_id = ? AND day = ?),
	COALESCE((SELECT MIN(micros) FROM budgets WHERE scope = 'programme'), 0)`

func spentArgs(participantID string, now time.Time) []any {
	return []any{participantID, participantID, models.BudgetDay.FirstDay(now)}
}

// daySpent is whether a person has a budget of their own, what they have cost on a day,
// and the least budget of the programme, 0 for none.
type daySpent struct {
	hasOwn           bool
	spent, programme int64
}

func (d *daySpent) list() []any { return []any{&d.hasOwn, &d.spent, &d.programme} }

// most is what the person may cost on the day, as spentShares has it; 0 is no limit.
func (d *daySpent) most(personMicros int64) int64 {
	switch share := max(d.programme/personShare, 1); {
	case d.hasOwn:
		return 0
	case d.programme > 0 && (personMicros <= 0 || share < personMicros):
		return share
	}
	return personMicros
}

// isDaySpent reports whether a person has cost on the day of an instant so much that
// nothing new may begin.
func (s *Budgets) isDaySpent(tx *gorm.DB, participantID string, now time.Time) (bool, error) {
	var day daySpent
	err := tx.Raw("SELECT "+spentOfDay, spentArgs(participantID, now)...).Row().Scan(day.list()...)
	if err != nil {
		return false, err
	}
	return s.isOver(tx, day, participantID, now)
}

// reserve is the part of a day's limit that is left for what is under way when nothing new
// begins any more: a tenth.
const reserve = 10

// isOver reports whether nothing new may begin for a person who has cost so much. From
// half of the limit on it books what waits first: a flood is faster than the ledger.
func (s *Budgets) isOver(tx *gorm.DB, day daySpent, participantID string, now time.Time) (bool, error) {
	most := day.most(s.personMicros)
	if most <= 0 || day.spent < most/2 {
		return false, nil
	}
	if day.spent < most-most/reserve && s.prices != nil {
		if err := recordWaiting(tx, s.prices); err != nil {
			return false, err
		}
		if err := tx.Raw("SELECT "+spentOfDay, spentArgs(participantID, now)...).Row().Scan(day.list()...); err != nil {
			return false, err
		}
	}
	return day.spent >= most-most/reserve, nil
}

// checkMoney refuses a row that its reader's limit of the day does not let out.
func (s *Budgets) checkMoney(tx *gorm.DB, row models.Outbox, now time.Time) (string, error) {
	if passesLimit(row) {
		return "", nil
	}
	if row.Kind == models.KindConsent {
		entry, err := findConsent(tx.Where("participant_id = ? AND turn_id = ?", row.ParticipantID, row.TurnID))
		if err != nil || entry.Action == models.ConsentOptOut {
			return "", err
		}
	}
	isSpent, err := s.isDaySpent(tx, row.ParticipantID, now)
	if err != nil || !isSpent {
		return "", err
	}
	return models.MissedSpent, nil
}

// passesLimit reports whether a row goes out whatever its reader has cost: what has a
// count of its own, the answer to a text that came before, and what a person wrote.
func passesLimit(row models.Outbox) bool {
	isAsked := strings.HasPrefix(row.ID, row.ParticipantID+"-"+askText+"-")
	return row.Kind.Spec().PassesLimit && !isAsked
}

// SpentBudgets says for whom the model is stopped at an instant, as of the last
// sweep. A person without a budget is also stopped for the rest of a day on which they
// have spent a twentieth of the programme's, or what a person may.
func (s *Budgets) SpentBudgets(ctx context.Context, now time.Time) (models.SpentBudgets, error) {
	var rows []models.Budget
	if err := s.db.Reader(ctx).Where("state = ?", models.BudgetSpent).Find(&rows).Error; err != nil {
		return models.SpentBudgets{}, fmt.Errorf("reading spent budgets: %w", classify(err))
	}
	people, err := s.spentShares(s.db.Reader(ctx), now)
	if err != nil {
		return models.SpentBudgets{}, fmt.Errorf("adding up what people spent today: %w", classify(err))
	}
	out := models.SpentBudgets{Studies: map[string]bool{}, Participants: map[string]bool{}}
	for _, id := range people {
		out.Participants[id] = true
	}
	for _, row := range rows {
		if row.PeriodStart != row.Period.FirstDay(now) {
			continue
		}
		switch row.Scope {
		case models.BudgetProgramme:
			out.Programme = true
		case models.BudgetStudy:
			out.Studies[row.StudyID] = true
		case models.BudgetParticipant:
			out.Participants[row.ParticipantID] = true
		}
	}
	return out, nil
}
