package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// outcomeCanceled ends a turn whose participant left or opted out while it ran.
const outcomeCanceled = "canceled"

// Turns keeps turns, their steps and the state of the conversation.
type Turns struct {
	db     *database.Database
	outbox *Outbox
}

// BeginTurn appends the texts of a turn to the conversation and creates the
// turn's row, and for a prompt the prompt's. It may be called again during the
// turn with further texts; only what is new is added. Skip: the participant
// has left (a notice is still said), or the prompt went out before or was
// recorded as missed, or what there is to say may not be said to a participant
// who opted out, or who should be looked after first, or the turn was canceled, or all
// of its texts are gone. A turn that has ended stays as it is. ErrNotFound for an unknown
// participant. Safe to retry.
func (s *Turns) BeginTurn(ctx context.Context, in wire.PrepareTurnInput) (wire.PrepareTurnResult, error) {
	out, err := s.beginWith(ctx, in, func(*gorm.DB, begunTurn) error { return nil })
	return out.PrepareTurnResult, err
}

// OpenTurn is BeginTurn and TurnContext in one, the latter for turns that go on:
// neither skipped nor with their text prepared.
func (s *Turns) OpenTurn(ctx context.Context, in wire.PrepareTurnInput, size int) (wire.PrepareTurnResult, models.TurnContext, error) {
	var turn models.TurnContext
	out, err := s.beginWith(ctx, in, func(tx *gorm.DB, b begunTurn) error {
		turn = models.TurnContext{}
		if b.Skip || b.Prepared {
			return nil
		}
		var err error
		if b.created {
			turn, err = contextOfBegun(tx, b, size)
		} else {
			turn, err = contextOfTurn(tx, in.TurnID, size)
		}
		return err
	})
	return out.PrepareTurnResult, turn, err
}

// begunTurn is a turn that was begun; it was created by that unless it stood there
// before, or there is none.
type begunTurn struct {
	wire.PrepareTurnResult
	participant models.Participant
	turn        models.Turn
	created     bool
	repeated    bool   // texts of it stood in the conversation before
	instruction string // what the decision of its prompt adds to the request
}

func (s *Turns) beginWith(ctx context.Context, in wire.PrepareTurnInput, then func(tx *gorm.DB, b begunTurn) error) (begunTurn, error) {
	var out begunTurn
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var err error
		if out, err = beginTurn(tx, in); err != nil {
			return err
		}
		return then(tx, out)
	})
	return out, wrap.Error(err, "beginning turn")
}

// waitsForOperator reports whether what the person writes waits for an operator.
func waitsForOperator(p models.Participant) bool {
	return p.Status == wire.StatusPaused || p.IsTakenOver()
}

// storeTexts puts the texts of a turn into the conversation. Those of a paused
// participant, or of a conversation that is taken over, are kept as waiting, for an
// operator to decide on.
// The texts are repeated where an earlier turn, or attempt of this one, had put them
// there.
//
// Those that the database has lost are left out; a turn that has no others is skipped.
func (b *begunTurn) storeTexts(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) (err error) {
	if b.Gone = countGone(in, texts); b.Gone > 0 {
		if err := b.noteGone(tx, in, texts); err != nil {
			return err
		}
	}
	b.repeated, err = appendTexts(tx, in, texts)
	if err == nil && in.Plan.Kind == wire.TurnMessage && waitsForOperator(b.participant) {
		err = markWaiting(tx, in.InboundIDs)
	}
	return err
}

// noteGone raises attention for texts that are gone, and skips a turn that was to answer
// or keep nothing else.
func (b *begunTurn) noteGone(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) error {
	if len(texts) == 0 && (in.Plan.Kind == wire.TurnReply || in.Plan.Kind == wire.TurnMessage) {
		var begun int64
		if err := tx.Model(&models.Turn{}).Where("id = ?", in.TurnID).Count(&begun).Error; err != nil {
			return err
		}
		b.Skip = begun == 0
	}
	return raiseLostRows(tx, b.participant.ID, in.Now)
}

