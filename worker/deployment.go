package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	deploymentpb "go.temporal.io/api/deployment/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/config"
	"coachline/models"
)

// deploymentName is what the builds of this programme are versions of.
const deploymentName = models.DeploymentName

// Pace of looking after the route. A worker polls at least once a minute, so a
// build that was silent for goneAfter longer than this one is gone.
const (
	routeRetry    = 250 * time.Millisecond
	routeInterval = 30 * time.Second
	goneAfter     = 2 * time.Minute
	// patientTries: a new build's queues are known to the server one by one as
	// they are polled; after this many tries (10 s) a queue that is still
	// missing is one that the new build does not have.
	patientTries = 40
)

// deployment is this worker's part in Temporal's worker deployments: which
// build it is, and whether tasks are routed to a build that has workers.
//
// The server routes by the deployment's current version, which survives every
// worker. It must move when a build replaces another one; otherwise
// participants would wait for workers that are gone. So each worker looks after
// it: the build that started last becomes current (with "pinned" the operator
// says which one does), and a current version whose workers are all gone is
// replaced by one that runs.
type deployment struct {
	client client.Client
	mode   config.Versioning
	build  string
	queue  string // of the workflow tasks
	logger *slog.Logger
	// interval is how often the route is looked at, gone how long another build
	// may be silent.
	interval, gone time.Duration
}

// deploymentOptions returns the SDK's options of the version.
func (d deployment) deploymentOptions() sdk.DeploymentOptions {
	// Without versioning the name and build are shown beside each task all the
	// same.
	o := sdk.DeploymentOptions{Version: sdk.WorkerDeploymentVersion{DeploymentName: deploymentName, BuildID: d.build}}
	switch d.mode {
	case config.VersioningOff:
	case config.VersioningAuto:
		o.UseVersioning, o.DefaultVersioningBehavior = true, workflow.VersioningBehaviorAutoUpgrade
	case config.VersioningPinned:
		o.UseVersioning, o.DefaultVersioningBehavior = true, workflow.VersioningBehaviorPinned
	}
	return o
}

// route is what the server knows: the build that tasks go to, empty for
// workers without versioning, and a token that a change of it must carry.
type route struct {
	build string
	token []byte
}

// ownRoute returns the route that leads to this worker.
func (d deployment) ownRoute() string {
	if d.mode == config.VersioningOff {
		return ""
	}
	return d.build
}

// checkServer refuses to start with versioning on a server that has none: its
// tasks would never come.
func (d deployment) checkServer(ctx context.Context) error {
	_, err := d.currentRoute(ctx)
	if d.mode == config.VersioningOff || err == nil {
		return nil
	}
	return fmt.Errorf("COACH_DEPLOYMENT_VERSIONING: reading the worker deployment (off does without it): %w", err)
}

// keepRoute watches the route until ctx ends. The error is one that no retry
// fixes: this worker may not change the route and would get no tasks.
func (d deployment) keepRoute(ctx context.Context) error {
	for try, settled := 0, false; ; try++ {
		err := d.updateRoute(ctx, !settled, try >= patientTries)
		wait := d.interval
		switch {
		case ctx.Err() != nil:
			// What failed was cut short.
		case isRefused(err) && d.mode != config.VersioningOff:
			return fmt.Errorf("COACH_DEPLOYMENT_VERSIONING: making build %s current: %w", d.build, err)
		case err == nil || isRefused(err):
			settled = true
		case !settled && try < patientTries:
			wait = routeRetry // The server has not seen all of our queues yet.
		default:
			d.logger.Warn("checking the worker deployment failed, trying again", "build", d.build, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

func isRefused(err error) bool {
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	return errors.As(err, &denied) || errors.As(err, &unknown)
}

// updateRoute reads the route and changes it where that is this worker's to do;
// first is true until that worked once.
func (d deployment) updateRoute(ctx context.Context, first, dropQueues bool) error {
	now, err := d.currentRoute(ctx)
	if err != nil || now.build == d.ownRoute() {
		return err
	}
	// Pinned: the first build ever has no other build to wait for.
	if !first || d.mode == config.VersioningPinned && now.build != "" {
		polls, err := d.newestPolls(ctx)
		if err != nil || !d.isGone(polls, now.build, time.Now()) {
			return err
		}
		dropQueues = true
	}
	handle := d.client.WorkerDeploymentClient().GetHandle(deploymentName)
	_, err = handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{
		BuildID: d.ownRoute(), ConflictToken: now.token, IgnoreMissingTaskQueues: dropQueues,
	})
	if err != nil {
		return fmt.Errorf("setting the current version: %w", err)
	}
	d.logger.Info("tasks are routed to this build", "build", d.build, "before", now.build)
	return nil
}

// currentRoute reads the route that the server has.
func (d deployment) currentRoute(ctx context.Context) (route, error) {
	got, err := d.client.WorkerDeploymentClient().GetHandle(deploymentName).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return route{}, nil
	}
	if err != nil {
		return route{}, fmt.Errorf("reading the worker deployment: %w", err)
	}
	r := route{token: got.ConflictToken}
	if version := got.Info.RoutingConfig.CurrentVersion; version != nil {
		r.build = version.BuildID
	}
	return r, nil
}

// newestPolls returns when each build was last heard of by the server; the empty
// build stands for workers without versioning.
func (d deployment) newestPolls(ctx context.Context) (map[string]time.Time, error) {
	queue, err := d.client.DescribeTaskQueue(ctx, d.queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil, fmt.Errorf("listing workers: %w", err)
	}
	newest := map[string]time.Time{}
	for _, poller := range queue.GetPollers() {
		build := versionOf(poller.GetDeploymentOptions())
		if at := poller.GetLastAccessTime().AsTime(); at.After(newest[build]) {
			newest[build] = at
		}
	}
	return newest, nil
}

// isGone reports whether no worker of a build is left: the server has heard of it
// that much earlier than of this worker, which polls too. A server that is too busy
// to take polls has heard of neither, and says nothing about the other build then.
func (d deployment) isGone(polls map[string]time.Time, build string, now time.Time) bool {
	own, found := polls[d.ownRoute()]
	if !found {
		own = now
	}
	return own.Sub(polls[build]) >= d.gone
}

func versionOf(o *deploymentpb.WorkerDeploymentOptions) string {
	if o.GetWorkerVersioningMode() != enums.WORKER_VERSIONING_MODE_VERSIONED {
		return ""
	}
	return o.GetBuildId()
}
