// Package rollout reads and moves the route of Temporal's worker deployment: the build
// of the worker that gets the tasks. The server keeps the route, and it outlives every
// worker. The first build takes it; afterwards only Promote moves it, so that an old
// worker that starts again takes nothing back.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/internal/wait"
	"coachline/internal/wrap"
)

// Identity is the client that moves the route: after the first promotion the server
// refuses every other one.
const Identity = "coachline deploy"

// patience is how long a build's queues may take to be known to the server, which
// learns of them as they are polled.
const (
	patience     = time.Minute
	readPatience = 10 * time.Second
	pace         = 250 * time.Millisecond
)

// Deployment is the worker deployment of an installation.
type Deployment struct {
	Client    client.Client
	Namespace string
	Name      string
	// Queue is the one of the workflow tasks.
	Queue string
}

// Route says where tasks go; a build without a name stands for workers without versions.
type Route struct {
	// IsSet is false until the first build has taken the route.
	IsSet   bool
	Current string
	// Ramping is the build that gets a share of the tasks, in percent; empty for none.
	Ramping string
	Percent float32
	token   []byte
	manager string
}

// Read returns the route that the server has. It asks for up to ten seconds until the
// server can tell: its own workflow keeps the route, and a query of that fails now and then
// while the workflow changes.
func (d Deployment) Read(ctx context.Context) (Route, error) {
	var got client.WorkerDeploymentDescribeResponse
	err := insist(ctx, readPatience, func(err error) bool {
		var failed *serviceerror.QueryFailed
		return errors.As(err, &failed)
	}, func() (err error) {
		got, err = d.Client.WorkerDeploymentClient().GetHandle(d.Name).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		return err
	})
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return Route{}, nil
	}
	if err != nil {
		return Route{}, fmt.Errorf("reading the worker deployment: %w", err)
	}
	r := Route{token: got.ConflictToken, manager: got.Info.ManagerIdentity}
	routing := got.Info.RoutingConfig
	r.IsSet = !routing.CurrentVersionChangedTime.IsZero()
	if routing.CurrentVersion != nil {
		r.Current = routing.CurrentVersion.BuildID
	}
	if routing.RampingVersion != nil {
		r.Ramping, r.Percent = routing.RampingVersion.BuildID, routing.RampingVersionPercentage
	}
	return r, nil
}

// Begin gives the route to the first build of a deployment and leaves it where it is
// otherwise. It waits for up to a minute until the server has heard of its workers; the
// error is that of the last try, and a retry is safe.
func (d Deployment) Begin(ctx context.Context, build string) (route Route, err error) {
	err = insist(ctx, patience, func(error) bool { return true }, func() error {
		route, err = d.begin(ctx, build)
		return err
	})
	return route, err
}

// insist tries until it is done, an error is none that passes, or the time is over.
func insist(ctx context.Context, longest time.Duration, passes func(error) bool, try func() error) error {
	for begun := time.Now(); ; {
		err := try()
		if err == nil || !passes(err) || time.Since(begun) > longest || wait.For(ctx, pace) != nil {
			return err
		}
	}
}

func (d Deployment) begin(ctx context.Context, build string) (Route, error) {
	now, err := d.Read(ctx)
	if err != nil || now.IsSet || build == "" {
		return now, err
	}
	_, err = d.Client.WorkerDeploymentClient().GetHandle(d.Name).SetCurrentVersion(ctx,
		client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build, ConflictToken: now.token})
	if err != nil {
		return now, fmt.Errorf("giving the tasks to the first build: %w", err)
	}
	return d.Read(ctx)
}

// Promotion is what Promote is asked for.
type Promotion struct {
	// Build gets the tasks; empty for workers without versions.
	Build string
	// Percent is its share, from 1 to 99, beside the current build; 0 for all.
	Percent float32
	// IsForced accepts a build that no worker runs, or that lacks a queue.
	IsForced bool
}

// Promote moves the route, and waits for up to a minute until workers of the build are
// known to the server. The error is the server's of the last try; a retry is safe.
func (d Deployment) Promote(ctx context.Context, to Promotion) error {
	return insist(ctx, patience, func(err error) bool {
		var early *serviceerror.FailedPrecondition
		var unknown *serviceerror.NotFound
		return errors.As(err, &early) || errors.As(err, &unknown)
	}, func() error { return d.promote(ctx, to) })
}

func (d Deployment) promote(ctx context.Context, to Promotion) error {
	now, err := d.Read(ctx)
	if err != nil {
		return err
	}
	handle := d.Client.WorkerDeploymentClient().GetHandle(d.Name)
	if now.manager != Identity {
		owned, err := handle.SetManagerIdentity(ctx, client.WorkerDeploymentSetManagerIdentityOptions{ManagerIdentity: Identity, Identity: Identity, ConflictToken: now.token})
		if err != nil {
			return fmt.Errorf("taking over the deployment from %q: %w", now.manager, err)
		}
		now.token = owned.ConflictToken
	}
	if to.Percent > 0 {
		_, err = handle.SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{
			BuildID: to.Build, Percentage: to.Percent, ConflictToken: now.token, Identity: Identity, IgnoreMissingTaskQueues: to.IsForced, AllowNoPollers: to.IsForced})
	} else {
		_, err = handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{
			BuildID: to.Build, ConflictToken: now.token, Identity: Identity, IgnoreMissingTaskQueues: to.IsForced, AllowNoPollers: to.IsForced})
	}
	return wrap.Errorf(err, "giving tasks to build %q", to.Build)
}

// Report is how often a worker tells the server that it runs, and silence how long it may
// be silent, which is also how far the clocks of two machines may be apart.
const (
	Report  = 5 * time.Second
	silence = time.Minute
)

// Workers counts the workers of each build that reported within a minute and are not
// about to end.
func (d Deployment) Workers(ctx context.Context) (map[string]int, error) {
	// A worker that drains goes on reporting after the server has let it go.
	query := fmt.Sprintf("TaskQueue = %q AND WorkerStatus = %q AND HeartbeatTime > %q",
		d.Queue, enums.WORKER_STATUS_RUNNING.String(), time.Now().Add(-silence).UTC().Format(time.RFC3339))
	list, err := d.Client.WorkflowService().ListWorkers(ctx, &workflowservice.ListWorkersRequest{Namespace: d.Namespace, Query: query})
	if err != nil {
		return nil, fmt.Errorf("listing workers: %w", err)
	}
	workers := map[string]int{}
	for _, one := range list.GetWorkers() {
		workers[one.GetDeploymentVersion().GetBuildId()]++
	}
	return workers, nil
}

// Check returns what keeps tasks from being done, or nil: no worker runs, or none of the
// build that they go to.
func (d Deployment) Check(ctx context.Context) error {
	route, err := d.Read(ctx)
	if err != nil {
		return err
	}
	workers, err := d.Workers(ctx)
	switch {
	case err != nil:
		return err
	case len(workers) == 0:
		return errors.New("no worker runs: texts are stored and wait; start coachline worker")
	case workers[route.Current] == 0:
		return fmt.Errorf("no worker of build %q runs, to which tasks go: start one, or give them to another build with coachline deploy promote", route.Current)
	}
	return nil
}
