// Package worker is the role that runs workflows and activities. It builds the
// adapters, registers everything and drains on the way out; any number of
// replicas may run.
package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/config"
	"coachline/internal/dial"
	"coachline/models"
	"coachline/workflows"
)

// Tuning with its measured reasons: ten pollers keep up with a wave of timers
// on one machine, and a sticky time-out above the default five seconds keeps
// such a wave from falling back to full replays.
const (
	workflowPollers = 10
	stickyTimeout   = 10 * time.Second
	drainTimeout    = 10 * time.Second
)

// Run runs the worker role until ctx ends, then drains. It fails when the
// configuration, the database or the first contact with Temporal does.
func Run(ctx context.Context, cfg config.Config) error {
	ties, err := dial.Open(ctx, cfg, nil)
	if err != nil {
		return err
	}
	w, err := build(cfg, ties)
	if err != nil {
		return errors.Join(err, ties.Close())
	}
	if err := w.start(ctx); err != nil {
		return errors.Join(err, ties.Close())
	}
	ties.Logger.Info("worker started", "queues", []string{models.QueueCoach, models.QueueModel, models.QueueSMS})
	<-ctx.Done()
	w.stop()
	return ties.Close()
}

// role is the three workers of one process.
type role struct {
	ties      *dial.Ties
	namespace string
	workers   []sdk.Worker
}

func build(cfg config.Config, ties *dial.Ties) (*role, error) {
	acts, err := newActs(cfg, ties)
	if err != nil {
		return nil, err
	}
	coach := sdk.New(ties.Temporal, models.QueueCoach, sdk.Options{
		WorkflowTaskPollerBehavior:   sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: workflowPollers}),
		StickyScheduleToStartTimeout: stickyTimeout,
		WorkerStopTimeout:            drainTimeout,
	})
	coach.RegisterWorkflowWithOptions(workflows.Participant, workflow.RegisterOptions{Name: models.WorkflowType})
	coach.RegisterActivity(acts.decisions)
	coach.RegisterActivity(acts.turns)
	coach.RegisterActivity(acts.tools)

	model := sdk.New(ties.Temporal, models.QueueModel, activitiesOnly(0))
	model.RegisterActivity(acts.talk)

	sms := sdk.New(ties.Temporal, models.QueueSMS, activitiesOnly(cfg.Carrier.SendRate))
	sms.RegisterActivity(acts.posts)
	return &role{ties: ties, namespace: cfg.Temporal.Namespace, workers: []sdk.Worker{coach, model, sms}}, nil
}

// activitiesOnly is a worker without workflow tasks. The rate holds for the
// whole queue, whatever the number of workers, because the server keeps it.
func activitiesOnly(perSecond float64) sdk.Options {
	return sdk.Options{
		DisableWorkflowWorker:        true,
		TaskQueueActivitiesPerSecond: perSecond,
		WorkerStopTimeout:            drainTimeout,
	}
}

func (r *role) start(ctx context.Context) error {
	if err := ensureSearchAttributes(ctx, r.ties.Temporal, r.namespace); err != nil {
		return err
	}
	for i, w := range r.workers {
		if err := w.Start(); err != nil {
			for _, started := range r.workers[:i] {
				started.Stop()
			}
			return fmt.Errorf("starting worker: %w", err)
		}
	}
	return nil
}

// stop drains: no new tasks are taken, running activities get drainTimeout.
func (r *role) stop() {
	for _, w := range r.workers {
		w.Stop()
	}
}
