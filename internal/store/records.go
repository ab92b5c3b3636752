package store

import (
	"context"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// mostTurns bounds a page.
const mostTurns = 500

// Records reads turns as they were, and the consent ledger.
type Records struct{ db *database.Database }

// Turns returns a page of an enrolled participant's turns, newest first,
// without any text. *models.FieldError for a limit outside 1..500, ErrNotFound
// also after removal.
func (s *Records) Turns(ctx context.Context, q models.TurnQuery) ([]models.TurnSummary, error) {
	if q.Limit < 1 || q.Limit > mostTurns {
		return nil, models.BadField("limit", "must be between 1 and %d", mostTurns)
	}
	var out []models.TurnSummary
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		if err := checkEnrolled(tx, q.ParticipantID); err != nil {
			return err
		}
		find := tx.Where("participant_id = ? AND kind <> ?", q.ParticipantID, wire.TurnSubagent)
		if q.Before > 0 {
			find = find.Where("number < ?", q.Before)
		}
		var turns []models.Turn
		if err := find.Order("number DESC, id DESC").Limit(q.Limit).Find(&turns).Error; err != nil {
			return err
		}
		var err error
		out, err = totalsOf(tx, turns)
		return err
	})
	return out, wrap.Error(err, "listing turns")
}

// Turn returns everything that is kept of a turn of an enrolled participant, as
// of one instant. ErrNotFound for an unknown turn, and after removal.
func (s *Records) Turn(ctx context.Context, participantID string, number int) (models.TurnRecord, error) {
	var out models.TurnRecord
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		channel, err := participantChannel(tx, participantID)
		if err != nil {
			return err
		}
		var turns []models.Turn
		if err := tx.Where("participant_id = ? AND number = ?", participantID, number).Order("started_at, id").Find(&turns).Error; err != nil {
			return err
		}
		out, err = recordOf(tx, turns)
		out.Channel = channel
		return err
	})
	return out, wrap.Error(err, "reading turn")
}

// recordOf puts a turn together with its subagents, which bear its number.
// gorm.ErrRecordNotFound where only they are there.
func recordOf(tx *gorm.DB, turns []models.Turn) (models.TurnRecord, error) {
	sums, err := totalsOf(tx, turns)
	if err != nil {
		return models.TurnRecord{}, err
	}
	var own *models.TurnRecord
	var subagents []models.TurnRecord
	for _, sum := range sums {
		one := models.TurnRecord{Totals: sum}
		if err := addParts(tx, &one); err != nil {
			return models.TurnRecord{}, err
		}
		if sum.Kind == wire.TurnSubagent {
			subagents = append(subagents, one)
		} else {
			own = &one
		}
	}
	if own == nil {
		return models.TurnRecord{}, gorm.ErrRecordNotFound
	}
	own.Subagents = subagents
	return *own, nil
}

// addParts reads the rows of a turn. Stages have no numbers that rise with time.
func addParts(tx *gorm.DB, r *models.TurnRecord) error {
	for _, part := range []struct {
		order string
		rows  any
	}{
		{"number", &r.Steps}, {"step, call", &r.Runs}, {"created_at, number", &r.Stages}, {"id", &r.Entries}, {"part, id", &r.Outbox},
	} {
		if err := tx.Where("turn_id = ?", r.Totals.Turn.ID).Order(part.order).Find(part.rows).Error; err != nil {
			return err
		}
	}
	return nil
}

// Consents returns a participant's entries of the consent ledger, oldest first.
// The ledger outlives the participant: a programme must be able to show it. So
// it is found after removal too. ErrNotFound for an id that was never known.
func (s *Records) Consents(ctx context.Context, participantID string) ([]models.Consent, error) {
	var rows []models.Consent
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var known string
		if err := tx.Model(&models.Participant{}).Select("id").Where("id = ?", participantID).Take(&known).Error; err != nil {
			return err
		}
		return tx.Where("participant_id = ?", participantID).Order("id").Find(&rows).Error
	})
	return rows, wrap.Error(err, "reading consent ledger")
}

func checkEnrolled(tx *gorm.DB, participantID string) error {
	_, err := participantChannel(tx, participantID)
	return err
}

func participantChannel(tx *gorm.DB, participantID string) (wire.Channel, error) {
	var row models.Participant
	err := tx.Select("channel").Where("id = ? AND removed_at IS NULL", participantID).Take(&row).Error
	return row.Channel, err
}

// totalsOf adds up what turns came to, in three reads for any number of turns. Of
// the sealed columns it opens the trace, which counts calls that a step threw
// away.
func totalsOf(tx *gorm.DB, turns []models.Turn) ([]models.TurnSummary, error) {
	ids := make([]string, len(turns))
	place := map[string]int{}
	out := make([]models.TurnSummary, len(turns))
	for i, turn := range turns {
		ids[i], place[turn.ID], out[i].Turn = turn.ID, i, turn
	}
	var steps []models.Step
	if err := tx.Select("turn_id", "number", "usage", "trace").Where("turn_id IN ?", ids).Find(&steps).Error; err != nil {
		return nil, err
	}
	for _, step := range steps {
		sum := &out[place[step.TurnID]]
		sum.Steps++
		sum.Tokens = sum.Tokens.Plus(step.Spent())
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
		sum.Tokens = sum.Tokens.Plus(stage.Usage)
	}
	return out, nil
}
