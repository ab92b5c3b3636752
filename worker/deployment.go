package worker

import (
	"context"
	"fmt"
	"log/slog"

	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/config"
	"coachline/internal/rollout"
)

// deployment is this worker's part in Temporal's worker deployments: which build it is.
// Where tasks go is moved by coachline deploy promote.
type deployment struct {
	rollout.Deployment
	mode   config.Versioning
	build  string
	logger *slog.Logger
}

// deploymentOptions returns the SDK's options of the version.
func (d deployment) deploymentOptions() sdk.DeploymentOptions {
	// Without versioning the name and build are shown beside each task all the
	// same.
	o := sdk.DeploymentOptions{Version: sdk.WorkerDeploymentVersion{DeploymentName: d.Name, BuildID: d.build}}
	switch d.mode {
	case config.VersioningOff:
	case config.VersioningAuto:
		o.UseVersioning, o.DefaultVersioningBehavior = true, workflow.VersioningBehaviorAutoUpgrade
	case config.VersioningPinned:
		o.UseVersioning, o.DefaultVersioningBehavior = true, workflow.VersioningBehaviorPinned
	}
	return o
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
	_, err := d.Read(ctx)
	if d.mode == config.VersioningOff || err == nil {
		return nil
	}
	return fmt.Errorf("COACH_DEPLOYMENT_VERSIONING: reading the worker deployment (off does without it): %w", err)
}

// beginRoute takes the route if this is the first build, and says where it leads
// otherwise.
func (d deployment) beginRoute(ctx context.Context) {
	route, err := d.Begin(ctx, d.ownRoute())
	switch {
	case ctx.Err() != nil:
		// It was told to stop meanwhile.
	case err != nil:
		d.logger.Error("the route of tasks is not known; coachline doctor says what is wrong", "build", d.ownRoute(), "error", err)
	case route.Current != d.ownRoute():
		d.logger.Warn("this worker gets no tasks until it is told to: run coachline deploy promote", "build", d.ownRoute(), "tasks_go_to", route.Current)
	default:
		d.logger.Info("tasks go to this build", "build", d.ownRoute())
	}
}
