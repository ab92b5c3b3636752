package store

import (
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/trial"
	"coachline/models"
)

// addDecision records a decision point behind the person's others. The participant's
// row is locked, and with it the head.
func addDecision(tx *gorm.DB, study models.Study, points models.DecisionPoints, p models.Participant, s slotOf) (models.DecisionPoint, error) {
	head, err := readDecisionHead(tx, study, p)
	if err != nil {
		return models.DecisionPoint{}, err
	}
	if points.Thompson != nil {
		by, err := posteriorAt(tx, study.ID, points, s.at)
		if err != nil {
			return models.DecisionPoint{}, err
		}
		s.by = &by
	}
	row, err := newDecision(study, points, head, s)
	if err != nil {
		return row, err
	}
	head.Number, head.Hash = row.Number, trial.ChainDecision(study.Seed, &row, head.Hash)
	if err := tx.Create(&row).Error; err != nil {
		return row, err
	}
	return row, tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&head).Error
}

// readDecisionHead returns the head that the person's next decision point follows.
func readDecisionHead(tx *gorm.DB, study models.Study, p models.Participant) (models.DecisionHead, error) {
	var heads []models.DecisionHead
	if err := tx.Where("participant_id = ?", p.ID).Find(&heads).Error; err != nil {
		return models.DecisionHead{}, err
	}
	if len(heads) == 0 {
		zone, err := time.LoadLocation(p.Timezone)
		if err != nil {
			return models.DecisionHead{}, fmt.Errorf("finding the first day in the study: %w", err)
		}
		return models.DecisionHead{ParticipantID: p.ID, StudyID: study.ID, DayOne: p.EnrolledAt.In(zone).Format(time.DateOnly)}, nil
	}
	head := heads[0]
	if head.Hash != "" {
		return head, nil
	}
	// The rows are from before there were hashes; the next one covers them.
	var rows []models.DecisionPoint
	err := tx.Where("participant_id = ?", p.ID).Order("number").Find(&rows).Error
	for i := range rows {
		head.Hash = trial.ChainDecision(study.Seed, &rows[i], head.Hash)
	}
	return head, err
}

// decisionCheck checks the decision points of a study, person by person: each row
// against its hash and the seed, the last one against what was kept of it.
type decisionCheck struct {
	tx     *gorm.DB
	study  models.Study
	points models.DecisionPoints
	// posteriors are there where the study has Thompson sampling.
	posteriors *posteriorCheck
	out        models.DecisionCheck
}

func checkDecisions(tx *gorm.DB, study models.Study) (models.DecisionCheck, error) {
	settings, err := study.ReadSettings()
	if err != nil || settings.DecisionPoints == nil {
		return models.DecisionCheck{}, err
	}
	c := &decisionCheck{tx: tx, study: study, points: *settings.DecisionPoints}
	if c.points.Thompson != nil {
		if c.posteriors, err = readPosteriors(tx, study.ID, *c.points.Thompson); err != nil {
			return c.out, err
		}
	}
	for after := ""; ; {
		var heads []models.DecisionHead
		if err := tx.Where("study_id = ? AND participant_id > ?", study.ID, after).Order("participant_id").Limit(peoplePage).Find(&heads).Error; err != nil {
			return c.out, err
		}
		if len(heads) == 0 {
			return c.out, c.findUnkept()
		}
		if err := c.checkPeople(heads); err != nil || c.out.Problem != "" {
			return c.out, err
		}
		after = heads[len(heads)-1].ParticipantID
	}
}

// checkPeople checks the rows of the people of some heads.
func (c *decisionCheck) checkPeople(heads []models.DecisionHead) error {
	ids := make([]string, len(heads))
	for i, head := range heads {
		ids[i] = head.ParticipantID
	}
	var rows []models.DecisionPoint
	if err := c.tx.Where("participant_id IN ?", ids).Order("number").Find(&rows).Error; err != nil {
		return err
	}
	if err := c.posteriors.readOutcomes(ids, rows); err != nil {
		return err
	}
	own := map[string][]models.DecisionPoint{}
	for _, row := range rows {
		own[row.ParticipantID] = append(own[row.ParticipantID], row)
	}
	for _, head := range heads {
		v := trial.NewDecisionVerifier(c.study.Seed, head.ParticipantID, c.points)
		fault := c.firstFault(v, head, own[head.ParticipantID])
		c.out.Rows += v.Rows()
		if fault != nil {
			c.out.ParticipantID, c.out.BadRow, c.out.Problem = head.ParticipantID, fault.Number, fault.Problem
			return nil
		}
		c.out.People++
		if head.Hash == "" {
			c.out.Unchained++
		}
	}
	return nil
}

func (c *decisionCheck) firstFault(v *trial.DecisionVerifier, head models.DecisionHead, rows []models.DecisionPoint) *trial.Fault {
	for _, row := range rows {
		if fault := v.Check(row); fault != nil {
			return fault
		}
		problem, err := c.posteriors.compare(row)
		if err != nil {
			problem = err.Error()
		}
		if problem != "" {
			return &trial.Fault{Number: row.Number, Problem: problem}
		}
	}
	return v.CheckHead(head)
}

// Rows that no head tells of, and prompts whose slot has no decision point.
const (
	decisionWithoutHead = "SELECT d.participant_id AS participant_id, d.number AS number FROM decisions d WHERE d.study_id = ? " +
		"AND NOT EXISTS (SELECT 1 FROM decision_heads h WHERE h.participant_id = d.participant_id AND h.study_id = d.study_id) ORDER BY 1, 2 LIMIT 1"
	promptWithoutDecision = "SELECT r.participant_id AS participant_id, 0 AS number FROM prompts r JOIN participants p ON p.id = r.participant_id " +
		"WHERE p.study_id = ? AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.id = r.id) ORDER BY 1 LIMIT 1"
)

// findUnkept finds a person whose head was removed, or all rows with it.
func (c *decisionCheck) findUnkept() error {
	for _, search := range []struct{ query, problem string }{
		{decisionWithoutHead, "nothing was kept of the person's rows"},
		{promptWithoutDecision, "a prompt of the person has no decision point"},
	} {
		var found []struct {
			ParticipantID string
			Number        int64
		}
		if err := c.tx.Raw(search.query, c.study.ID).Scan(&found).Error; err != nil {
			return err
		}
		if len(found) > 0 {
			c.out.ParticipantID, c.out.BadRow, c.out.Problem = found[0].ParticipantID, found[0].Number, search.problem
			return nil
		}
	}
	return nil
}
