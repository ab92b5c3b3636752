package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Erasures are people who are to be erased; package store keeps them. Every step
// may be repeated.
type Erasures interface {
	// PendingErasures lists erasures that are not done, oldest first.
	PendingErasures(ctx context.Context, limit int) ([]models.Erasure, error)
	// IsSettled reports whether nothing is on its way for a removed participant.
	IsSettled(ctx context.Context, participantID string) (bool, error)
	EndErasureStep(ctx context.Context, step models.ErasureStep) error
	NoteExecutions(ctx context.Context, participantID string, count int) error
	// EraseRows ends step ErasureRows, FinishErasure step ErasureCarrier where the
	// carrier has no copies.
	EraseRows(ctx context.Context, participantID string, now time.Time) error
	CarrierCopies(ctx context.Context, participantID string, limit int) ([]models.CarrierCopy, error)
	FinishErasure(ctx context.Context, participantID string, now time.Time) error
	// ExpiredParticipants lists people who were removed before an instant and are
	// not erased.
	ExpiredParticipants(ctx context.Context, removedBefore time.Time, limit int) ([]string, error)
	BeginErasure(ctx context.Context, r models.ErasureRequest) (models.Erasure, error)
	// ForgetStrangers empties texts of people who were never enrolled.
	ForgetStrangers(ctx context.Context, f models.StrangersForgotten) (int, error)
}

const (
	// erasureGrace is how long a workflow has to say goodbye; after that it is
	// terminated.
	erasureGrace = 5 * time.Minute
	// erasurePause follows a failed step, and retentionInterval is between two searches
	// for people whose retention is over.
	erasurePause      = 30 * time.Second
	retentionInterval = time.Minute
	erasureBatch      = 50
	// RetentionActor is who the audit names for erasures by COACH_RETENTION.
	RetentionActor = "retention"
)

// erasing is what the sweep remembers of erasures. It alone touches it.
type erasing struct {
	retention time.Time            // of the next search for people to erase
	strangers time.Time            // of the next search for texts of strangers
	paused    map[string]time.Time // after a failure, until
}

// sweepErasures carries every erasure on by the steps that can be done now. One
// that fails holds up no other.
func (r *Relay) sweepErasures(ctx context.Context) error {
	if err := r.beginExpired(ctx); err != nil {
		return err
	}
	if err := r.forgetStrangers(ctx); err != nil {
		return err
	}
	pending, err := r.cfg.Store.Erasures.PendingErasures(ctx, erasureBatch)
	if err != nil {
		return err
	}
	now := r.cfg.Now()
	for _, e := range pending {
		if now.Before(r.erasing.paused[e.ParticipantID]) {
			continue
		}
		delete(r.erasing.paused, e.ParticipantID)
		if err := r.carryOn(ctx, e); err != nil {
			r.erasing.paused[e.ParticipantID] = now.Add(erasurePause)
			r.cfg.Logger.Warn("an erasure failed, it will be tried again", "participant", e.ParticipantID, "step", string(e.State), "error", err)
		}
	}
	return nil
}

// beginExpired begins to erase people who were removed longer ago than the
// retention.
func (r *Relay) beginExpired(ctx context.Context) error {
	now := r.cfg.Now()
	if r.cfg.Retention <= 0 || now.Before(r.erasing.retention) {
		return nil
	}
	ids, err := r.cfg.Store.Erasures.ExpiredParticipants(ctx, now.Add(-r.cfg.Retention), erasureBatch)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := r.cfg.Store.Erasures.BeginErasure(ctx, models.ErasureRequest{ParticipantID: id, Actor: RetentionActor, Now: now}); err != nil {
			return err
		}
	}
	if len(ids) < erasureBatch {
		r.erasing.retention = now.Add(retentionInterval)
	}
	return nil
}

