package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
)

// Step returns what the model answered in a step of a turn; ErrNotFound when
// the step has not been finished.
func (s *Turns) Step(ctx context.Context, turnID string, number int) (models.Step, error) {
	var row models.Step
	err := s.db.Reader(ctx).Where("turn_id = ? AND number = ?", turnID, number).Take(&row).Error
	return row, wrap.Error(classify(err), "reading step")
}

// SaveStep records a step and returns the record. The first one stays, so a
// retry is safe and two attempts of one step agree. ErrNotFound for an unknown
// turn.
func (s *Turns) SaveStep(ctx context.Context, row models.Step) (models.Step, error) {
	added := false
	err := s.db.WriteOne(ctx, func(rows *gorm.DB) (err error) {
		added, err = insertOnce(rows, &row)
		return err
	})
	if err != nil {
		return models.Step{}, fmt.Errorf("saving step: %w", err)
	}
	if !added {
		return s.Step(ctx, row.TurnID, row.Number)
	}
	return row, nil
}

// ToolRun returns the result of one call of a step; ErrNotFound when it has
// not run.
func (s *Turns) ToolRun(ctx context.Context, turnID string, step, call int) (models.ToolRun, error) {
	var row models.ToolRun
	err := s.db.Reader(ctx).Where("turn_id = ? AND step = ? AND call = ?", turnID, step, call).Take(&row).Error
	return row, wrap.Error(classify(err), "reading tool run")
}

// CommitTool records a tool call and what it changed, in one transaction. A
// call that has its record changes nothing more, so a retry is safe. The
// profile's counters belong to the system and are not taken from the commit.
// ErrStale when the profile changed since it was read, or when what is to be
// said comes too late; nothing is written then. ErrNotFound for an unknown turn.
func (s *Turns) CommitTool(ctx context.Context, c models.ToolCommit) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var turn models.Turn
		if err := tx.Where("id = ?", c.Run.TurnID).Take(&turn).Error; err != nil {
			return err
		}
		p, err := lockParticipant(tx, turn.ParticipantID)
		if err != nil {
			return err
		}
		added, err := insertOnce(tx, &c.Run)
		if err != nil || !added {
			return err
		}
		if err := s.writeSaid(tx, c.Said, turn, p); err != nil {
			return err
		}
		if c.Profile != nil {
			if err := replaceProfile(tx, *c.Profile, turn.ParticipantID); err != nil {
				return err
			}
		}
		if c.Outcome != "" {
			if err := noteOutcome(tx, turn.ParticipantID, c.Outcome); err != nil {
				return err
			}
		}
		return writeAsked(tx, c, p)
	})
	return wrap.Error(err, "committing tool call")
}

// writeAsked raises the attention and sets the pause that a person asked for.
func writeAsked(tx *gorm.DB, c models.ToolCommit, p models.Participant) error {
	if c.Attention != "" {
		_, err := raiseAttention(tx, models.AttentionEntry{ParticipantID: p.ID, Kind: c.Attention, Ref: c.Run.TurnID, RaisedAt: c.Run.CreatedAt})
		if err != nil {
			return err
		}
	}
	if c.PauseUntil == nil {
		return nil
	}
	return replaceOwnHold(tx, p.ID, c.Run.CreatedAt, *c.PauseUntil)
}

// writeSaid writes what a tool says in the middle of a turn; nil is nothing.
func (s *Turns) writeSaid(tx *gorm.DB, said *models.TurnOutcome, turn models.Turn, p models.Participant) error {
	if said == nil {
		return nil
	}
	if turn.Outcome != "" || isBarred(p, turn.Kind) {
		return models.ErrStale
	}
	_, err := s.writeOutcome(tx, *said, p)
	return err
}

func replaceProfile(tx *gorm.DB, p models.Profile, participantID string) error {
	before := p.Version
	p.ParticipantID = participantID
	p.Version++
	res := tx.Select("*").Omit("success_count", "total_prompts", "last_prompt_sent_at").
		Where("version = ?", before).UpdateColumns(&p)
	if res.Error == nil && res.RowsAffected == 0 {
		return models.ErrStale
	}
	return res.Error
}

// noteOutcome notes what was reported of the newest prompt that was sent, and raises
// success_count once for it where it was done.
func noteOutcome(tx *gorm.DB, participantID string, outcome models.PromptOutcome) error {
	var prompt models.Prompt
	err := tx.Where("participant_id = ? AND sent_at IS NOT NULL", participantID).
		Order("sent_at DESC, id DESC").Take(&prompt).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := tx.Model(&prompt).UpdateColumn("outcome", outcome).Error; err != nil || outcome == models.OutcomeNotDone {
		return err
	}
	res := tx.Model(&prompt).Where("counted = ?", false).UpdateColumn("counted", true)
	if res.Error != nil || res.RowsAffected == 0 {
		return res.Error
	}
	return tx.Model(&models.Profile{}).Where("participant_id = ?", participantID).
		UpdateColumn("success_count", gorm.Expr("success_count + 1")).Error
}
