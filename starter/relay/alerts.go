package relay

import (
	"context"
	"fmt"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// alertKey is the prefix of the keys of background jobs for alerts.
const alertKey = "alert/"

// LaterAlert has Raise run in the background and returns at once.
func (r *Relay) LaterAlert(id string) { r.pool.addJob(alertKey + id) }

// Raise has Temporal send the safety text and, unless the alert is a weak sign,
// page a person, and records that it did so. Neither waits for the participant's
// workflow, and the ids cannot be used twice, so it is safe to call at any time and
// from several processes. The page of a weak sign is not even started, because its
// id must be free when another part of the message makes the alert grave.
func (r *Relay) Raise(ctx context.Context, id string) error {
	tellCtx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	row, err := r.cfg.Store.Alerts.Alert(tellCtx, id)
	if err != nil {
		return fmt.Errorf("reading %s: %w", id, err)
	}
	in := wire.AlertInput{AlertID: id}
	jobs := []job{{id: id + "-text", name: wire.ActivitySafetyText, input: in, validity: models.SafetyTextValidity, priority: 1}}
	if row.Pages {
		jobs = append(jobs, job{id: id + "-page", name: wire.ActivityPage, input: in, validity: models.PageValidity, priority: 1})
	}
	for _, j := range jobs {
		if err := r.executeJob(tellCtx, j); err != nil {
			return fmt.Errorf("starting %s: %w", j.id, err)
		}
	}
	markCtx, cancelMark := context.WithTimeout(context.WithoutCancel(ctx), markLimit)
	defer cancelMark()
	return wrap.Errorf(r.cfg.Store.Alerts.AlertTold(markCtx, row, r.cfg.Now()), "recording %s as told", id)
}

// sweepEscalations pages once more for alerts that no operator has acknowledged in
// time. The id of the second page cannot be used twice.
func (r *Relay) sweepEscalations(ctx context.Context) error {
	if r.cfg.Escalation <= 0 {
		return nil
	}
	open, err := r.cfg.Store.Alerts.UnacknowledgedAlerts(ctx, r.cfg.Now().Add(-r.cfg.Escalation), batch)
	if err != nil {
		return err
	}
	for _, row := range open {
		second := job{
			id: row.ID + "-page-again", name: wire.ActivityPage, input: wire.AlertInput{AlertID: row.ID, Again: true},
			validity: models.PageValidity, priority: 1,
		}
		if err := r.executeJob(ctx, second); err != nil {
			return fmt.Errorf("starting %s: %w", second.id, err)
		}
		if err := r.cfg.Store.Alerts.AlertEscalated(ctx, row.ID, r.cfg.Now()); err != nil {
			return fmt.Errorf("recording %s as escalated: %w", row.ID, err)
		}
	}
	return nil
}

// sweepAlerts raises the alerts that are still pending, before anything else.
func (r *Relay) sweepAlerts(ctx context.Context) error {
	if err := r.settleOverdueLooks(ctx); err != nil {
		return err
	}
	pending, err := r.cfg.Store.Alerts.PendingAlerts(ctx, r.cfg.Now().Add(-r.cfg.MinAge), batch)
	if err != nil {
		return err
	}
	for _, row := range pending {
		if err := r.Raise(ctx, row.ID); err != nil {
			return err
		}
	}
	return nil
}

// settleOverdueLooks has weak signs count as possible that no turn has read once more
// in time: no worker runs, or the turn waits.
func (r *Relay) settleOverdueLooks(ctx context.Context) error {
	due, err := r.cfg.Store.Looks.OverdueLooks(ctx, r.cfg.Now().Add(-models.LookValidity), batch)
	if err != nil {
		return err
	}
	for _, look := range due {
		_, err := r.cfg.Store.Looks.SettleLook(ctx, models.LookResult{
			AlertID: look.AlertID, Verdict: models.LookVerdict{State: models.LookFailed}, Now: r.cfg.Now(),
		})
		if err != nil {
			return fmt.Errorf("settling %s: %w", look.AlertID, err)
		}
	}
	return nil
}
