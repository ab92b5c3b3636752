package worker

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/dev/temporal"
	"coachline/internal/config"
	"coachline/internal/rollout"
)

const (
	testQueue = "deployment-test"
	limit     = 30 * time.Second
)

// endWithBuild is a workflow that ends on "end" with the name of the build that ran its
// last task, and begins a new run on "next", as a participant does.
func endWithBuild(build string) func(workflow.Context) (string, error) {
	return func(ctx workflow.Context) (string, error) {
		var word string
		workflow.GetSignalChannel(ctx, "word").Receive(ctx, &word)
		if word == "next" {
			return "", workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
				InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
			}, "EndWithBuild")
		}
		return build, nil
	}
}

// cluster is a server of one's own, because a deployment is one of a namespace.
type cluster struct {
	t *testing.T
	c client.Client
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	e, err := temporal.Start(t.Context(), temporal.Config{UIPort: temporal.NoUI})
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	c, err := client.Dial(client.Options{HostPort: e.Address(), Logger: slog.New(slog.DiscardHandler), WorkerHeartbeatInterval: time.Second})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return cluster{t: t, c: c}
}

// worker starts a build and returns what stops it for good.
func (k cluster) worker(build string, mode config.Versioning) (deployment, func()) {
	k.t.Helper()
	d := deployment{
		Deployment: rollout.Deployment{Client: k.c, Namespace: client.DefaultNamespace, Name: "coachline", Queue: testQueue},
		mode:       mode, build: build, logger: slog.New(slog.DiscardHandler),
	}
	require.NoError(k.t, d.checkServer(k.t.Context()))
	w := sdk.New(k.c, testQueue, sdk.Options{DeploymentOptions: d.deploymentOptions()})
	w.RegisterWorkflowWithOptions(endWithBuild(build), workflow.RegisterOptions{Name: "EndWithBuild"})
	require.NoError(k.t, w.Start())
	d.beginRoute(k.t.Context())
	stop := sync.OnceFunc(w.Stop)
	k.t.Cleanup(stop)
	return d, stop
}

func (k cluster) routed(d deployment, to string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		now, err := d.Read(k.t.Context())
		return err == nil && now.Current == to
	}, limit, 50*time.Millisecond, "tasks are not routed to %q", to)
}

// start begins a workflow and waits for its first task to be done.
func (k cluster) start(id string) {
	k.t.Helper()
	_, err := k.c.ExecuteWorkflow(k.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: testQueue}, "EndWithBuild")
	require.NoError(k.t, err)
	k.did(id, 1)
}

// did waits until the newest run of a workflow, its first or a later one, has
// done a task.
func (k cluster) did(id string, run int) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		later := false
		events := k.c.GetWorkflowHistory(k.t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				return false
			}
			later = later || event.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId() != ""
			if event.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
				return later == (run > 1)
			}
		}
		return false
	}, limit, 20*time.Millisecond)
}

func (k cluster) say(id, word string) {
	k.t.Helper()
	require.NoError(k.t, k.c.SignalWorkflow(k.t.Context(), id, "", "word", word))
}

// ends tells which build ended a workflow.
func (k cluster) ends(id string) string {
	k.t.Helper()
	k.say(id, "end")
	ctx, cancel := context.WithTimeout(k.t.Context(), limit)
	defer cancel()
	var build string
	require.NoError(k.t, k.c.GetWorkflow(ctx, id, "").Get(ctx, &build), "the task was not taken")
	return build
}

// promote gives the tasks to a build.
func (k cluster) promote(d deployment, build string) {
	k.t.Helper()
	require.NoError(k.t, d.Promote(k.t.Context(), rollout.Promotion{Build: build}))
	k.routed(d, build)
}

// TestPromotedBuildsTakeOver: every build is gone before the next one starts, the setting
// may change with it, and each goes on with what the one before began.
func TestPromotedBuildsTakeOver(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	for i, step := range []struct {
		build string
		mode  config.Versioning
	}{
		{"one", config.VersioningAuto},
		{"two", config.VersioningAuto},
		{"two", config.VersioningOff},
		{"one", config.VersioningAuto}, // and back to an older build
	} {
		older := string(rune('a' + i))
		d, stop := k.worker(step.build, step.mode)
		if i > 0 {
			k.promote(d, d.ownRoute())
			require.Equal(t, step.build, k.ends(older), "began on the build before")
		}
		k.routed(d, d.ownRoute())
		require.NoError(t, d.Check(t.Context()))
		k.start(string(rune('a' + i + 1)))
		stop()
	}
}

