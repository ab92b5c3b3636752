package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"coachline/internal/store/channel"
	"coachline/internal/store/door"
	"coachline/internal/store/past"
	"coachline/internal/store/reading"
	"coachline/models"
	"coachline/models/aside"
)

// outcomeCanceled ends a turn whose participant left or opted out while it ran.
const outcomeCanceled = "canceled"

// BeginTurn appends the texts of a turn to the conversation and creates the
// turn's row, and for a prompt the prompt's. It may be called again during the
// turn with further texts; only what is new is added. Skip: the participant
// has left (a notice is still said), or the prompt went out before or was
// recorded as missed, or what there is to say may not be said to somebody who
// opted out, or who should be looked after first. A turn that has ended stays as it is. ErrNotFound for an unknown
// participant or text. Safe to retry.
func (s *Store) BeginTurn(ctx context.Context, in models.PrepareTurnInput) (models.PrepareTurnResult, error) {
	var out models.PrepareTurnResult
	err := s.write(ctx, func(tx *gorm.DB) error {
		var err error
		out, err = beginTurn(tx, in)
		return err
	})
	if err != nil {
		return models.PrepareTurnResult{}, fmt.Errorf("beginning turn: %w", err)
	}
	return out, nil
}

func beginTurn(tx *gorm.DB, in models.PrepareTurnInput) (models.PrepareTurnResult, error) {
	p, err := lockParticipant(tx, in.ParticipantID)
	if err != nil {
		return models.PrepareTurnResult{}, err
	}
	if ended, err := ended(tx, in.TurnID); err != nil || ended {
		return models.PrepareTurnResult{}, err
	}
	if p.RemovedAt != nil && in.Plan.Kind != models.KindNotice {
		return models.PrepareTurnResult{Skip: true}, nil
	}
	if err := appendTexts(tx, in); err != nil {
		return models.PrepareTurnResult{}, err
	}
	if silent, err := nothingToSay(tx, p, in); err != nil || silent {
		return models.PrepareTurnResult{Skip: true}, err
	}
	out, err := planned(tx, p, in.Plan)
	if err != nil || out.Skip {
		return out, err
	}
	_, err = insertOnce(tx, &models.Turn{
		ID:            in.TurnID,
		ParticipantID: p.ID,
		Number:        in.Number,
		Kind:          in.Plan.Kind,
		Mode:          in.Mode,
		Channel:       channel.Of(in, p),
		PromptID:      in.Plan.PromptID,
		StartedAt:     in.Now,
	})
	return out, err
}

// planned notes a prompt that a turn is to send; other turns have nothing to
// note. Skip: it went out before or was recorded as missed, or the person should
// be looked after before we start anything.
func planned(tx *gorm.DB, p models.Participant, plan models.TurnPlan) (models.PrepareTurnResult, error) {
	if p.Attention != "" && unasked(plan.Kind) {
		return models.PrepareTurnResult{Skip: true}, door.Hold(tx, p.ID, plan)
	}
	if plan.Kind != models.KindPrompt {
		return models.PrepareTurnResult{}, nil
	}
	again, err := planPrompt(tx, p.ID, plan)
	if err != nil || again {
		return models.PrepareTurnResult{Skip: again}, err
	}
	profile, err := reading.Profile(tx, p.ID)
	return models.PrepareTurnResult{Prepared: profile.PreparedPrompt != ""}, err
}

// ended: the turn has its outcome, so this is a retry of its last step.
func ended(tx *gorm.DB, turnID string) (bool, error) {
	var n int64
	err := tx.Model(&models.Turn{}).Where("id = ? AND outcome <> ''", turnID).Count(&n).Error
	return n > 0, err
}

// TurnContext loads everything a reply is composed from, as of one instant:
// the newest window entries of the conversation (a negative window means all),
// the turn's rounds so far, the outstanding prompt. ErrNotFound for an unknown
// turn; a participant who has left is still found.
func (s *Store) TurnContext(ctx context.Context, turnID string, size int) (models.TurnContext, error) {
	return s.reading(ctx, func(tx *gorm.DB) (models.TurnContext, error) { return reading.Turn(tx, turnID, size) })
}

// EndingTurn is TurnContext for the end of a turn: its window holds the turn's
// own entries only, and neither outstanding prompt nor schedules are read.
func (s *Store) EndingTurn(ctx context.Context, turnID string) (models.TurnContext, error) {
	return s.reading(ctx, func(tx *gorm.DB) (models.TurnContext, error) { return reading.Ending(tx, turnID) })
}

func (s *Store) reading(ctx context.Context, read func(tx *gorm.DB) (models.TurnContext, error)) (models.TurnContext, error) {
	var out models.TurnContext
	err := s.snapshot(ctx, func(tx *gorm.DB) error {
		var err error
		out, err = read(tx)
		return err
	})
	if err != nil {
		return models.TurnContext{}, fmt.Errorf("reading turn: %w", err)
	}
	return out, nil
}

// Past is what a workflow that continues a terminated one has to know.
// ErrNotFound for an unknown participant.
func (s *Store) Past(ctx context.Context, participantID string) (models.Past, error) {
	var out models.Past
	err := s.snapshot(ctx, func(tx *gorm.DB) error {
		var p models.Participant
		if err := tx.Where("id = ?", participantID).Take(&p).Error; err != nil {
			return err
		}
		var err error
		out, err = past.Read(tx, p)
		return err
	})
	if err != nil {
		return models.Past{}, fmt.Errorf("reading an earlier life: %w", err)
	}
	return out, nil
}

