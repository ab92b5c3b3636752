package store

import (
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/trial"
	"coachline/models"
)

// lateDecisions is how long a decision may have been recorded after the outcomes of
// its time were counted, as after an outage, and still be counted.
const lateDecisions = 7 * 24 * time.Hour

// outcomePage is how many outcomes are counted at once.
const outcomePage = 500

// posteriorAt returns what a decision at an instant rests on: the outcomes that were
// complete when its day in UTC began. The day's first decision counts them, the others
// read one row for each option.
func posteriorAt(tx *gorm.DB, studyID string, points models.DecisionPoints, at time.Time) (models.Posterior, error) {
	date := at.UTC().Format(time.DateOnly)
	known, err := latestPosterior(tx, studyID, date)
	if err == nil && known.day != date {
		known, err = refreshPosterior(tx, studyID, points, date)
	}
	if err != nil {
		return models.Posterior{}, fmt.Errorf("reading the posterior of %s: %w", date, err)
	}
	return trial.Weigh(points, known.day, known.counts), nil
}

// posteriorOf is how often each option was answered (A) and not (B) until the
// beginning of a day.
type posteriorOf struct {
	day    string
	counts map[string]models.Beta
}

// latestPosterior reads the posterior of a day, or else of the last day before it.
func latestPosterior(tx *gorm.DB, studyID, date string) (posteriorOf, error) {
	var rows []models.DecisionPosterior
	out := posteriorOf{counts: map[string]models.Beta{}}
	err := tx.Where("study_id = ? AND day = (SELECT max(day) FROM decision_posteriors WHERE study_id = ? AND day <= ?)", studyID, studyID, date).Find(&rows).Error
	for _, row := range rows {
		out.day, out.counts[row.Option] = row.Day, models.Beta{A: row.Successes, B: row.Failures}
	}
	return out, err
}

// refreshPosterior counts the outcomes that were complete when a day began and have not
// been counted, once for each study and day: the study's row is locked. Where a later
// day has been counted, a decision of an earlier one rests on the last day before.
func refreshPosterior(tx *gorm.DB, studyID string, points models.DecisionPoints, date string) (posteriorOf, error) {
	var study models.Study
	if err := forUpdate(tx).Select("id").Where("id = ?", studyID).Take(&study).Error; err != nil {
		return posteriorOf{}, err
	}
	known, err := latestPosterior(tx, studyID, date)
	if err != nil || known.day == date {
		return known, err
	}
	var later int64
	err = tx.Model(&models.DecisionPosterior{}).Where("study_id = ? AND day > ?", studyID, date).Limit(1).Count(&later).Error
	if err != nil || later > 0 {
		return known, err
	}
	c := outcomeCount{studyID: studyID, day: date, hours: time.Duration(points.Hours()) * time.Hour, counts: known.counts}
	if err := c.count(tx, known.day); err != nil {
		return known, err
	}
	rows := make([]models.DecisionPosterior, len(points.Options))
	for i, option := range points.Options {
		n := c.counts[option.Name]
		rows[i] = models.DecisionPosterior{StudyID: studyID, Day: date, Option: option.Name, Successes: n.A, Failures: n.B}
	}
	return posteriorOf{day: date, counts: c.counts}, tx.Create(&rows).Error
}

// outcomeCount counts outcomes for the posterior of a day.
type outcomeCount struct {
	studyID, day string
	hours        time.Duration
	counts       map[string]models.Beta
}

const isUncounted = "NOT EXISTS (SELECT 1 FROM decision_outcomes o WHERE o.decision_id = decisions.id)"

