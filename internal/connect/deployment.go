package connect

import (
	"go.temporal.io/sdk/client"

	"coachline/internal/build"
	"coachline/internal/config"
	"coachline/internal/rollout"
	"coachline/models/wire"
)

// NewDeployment returns the worker deployment of an installation.
func NewDeployment(cfg config.Config, engine client.Client) rollout.Deployment {
	return rollout.Deployment{Client: engine, Name: cfg.Worker.Deployment, Queue: wire.QueueCoach}
}

// OwnRoute returns the build to which tasks go when they go to workers of this program;
// empty where these have no versions. The error is that of build.ID.
func OwnRoute(cfg config.Config) (string, error) {
	if cfg.Worker.Versioning == config.VersioningOff {
		return "", nil
	}
	return build.ID(cfg.Worker.BuildID)
}