// create writes the row of the turn, unless it stands there.
func (b *begunTurn) create(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) (err error) {
	if b.created, err = insertOnce(tx, &b.turn); err != nil || !b.repeated || in.Plan.Kind != wire.TurnReply {
		return err
	}
	return b.noteStuck(tx, in, texts)
}

// deadRuns is how many runs of the workflow may end over a text.
const deadRuns = 2

// noteStuck has the fixed text answer texts over which the workflow ended twice, and
// raises attention: replies to them began and never came to an end.
func (b *begunTurn) noteStuck(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) error {
	var dead int64
	err := tx.Model(&models.Turn{}).Where("participant_id = ? AND kind = ? AND outcome = '' AND id <> ? AND started_at >= ?",
		in.ParticipantID, wire.TurnReply, in.TurnID, instant(texts[0].ReceivedAt)).Count(&dead).Error
	if err != nil || dead < deadRuns {
		return err
	}
	b.Stuck = true
	_, err = raiseAttention(tx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionStuck, Ref: in.TurnID, RaisedAt: in.Now,
	})
	return err
}

// canSkip reports whether a turn has nothing to say, or others have said it.
func canSkip(tx *gorm.DB, p models.Participant, in wire.PrepareTurnInput, texts []models.Inbound) (bool, error) {
	if skip, err := nothingToSay(tx, p, in); err != nil || skip {
		return skip, err
	}
	if skip, err := isAnswered(tx, in.TurnID, texts); err != nil || skip {
		return skip, err
	}
	return hasOtherReply(tx, in, texts)
}

func beginTurn(tx *gorm.DB, in wire.PrepareTurnInput) (out begunTurn, err error) {
	texts, outcome, err := out.lockAndRead(tx, in)
	if err != nil || (outcome != "" && outcome != outcomeCanceled) {
		return out, err
	}
	p := out.participant
	if p.RemovedAt != nil && in.Plan.Kind != wire.TurnNotice {
		out.Skip = true
		return out, nil
	}
	if err := out.storeTexts(tx, in, texts); err != nil || out.Skip {
		return out, err
	}
	if outcome == outcomeCanceled {
		out.Skip = true
		return out, leaveTexts(tx, p, in)
	}
	if out.Skip, err = canSkip(tx, p, in, texts); err != nil || out.Skip {
		if err == nil {
			err = out.decideBarred(tx, in)
		}
		return out, err
	}
	out.turn = models.Turn{
		ID: in.TurnID, ParticipantID: p.ID, Number: in.Number, Kind: in.Plan.Kind, Mode: in.Mode,
		Channel: channelOf(in, p), PromptID: in.Plan.PromptID, Arm: p.Arm, StudyVersion: in.StudyVersion, StartedAt: instant(in.Now),
	}
	return out, out.write(tx, in, texts)
}

// write writes the turn, unless an operator writes or its prompt may not go out.
func (b *begunTurn) write(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) error {
	if b.participant.IsTakenOver() && models.TurnSpecOf(in.Plan.Kind).Coaching {
		return b.giveWay(tx, in)
	}
	if err := b.notePrompt(tx, in); err != nil || b.Skip {
		return err
	}
	return b.create(tx, in, texts)
}

// notePrompt notes a prompt that a turn is to send; other turns have nothing to
// note. Skip: it went out before or was recorded as missed, or the person should
// be looked after before we start anything, or a hold stops it now or did so at
// the time that was set.
func (b *begunTurn) notePrompt(tx *gorm.DB, in wire.PrepareTurnInput) (err error) {
	plan := in.Plan
	if b.participant.Attention == wire.AttentionCrisis && models.TurnSpecOf(plan.Kind).Initiated {
		b.Skip = true
		return b.missPrompt(tx, in, heldForAttention)
	}
	if models.TurnSpecOf(plan.Kind).CanBeHeld {
		if b.Skip, err = isHeld(tx, b.participant.ID, in.Now, plan.Slot.SendAt); err != nil {
			return err
		}
		if b.Skip {
			return b.missPrompt(tx, in, models.MissedHold)
		}
	}
	if plan.Kind != wire.TurnPrompt {
		return nil
	}
	if err := b.decidePrompt(tx, in, ""); err != nil || b.Skip {
		return err
	}
	if b.Skip, err = planPrompt(tx, b.participant.ID, plan); err != nil || b.Skip {
		return err
	}
	profile, err := readProfile(tx, b.participant.ID)
	// A prompt that was written before knows nothing of the decision.
	b.Prepared = profile.PreparedPrompt != "" && b.instruction == ""
	return err
}

