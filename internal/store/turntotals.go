package store

import (
	"gorm.io/gorm"

	"coachline/models"
)

// totalsOf adds up what turns came to, in three reads for any number of turns. Of
// the sealed columns it opens the trace, which counts calls that a round threw
// away.
func totalsOf(tx *gorm.DB, turns []models.Turn) ([]models.TurnTotals, error) {
	ids := make([]string, len(turns))
	place := map[string]int{}
	out := make([]models.TurnTotals, len(turns))
	for i, turn := range turns {
		ids[i], place[turn.ID], out[i].Turn = turn.ID, i, turn
	}
	var steps []models.Step
	if err := tx.Select("turn_id", "number", "usage", "trace").Where("turn_id IN ?", ids).Find(&steps).Error; err != nil {
		return nil, err
	}
	for _, step := range steps {
		sum := &out[place[step.TurnID]]
		sum.Rounds++
		sum.Usage = sum.Usage.Plus(step.Spent())
	}
	var runs []models.ToolRun
	if err := tx.Select("turn_id", "name").Where("turn_id IN ?", ids).Order("step, call").Find(&runs).Error; err != nil {
		return nil, err
	}
	for _, run := range runs {
		sum := &out[place[run.TurnID]]
		sum.Tools = append(sum.Tools, run.Name)
	}
	var stages []models.Stage
	if err := tx.Select("turn_id", "number", "usage").Where("turn_id IN ?", ids).Find(&stages).Error; err != nil {
		return nil, err
	}
	for _, stage := range stages {
		sum := &out[place[stage.TurnID]]
		sum.Usage = sum.Usage.Plus(stage.Usage)
	}
	return out, nil
}