// TestOldBuildTakesNothingBack: the first build takes the tasks, a later one waits to be
// promoted, and after that a worker of the first one that starts again takes nothing.
func TestOldBuildTakesNothingBack(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	one, stop := k.worker("one", config.VersioningAuto)
	k.routed(one, "one")
	two, _ := k.worker("two", config.VersioningAuto)
	k.routed(two, "one")
	require.NoError(t, two.Check(t.Context()))
	require.NoError(t, two.Promote(t.Context(), rollout.Promotion{Build: "two", Percent: 10}))
	ramp, err := two.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "one two 10", fmt.Sprint(ramp.Current, " ", ramp.Ramping, " ", ramp.Percent))
	k.promote(two, "two")
	k.start("a")
	stop()
	again, _ := k.worker("one", config.VersioningAuto)
	k.routed(again, "two")
	require.Equal(t, "two", k.ends("a"))

	_, err = k.c.WorkerDeploymentClient().GetHandle("coachline").SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: "one"})
	require.Error(t, err, "only a promotion moves the tasks")
	require.NoError(t, two.Promote(t.Context(), rollout.Promotion{Build: "gone", IsForced: true}))
	require.ErrorContains(t, two.Check(t.Context()), `no worker of build "gone" runs`)
}

// TestNoWorkerIsTold: an installation without workers says so.
func TestNoWorkerIsTold(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	d := rollout.Deployment{Client: k.c, Namespace: client.DefaultNamespace, Name: "coachline", Queue: testQueue}
	require.ErrorContains(t, d.Check(t.Context()), "no worker runs")
}

// TestWorkersAreListed: a worker beside another of its process is known with the next
// report, and one that stops is not any longer, also while it finishes what it does.
func TestWorkersAreListed(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	one, _ := k.worker("one", config.VersioningAuto)
	busy := sdk.New(k.c, testQueue, sdk.Options{
		DeploymentOptions: deployment{Deployment: one.Deployment, mode: config.VersioningAuto, build: "two"}.deploymentOptions(),
		WorkerStopTimeout: limit,
	})
	runs := func() map[string]int {
		workers, err := one.Workers(t.Context())
		require.NoError(t, err)
		return workers
	}
	began, done := make(chan struct{}), make(chan struct{})
	busy.RegisterActivityWithOptions(func() error { close(began); <-done; return nil }, activity.RegisterOptions{Name: "Linger"})
	require.NoError(t, busy.Start())
	require.Eventually(t, func() bool { return maps.Equal(map[string]int{"one": 1, "two": 1}, runs()) }, limit, 50*time.Millisecond)

	k.promote(one, "two")
	_, err := k.c.ExecuteActivity(t.Context(), client.StartActivityOptions{ID: "a", TaskQueue: testQueue, StartToCloseTimeout: limit}, "Linger")
	require.NoError(t, err)
	<-began
	stopped := make(chan struct{})
	go func() { busy.Stop(); close(stopped) }()
	require.Eventually(t, func() bool {
		list, err := k.c.WorkflowService().ListWorkers(t.Context(), &workflowservice.ListWorkersRequest{Namespace: client.DefaultNamespace, Query: `WorkerStatus = "ShuttingDown"`})
		return err == nil && len(list.GetWorkers()) == 1
	}, limit, 50*time.Millisecond, "it reports while it finishes")
	require.Equal(t, map[string]int{"one": 1}, runs())
	require.ErrorContains(t, one.Check(t.Context()), `no worker of build "two" runs`)
	close(done)
	<-stopped
}

// TestPinnedMovesBetweenRuns: a run stays on its build; an operator makes the
// next one current, and the next run begins there.
func TestPinnedMovesBetweenRuns(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	one, _ := k.worker("one", config.VersioningPinned)
	k.routed(one, "one")
	k.start("stays")
	k.start("moves")
	two, _ := k.worker("two", config.VersioningPinned)
	k.routed(two, "one")
	k.promote(two, "two")
	k.say("moves", "next")
	k.did("moves", 2)
	require.Equal(t, "two", k.ends("moves"))
	require.Equal(t, "one", k.ends("stays"))
}