// TurnContext loads everything a reply is composed from, as of one instant:
// the newest window entries of the conversation (a negative window means all),
// the turn's steps so far, the outstanding prompt. ErrNotFound for an unknown
// turn; a participant who has left is still found.
func (s *Turns) TurnContext(ctx context.Context, turnID string, size int) (models.TurnContext, error) {
	return s.readContext(ctx, func(tx *gorm.DB) (models.TurnContext, error) { return contextOfTurn(tx, turnID, size) })
}

// EndingTurn is TurnContext for the end of a turn: its window holds the turn's
// own entries only, and neither outstanding prompt nor schedules are read.
func (s *Turns) EndingTurn(ctx context.Context, turnID string) (models.TurnContext, error) {
	return s.readContext(ctx, func(tx *gorm.DB) (models.TurnContext, error) { return contextOfEnding(tx, turnID) })
}

func (s *Turns) readContext(ctx context.Context, read func(tx *gorm.DB) (models.TurnContext, error)) (models.TurnContext, error) {
	var out models.TurnContext
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var err error
		out, err = read(tx)
		return err
	})
	return out, wrap.Error(err, "reading turn")
}

// Past returns what a workflow that continues a terminated one has to know.
// ErrNotFound for an unknown participant.
func (s *Turns) Past(ctx context.Context, participantID string) (wire.Past, error) {
	var out wire.Past
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var p models.Participant
		if err := tx.Where("id = ?", participantID).Take(&p).Error; err != nil {
			return err
		}
		var err error
		out, err = readRestore(tx, p)
		return err
	})
	return out, wrap.Error(err, "reading what to restore")
}

// FinishTurn ends a turn: its entries of the conversation, the outbox rows to
// send and what became of the profile's prompts, in one transaction. The ids
// of the rows to send come back in order. A turn that has ended returns its
// rows and writes nothing, so a retry is safe. When the participant left or
// opted out meanwhile, the turn is canceled and no row is written, except for a
// notice or an operator's message, which the send checks judge. An
// operator's outbox row exists already and is only tied to the turn. A row that
// is claimed has passed the send checks of ClaimSend. The workflow's state is mirrored
// along with it, unless the turn is canceled or had ended before: a participant
// who opted out meanwhile has a newer one. ErrNotFound for an unknown turn.
func (s *Turns) FinishTurn(ctx context.Context, o models.TurnOutcome) (models.EndedTurn, error) {
	if o.Outcome == "" {
		return models.EndedTurn{}, models.BadField("outcome", "must not be empty")
	}
	var out models.EndedTurn
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		out = models.EndedTurn{}
		p, err := lockParticipant(tx, o.ParticipantID)
		if err != nil {
			return err
		}
		kind, ends, err := setOutcome(tx, o)
		switch {
		case err != nil:
			return err
		case !ends:
			out.OutboxIDs, err = endedWith(tx, o)
		case isBarred(p, kind):
			err = tx.Model(&models.Turn{ID: o.TurnID}).UpdateColumn("outcome", outcomeCanceled).Error
		default:
			out, err = s.writeOutcomeAndState(tx, o, p)
		}
		return err
	})
	return out, wrap.Error(err, "finishing turn")
}

// setOutcome gives a turn its outcome, unless it has one or there is no such turn.
func setOutcome(tx *gorm.DB, o models.TurnOutcome) (kind wire.TurnKind, ends bool, err error) {
	var turn models.Turn
	res := tx.Model(&turn).Clauses(clause.Returning{Columns: []clause.Column{{Name: "kind"}}}).
		Where("id = ? AND participant_id = ? AND outcome = ''", o.TurnID, o.ParticipantID).
		UpdateColumns(map[string]any{"outcome": o.Outcome, "prompt_version": o.PromptVersion, "finished_at": o.At})
	return turn.Kind, res.RowsAffected > 0, res.Error
}

