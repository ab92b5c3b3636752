package worker

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/dev/temporal"
	"coachline/internal/config"
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
	c, err := client.Dial(client.Options{HostPort: e.Address(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return cluster{t: t, c: c}
}

// worker starts a build and returns what stops it for good.
func (k cluster) worker(build string, mode config.Versioning) (deployment, func()) {
	k.t.Helper()
	d := deployment{
		client: k.c, mode: mode, build: build, queue: testQueue, logger: slog.New(slog.DiscardHandler),
		interval: 200 * time.Millisecond, gone: time.Minute,
	}
	require.NoError(k.t, d.checkServer(k.t.Context()))
	w := sdk.New(k.c, testQueue, sdk.Options{DeploymentOptions: d.deploymentOptions()})
	w.RegisterWorkflowWithOptions(endWithBuild(build), workflow.RegisterOptions{Name: "EndWithBuild"})
	require.NoError(k.t, w.Start())
	ctx, cancel := context.WithCancel(context.Background())
	var keeping sync.WaitGroup
	keeping.Go(func() { _ = d.keepRoute(ctx) }) // Refusals have a test of their own.
	stop := sync.OnceFunc(func() {
		cancel()
		keeping.Wait()
		w.Stop()
	})
	k.t.Cleanup(stop)
	return d, stop
}

func (k cluster) routed(d deployment, to string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		now, err := d.currentRoute(k.t.Context())
		return err == nil && now.build == to
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
	require.NoError(k.t, k.c.GetWorkflow(ctx, id, "").Get(ctx, &build), "nobody took the task")
	return build
}

// TestRebuiltNeedsNobody is one machine: every build is gone before the next
// one starts, and the setting may change with it.
func TestRebuiltNeedsNobody(t *testing.T) {
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
		{"three", config.VersioningOff},
		{"three", config.VersioningPinned}, // the first pinned build waits for no other build
	} {
		older := string(rune('a' + i))
		d, stop := k.worker(step.build, step.mode)
		k.routed(d, d.ownRoute())
		if i > 0 {
			require.Equal(t, step.build, k.ends(older), "began on the build before")
		}
		k.start(string(rune('a' + i + 1)))
		stop()
	}
}

// TestSurvivorTakesOver: the build that started last leaves first.
func TestSurvivorTakesOver(t *testing.T) {
	t.Parallel()
	k := newCluster(t)
	one, _ := k.worker("one", config.VersioningAuto)
	k.routed(one, "one")
	two, stop := k.worker("two", config.VersioningAuto)
	k.routed(two, "two")
	k.start("a")
	polls, err := one.newestPolls(t.Context())
	require.NoError(t, err)
	require.False(t, one.isGone(polls, "two", time.Now()))
	stop()
	one.gone = -time.Hour // as if its last poll were long ago
	require.NoError(t, one.updateRoute(t.Context(), false, false))
	k.routed(one, "one")
	require.Equal(t, "one", k.ends("a"))
}

// TestBuildIsGone: a build is gone when it is silent and this worker is not. A
// server that takes no polls for a while moves no task to an old build.
func TestBuildIsGone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	d := deployment{mode: config.VersioningAuto, build: "old", gone: 2 * time.Minute}
	for name, tt := range map[string]struct {
		polls map[string]time.Time
		gone  bool
	}{
		"both poll":                 {map[string]time.Time{"old": ago(time.Minute), "new": ago(30 * time.Second)}, false},
		"silent":                    {map[string]time.Time{"old": ago(10 * time.Second), "new": ago(3 * time.Minute)}, true},
		"forgotten by the server":   {map[string]time.Time{"old": ago(10 * time.Second)}, true},
		"silent, but not for long":  {map[string]time.Time{"old": ago(10 * time.Second), "new": ago(2 * time.Minute)}, false},
		"the server hears of none":  {map[string]time.Time{"old": ago(4 * time.Minute), "new": ago(5 * time.Minute)}, false},
		"this worker is not listed": {map[string]time.Time{"new": ago(3 * time.Minute)}, true},
		"this worker is new":        {map[string]time.Time{"new": ago(time.Minute)}, false},
		"workers without versions":  {map[string]time.Time{"old": ago(0), "": ago(3 * time.Minute)}, true},
	} {
		build := "new"
		if _, found := tt.polls[""]; found {
			build = ""
		}
		require.Equal(t, tt.gone, d.isGone(tt.polls, build, now), name)
	}
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
	require.Eventually(t, func() bool {
		polls, err := two.newestPolls(t.Context())
		return err == nil && !polls["two"].IsZero()
	}, limit, 50*time.Millisecond)
	now, err := two.currentRoute(t.Context())
	require.NoError(t, err)
	require.Equal(t, "one", now.build, "a pinned build waits for its operator")

	require.Eventually(t, func() bool {
		_, err := k.c.WorkerDeploymentClient().GetHandle(deploymentName).
			SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: "two"})
		return err == nil
	}, limit, 100*time.Millisecond)
	k.routed(two, "two")
	k.say("moves", "next")
	k.did("moves", 2)
	require.Equal(t, "two", k.ends("moves"))
	require.Equal(t, "one", k.ends("stays"))
}

func TestKeepEndsWhenItMayNotRoute(t *testing.T) {
	t.Parallel()
	require.True(t, isRefused(serviceerror.NewPermissionDenied("no", "")))
	require.True(t, isRefused(serviceerror.NewUnimplemented("what?")))
	require.False(t, isRefused(serviceerror.NewFailedPrecondition("not yet")))
	require.False(t, isRefused(nil))
}