// FinishTurn ends a turn: its entries of the conversation, the outbox rows to
// send and what became of the profile's prompts, in one transaction. The ids
// of the rows to send come back in order. A turn that has ended returns its
// rows and writes nothing, so a retry is safe. When the participant left or
// opted out meanwhile, the turn is canceled and no row is written, except for a
// notice or an operator's message, which the send gate judges. An
// operator's outbox row exists already and is only tied to the turn. A row that
// is claimed has passed the gates of ClaimSend. ErrNotFound for an unknown turn.
func (s *Store) FinishTurn(ctx context.Context, o models.TurnOutcome) (models.EndedTurn, error) {
	if o.Outcome == "" {
		return models.EndedTurn{}, models.BadField("outcome", "must not be empty")
	}
	var out models.EndedTurn
	err := s.write(ctx, func(tx *gorm.DB) error {
		out = models.EndedTurn{}
		p, err := lockParticipant(tx, o.ParticipantID)
		if err != nil {
			return err
		}
		var turn models.Turn
		if err := forUpdate(tx).Where("id = ? AND participant_id = ?", o.TurnID, p.ID).Take(&turn).Error; err != nil {
			return err
		}
		if turn.Outcome != "" {
			return tx.Model(&models.Outbox{}).Where("turn_id = ? AND late_of = '' AND id NOT LIKE ?", turn.ID, aside.Like(turn.ID)).Order("part, id").Pluck("id", &out.OutboxIDs).Error
		}
		turn.Outcome, turn.PromptVersion, turn.FinishedAt = o.Outcome, o.PromptVersion, &o.At
		if barred(p, turn.Kind) {
			turn.Outcome = outcomeCanceled
		} else if out, err = s.writeOutcome(tx, o, p); err != nil {
			return err
		}
		return tx.Select("outcome", "prompt_version", "finished_at").UpdateColumns(&turn).Error
	})
	if err != nil {
		return models.EndedTurn{}, fmt.Errorf("finishing turn: %w", err)
	}
	return out, nil
}

func (s *Store) writeOutcome(tx *gorm.DB, o models.TurnOutcome, p models.Participant) (models.EndedTurn, error) {
	var out models.EndedTurn
	for _, m := range o.Entries {
		m.ID, m.ParticipantID, m.TurnID = 0, o.ParticipantID, o.TurnID
		if m.At.IsZero() {
			m.At = o.At
		}
		if err := appendEntry(tx, m); err != nil {
			return out, err
		}
	}
	for i, row := range o.Outbox {
		row.ParticipantID, row.TurnID, row.Status = o.ParticipantID, o.TurnID, models.OutboxReady
		row.CreatedAt, row.UpdatedAt = o.At, o.At
		if o.Claim && i == 0 && row.Kind != models.KindOperator {
			claim, err := s.claimNew(tx, row, p)
			if err != nil {
				return out, err
			}
			out.First, row = claim, claim.Outbox
		}
		if err := queue(tx, o, row); err != nil {
			return out, err
		}
		out.OutboxIDs = append(out.OutboxIDs, row.ID)
	}
	return out, settlePrompts(tx, o)
}

// claimNew judges a row that is about to be written as ClaimSend would, and
// marks it as being sent if it passes.
func (s *Store) claimNew(tx *gorm.DB, row models.Outbox, p models.Participant) (models.SendClaim, error) {
	refusal, err := gate(tx, row, p)
	if err != nil {
		return models.SendClaim{}, err
	}
	if refusal != "" {
		err := refuse(tx, &row, refusal)
		return models.SendClaim{Outbox: row}, err
	}
	if channel.Show(&row) {
		return models.SendClaim{Outbox: row}, nil
	}
	if wait, err := s.Wait(tx, row.CreatedAt); err != nil || wait > 0 {
		return models.SendClaim{Outbox: row, Wait: wait}, err
	}
	attempt(&row, row.CreatedAt)
	return models.SendClaim{Outbox: row, To: p.Phone, Post: true}, nil
}

// queue writes an outbox row, or ties the one that exists to the turn.
func queue(tx *gorm.DB, o models.TurnOutcome, row models.Outbox) error {
	added, err := insertOnce(tx, &row)
	if err != nil || added {
		return err
	}
	return tx.Model(&models.Outbox{}).Where("id = ? AND turn_id = ''", row.ID).UpdateColumn("turn_id", o.TurnID).Error
}

// settlePrompts moves the profile's prompt texts on. They take the profile's
// version with them, so that a tool call that read it before cannot bring the
// old texts back.
func settlePrompts(tx *gorm.DB, o models.TurnOutcome) error {
	if !o.ClearPrepared && o.HabitPrompt == "" {
		return nil
	}
	profile, err := reading.Profile(tx, o.ParticipantID)
	if err != nil {
		return err
	}
	if o.ClearPrepared {
		profile.PreparedPrompt = ""
	}
	if o.HabitPrompt != "" {
		profile.LastHabitPrompt = o.HabitPrompt
	}
	profile.Version++
	profile.UpdatedAt = o.At
	return tx.Select("prepared_prompt", "last_habit_prompt", "version", "updated_at").UpdateColumns(&profile).Error
}