// count adds the outcomes since the day before that was counted last, if any.
func (c *outcomeCount) count(tx *gorm.DB, before string) error {
	begins, err := time.Parse(time.DateOnly, c.day)
	if err != nil {
		return err
	}
	var from time.Time
	if before != "" {
		if from, err = time.Parse(time.DateOnly, before); err != nil {
			return err
		}
		from = from.Add(-c.hours - lateDecisions)
	}
	for after := ""; ; {
		var rows []models.DecisionPoint
		err := tx.Where("study_id = ? AND decided_at > ? AND decided_at <= ? AND available AND id > ?", c.studyID, instant(from), instant(begins.Add(-c.hours)), after).
			Where(isUncounted).Order("id").Limit(outcomePage).Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := c.add(tx, rows, begins); err != nil {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}

func (c *outcomeCount) add(tx *gorm.DB, rows []models.DecisionPoint, begins time.Time) error {
	decided, err := withOutcomes(tx, rows, begins)
	if err != nil {
		return err
	}
	counted := make([]models.CountedOutcome, len(decided))
	for i, d := range decided {
		answered := d.Answered != nil && *d.Answered
		counted[i] = models.CountedOutcome{DecisionID: d.ID, StudyID: c.studyID, Day: c.day, Option: d.Option, Answered: answered}
		n := c.counts[d.Option]
		if answered {
			n.A++
		} else {
			n.B++
		}
		c.counts[d.Option] = n
	}
	return tx.Create(&counted).Error
}

// posteriorCheck checks what decisions rested on: the posterior that each has logged
// against the one that was kept, that against the outcomes that were counted, and
// these against decisions and texts.
type posteriorCheck struct {
	tx       *gorm.DB
	prior    models.Beta
	kept     map[string]map[string]models.Beta // by day and option
	counted  map[string]map[string]models.Beta
	outcomes map[string]models.CountedOutcome // of a page of people, by decision
	answered map[string]bool
}

// The outcomes of each day, and those of some people.
const (
	outcomesOfDays = "SELECT day, option, sum(CASE WHEN answered THEN 1 ELSE 0 END) AS successes, sum(CASE WHEN answered THEN 0 ELSE 1 END) AS failures " +
		"FROM decision_outcomes WHERE study_id = ? GROUP BY day, option"
	outcomesOfPeople = "SELECT o.* FROM decision_outcomes o JOIN decisions d ON d.id = o.decision_id WHERE d.participant_id IN ?"
)

func readPosteriors(tx *gorm.DB, studyID string, thompson models.Thompson) (*posteriorCheck, error) {
	c := &posteriorCheck{tx: tx, prior: thompson.PriorOf(), kept: map[string]map[string]models.Beta{"": {}}, counted: map[string]map[string]models.Beta{"": {}}}
	var rows, sums []models.DecisionPosterior
	if err := tx.Where("study_id = ?", studyID).Order("day").Find(&rows).Error; err != nil {
		return nil, err
	}
	if err := tx.Raw(outcomesOfDays, studyID).Scan(&sums).Error; err != nil {
		return nil, err
	}
	added := map[string]models.Beta{} // by day and option
	for _, row := range sums {
		added[row.Day+" "+row.Option] = models.Beta{A: row.Successes, B: row.Failures}
	}
	total := map[string]models.Beta{}
	for _, row := range rows {
		if c.kept[row.Day] == nil {
			c.kept[row.Day], c.counted[row.Day] = map[string]models.Beta{}, map[string]models.Beta{}
		}
		n, more := total[row.Option], added[row.Day+" "+row.Option]
		total[row.Option] = models.Beta{A: n.A + more.A, B: n.B + more.B}
		c.kept[row.Day][row.Option], c.counted[row.Day][row.Option] = models.Beta{A: row.Successes, B: row.Failures}, total[row.Option]
	}
	return c, nil
}

// readOutcomes reads what came of the decisions of some people.
func (c *posteriorCheck) readOutcomes(people []string, rows []models.DecisionPoint) error {
	if c == nil || len(rows) == 0 {
		return nil
	}
	var outcomes []models.CountedOutcome
	if err := c.tx.Raw(outcomesOfPeople, people).Scan(&outcomes).Error; err != nil {
		return err
	}
	c.outcomes, c.answered = map[string]models.CountedOutcome{}, map[string]bool{}
	for _, o := range outcomes {
		c.outcomes[o.DecisionID] = o
	}
	end := rows[0].DecidedAt
	for _, row := range rows {
		if until := endOfOutcome(row); until.After(end) {
			end = until
		}
	}
	decided, err := withOutcomes(c.tx, rows, end)
	for _, d := range decided {
		c.answered[d.ID] = d.Answered != nil && *d.Answered
	}
	return err
}

// compare returns what is not right with what a row rested on, and with what was
// counted of it.
func (c *posteriorCheck) compare(row models.DecisionPoint) (problem string, err error) {
	if c == nil {
		return "", nil
	}
	var logged models.Posterior
	if err := json.Unmarshal([]byte(row.Posterior), &logged); err != nil {
		return "", err
	}
	kept, counted := c.kept[logged.Day], c.counted[logged.Day]
	for _, option := range logged.Options {
		n := models.Beta{A: option.A - c.prior.A, B: option.B - c.prior.B}
		switch {
		case n != kept[option.Option]:
			return fmt.Sprintf("its posterior of option %q is not the one that was kept for %q", option.Option, logged.Day), nil
		case n != counted[option.Option]:
			return fmt.Sprintf("its posterior of option %q is not what the outcomes until %q give", option.Option, logged.Day), nil
		}
	}
	outcome, found := c.outcomes[row.ID]
	if !found {
		return "", nil
	}
	begins, err := time.Parse(time.DateOnly, outcome.Day)
	switch {
	case err != nil:
		return "", err
	case !row.Available || outcome.Option != row.Option || outcome.StudyID != row.StudyID || endOfOutcome(row).After(begins):
		return fmt.Sprintf("the outcome that was counted of it for %q is of another decision", outcome.Day), nil
	case outcome.Answered && !c.answered[row.ID]:
		return "it was counted as answered, and there is no text of the person in its time", nil
	}
	return "", nil
}