// forgetStrangers empties texts of people who were never enrolled, once they are older
// than the retention, and ends attention for their floods.
func (r *Relay) forgetStrangers(ctx context.Context) error {
	now := r.cfg.Now()
	if now.Before(r.erasing.strangers) {
		return nil
	}
	forget := models.StrangersForgotten{Limit: batch, Now: now} // of no text without a retention
	if r.cfg.StrangerRetention > 0 {
		forget.Before = now.Add(-r.cfg.StrangerRetention)
	}
	count, err := r.cfg.Store.Erasures.ForgetStrangers(ctx, forget)
	if err == nil && count < batch {
		r.erasing.strangers = now.Add(retentionInterval)
	}
	return err
}

func (r *Relay) carryOn(ctx context.Context, e models.Erasure) error {
	ctx, cancel := context.WithTimeout(ctx, 2*tellLimit)
	defer cancel()
	switch e.State {
	case models.ErasureEnding:
		return r.awaitEnd(ctx, e)
	case models.ErasureHistory:
		return r.deleteHistories(ctx, e)
	case models.ErasureRows:
		return r.cfg.Store.Erasures.EraseRows(ctx, e.ParticipantID, r.cfg.Now())
	case models.ErasureCarrier:
		return r.eraseCopies(ctx, e)
	case models.ErasureDone:
	}
	return nil
}

// awaitEnd waits until the workflow has ended and its texts are through, for as
// long as the grace.
func (r *Relay) awaitEnd(ctx context.Context, e models.Erasure) error {
	if r.cfg.Now().Sub(e.RequestedAt) < erasureGrace {
		settled, err := r.cfg.Store.Erasures.IsSettled(ctx, e.ParticipantID)
		if err != nil || !settled {
			return err
		}
		running, err := r.cfg.Histories.IsRunning(ctx, models.WorkflowID(e.ParticipantID))
		if err != nil || running {
			return err
		}
	}
	return r.endStep(ctx, e, models.ErasureHistory)
}

func (r *Relay) endStep(ctx context.Context, e models.Erasure, to models.ErasureState) error {
	return r.cfg.Store.Erasures.EndErasureStep(ctx, models.ErasureStep{ParticipantID: e.ParticipantID, From: e.State, To: to, Now: r.cfg.Now()})
}

// deleteHistories terminates and deletes every run of the participant's workflow
// and subagents. Temporal deletes in the background, so the step ends with a later
// sweep that finds none.
func (r *Relay) deleteHistories(ctx context.Context, e models.Erasure) error {
	runs, err := r.cfg.Histories.Executions(ctx, e.ParticipantID)
	if err != nil {
		return fmt.Errorf("listing executions: %w", err)
	}
	if len(runs) == 0 {
		return r.endStep(ctx, e, models.ErasureRows)
	}
	if err := r.cfg.Store.Erasures.NoteExecutions(ctx, e.ParticipantID, len(runs)); err != nil {
		return err
	}
	var failed error
	for _, run := range runs {
		failed = errors.Join(failed, r.deleteRun(ctx, run))
	}
	if failed != nil {
		return fmt.Errorf("deleting executions: %w", failed)
	}
	return nil
}

func (r *Relay) deleteRun(ctx context.Context, run Execution) error {
	if run.Running {
		if err := r.cfg.Histories.Terminate(ctx, run); err != nil {
			return err
		}
	}
	return r.cfg.Histories.Delete(ctx, run)
}

// eraseCopies has Temporal ask the carrier until it has no copy.
func (r *Relay) eraseCopies(ctx context.Context, e models.Erasure) error {
	copies, err := r.cfg.Store.Erasures.CarrierCopies(ctx, e.ParticipantID, 1)
	if err != nil {
		return err
	}
	if len(copies) == 0 {
		return r.cfg.Store.Erasures.FinishErasure(ctx, e.ParticipantID, r.cfg.Now())
	}
	err = r.executeJob(ctx, job{
		id: "erase-" + e.ParticipantID, name: wire.ActivityEraseCopies, input: wire.EraseCopiesInput{ParticipantID: e.ParticipantID},
		priority: erasurePriority, again: true,
	})
	return wrap.Error(err, "starting to delete the carrier's copies")
}

// erasurePriority is behind all replies and prompts.
const erasurePriority = 5