// endedWith returns the rows to send of a turn that has ended.
func endedWith(tx *gorm.DB, o models.TurnOutcome) (ids []string, err error) {
	var turn models.Turn
	if err := tx.Where("id = ? AND participant_id = ?", o.TurnID, o.ParticipantID).Take(&turn).Error; err != nil {
		return nil, err
	}
	err = tx.Model(&models.Outbox{}).Where("turn_id = ? AND late_of = '' AND id NOT LIKE ?", turn.ID, models.InterimMessagePattern(turn.ID)).
		Order("part, id").Pluck("id", &ids).Error
	return ids, err
}

// writeOutcomeAndState writes what a turn leaves behind, and the state that
// comes with it.
func (s *Turns) writeOutcomeAndState(tx *gorm.DB, o models.TurnOutcome, p models.Participant) (models.EndedTurn, error) {
	out, err := s.writeOutcome(tx, o, p)
	if err != nil || o.State == nil {
		return out, err
	}
	out.Saved = true
	return out, saveState(tx, p, *o.State)
}

func (s *Turns) writeOutcome(tx *gorm.DB, o models.TurnOutcome, p models.Participant) (models.EndedTurn, error) {
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
		row.ParticipantID, row.TurnID, row.Status = o.ParticipantID, o.TurnID, wire.OutboxReady
		row.CreatedAt, row.UpdatedAt = o.At, o.At
		if row.Kind == models.KindConsent {
			if err := boundConfirmation(tx, &row, p); err != nil {
				return out, err
			}
		}
		if o.Claim && i == 0 && row.Kind != models.KindOperator {
			claim, err := s.outbox.claimNew(tx, row, p)
			if err != nil {
				return out, err
			}
			out.First, row = claim, claim.Outbox
		}
		if err := queueTurnRow(tx, o, row); err != nil {
			return out, err
		}
		out.OutboxIDs = append(out.OutboxIDs, row.ID)
	}
	return out, settlePrompts(tx, o)
}

// confirmWithin is how long after an opt-out it may be confirmed (47 CFR 64.1200(a)(12)).
const confirmWithin = 5 * time.Minute

// boundConfirmation has the confirmation of an opt-out go out in time or not at all.
func boundConfirmation(tx *gorm.DB, row *models.Outbox, p models.Participant) error {
	newest, err := newestConsent(tx, p)
	if err == nil && newest.Action == models.ConsentOptOut {
		until := newest.At.Add(confirmWithin)
		row.SendBefore = &until
	}
	return err
}

// claimNew judges a row that is about to be written as ClaimSend would, and
// marks it as being sent if it passes.
func (s *Outbox) claimNew(tx *gorm.DB, row models.Outbox, p models.Participant) (models.SendClaim, error) {
	newest, err := newestConsent(tx, p)
	if err != nil {
		return models.SendClaim{}, err
	}
	refusal, err := findRefusal(tx, row, p, newest)
	if err == nil && refusal == "" {
		refusal, err = checkHold(tx, row, row.CreatedAt)
	}
	if err != nil {
		return models.SendClaim{}, err
	}
	if refusal != "" {
		err := refuseRow(tx, &row, refusal)
		return models.SendClaim{Outbox: row}, err
	}
	if showMessage(&row) {
		return models.SendClaim{Outbox: row}, nil
	}
	if wait, err := s.senderWait(tx, p.StudyID, row.CreatedAt); err != nil || wait > 0 {
		return models.SendClaim{Outbox: row, Wait: wait}, err
	}
	takeClaim(&row)
	out := models.SendClaim{Outbox: row, To: p.Phone, Version: p.Version, StudyID: p.StudyID, Arm: p.Arm, Post: true}
	out.Heard, out.Consented = standingOfNumber(p, newest)
	return out, nil
}

// queueTurnRow writes an outbox row, or ties the one that exists to the turn.
func queueTurnRow(tx *gorm.DB, o models.TurnOutcome, row models.Outbox) error {
	added, err := insertOnce(tx, &row)
	if err == nil && added {
		return noteDisclosure(tx, row)
	}
	if err != nil {
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
	profile, err := readProfile(tx, o.ParticipantID)
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
