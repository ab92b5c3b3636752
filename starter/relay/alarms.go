package relay

import (
	"context"
	"fmt"
	"time"

	"coachline/models/alarm"
)

// Alarms are texts that may be a crisis and about which nothing has been begun;
// package store keeps them.
type Alarms interface {
	// PendingAlarms lists alarms that Temporal was not told of, oldest first.
	PendingAlarms(ctx context.Context, createdBefore time.Time, limit int) ([]alarm.Alarm, error)
	AlarmTold(ctx context.Context, id string, at time.Time) error
}

// alarmKey tells the background jobs of alarms from all others.
const alarmKey = "alarm/"

// LaterAlarm has Raise run in the background and returns at once.
func (r *Relay) LaterAlarm(id string) { r.pool.add(alarmKey + id) }

// Raise has Temporal page a person and send the safety text, and records that it
// was told. Neither waits for the participant's workflow, and the ids cannot be
// used twice, so it is safe to call at any time and from several processes.
func (r *Relay) Raise(ctx context.Context, id string) error {
	tellCtx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	in := alarm.Input{AlarmID: id}
	for _, j := range []job{
		{id: id + "-text", name: alarm.ActivitySafetyText, input: in, life: alarm.TextLife, priority: 1},
		{id: id + "-page", name: alarm.ActivityPage, input: in, life: alarm.PageLife, priority: 1},
	} {
		if err := r.execute(tellCtx, j); err != nil {
			return fmt.Errorf("starting %s: %w", j.id, err)
		}
	}
	markCtx, cancelMark := context.WithTimeout(context.WithoutCancel(ctx), markLimit)
	defer cancelMark()
	if err := r.cfg.Alarms.AlarmTold(markCtx, id, r.cfg.Now()); err != nil {
		return fmt.Errorf("recording %s as told: %w", id, err)
	}
	return nil
}

// sweepAlarms tells of the alarms that were left over, before anything else.
func (r *Relay) sweepAlarms(ctx context.Context) error {
	pending, err := r.cfg.Alarms.PendingAlarms(ctx, r.cfg.Now().Add(-r.cfg.MinAge), batch)
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
