package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
	"coachline/internal/cli"
	"coachline/internal/config"
	"coachline/models/wire"
	"coachline/worker"
)

// workerProcess as the only argument makes the test program a worker in a
// process of its own, which can be killed.
const workerProcess = "worker-process"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerProcess {
		os.Exit(workAlone())
	}
	// Most tests wait for timers rather than for a processor.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testscript.Main(browsed{m}, map[string]func(){"coachline": runCoachline})
}

// browsed runs the tests with their browser.
type browsed struct{ *testing.M }

func (b browsed) Run() int { return browsertest.Run(b.M) }

// runCoachline is the program's main for the commands of operators.
func runCoachline() {
	os.Exit(cli.Run(context.Background(), cli.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}, os.Args[1:]))
}

func workAlone() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load(os.Environ(), nil)
	if err == nil {
		err = worker.Run(ctx, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// spawn starts a worker process for a running dev and returns what kills it; t
// ends it at the latest.
func (r *running) spawn(t *testing.T, environ ...string) (kill func()) {
	t.Helper()
	file, _, _ := strings.Cut(r.table["Environment"], " (")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, value, _ := strings.Cut(line, "=")
		environ = append(environ, name+"="+strings.Trim(value, "'"))
	}
	program, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(context.WithoutCancel(t.Context()), program, workerProcess)
	child.Env, child.Stderr = environ, r.log
	require.NoError(t, child.Start())
	dead := false
	kill = func() {
		if dead {
			return
		}
		dead = true
		require.NoError(t, child.Process.Kill())
		require.Error(t, child.Wait(), "it was killed")
	}
	t.Cleanup(kill)
	return kill
}

// TestKilledWorker kills the worker's process where a turn depends on it.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	// sticky and beat are how long the server waits for the dead: the tasks of
	// a cached workflow, the heartbeat of an activity.
	const sticky, beat, slack = 10 * time.Second, 12 * time.Second, 8 * time.Second
	settings := []string{"COACH_DEBOUNCE=0", "COACH_MEMORY_STEP=off"}
	r := launchIn(t, settings, "--ephemeral", "--no-worker")
	p := &person{t: t, r: r, number: ada}
	kill := r.spawn(t, settings...)
	require.Equal(t, http.StatusCreated, p.enroll("", "UTC"))
	p.next(soon)
	tape := openTape(t, r)

	t.Run("2 before the task of a text", func(t *testing.T) {
		kill()
		p.text("hello")
		kill = r.spawn(p.t, settings...)
		began := time.Now()
		p.next(soon)
		require.Less(t, time.Since(began), sticky+slack)
	})
	t.Run("3 during a model call", func(t *testing.T) {
		faults := strings.TrimSuffix(r.table["Phones"], "/") + "/faults"
		status, body := send(t, http.MethodPost, faults, map[string]any{"target": "model", "kind": "hang", "count": 1})
		require.Less(t, status, 300, body)
		p.text("are you there?")
		require.Eventually(t, func() bool {
			var list struct {
				Fired []struct{ Target string } `json:"fired"`
			}
			return getJSON(t, faults, &list) == http.StatusOK && len(list.Fired) == 1
		}, soon, 20*time.Millisecond, "the model hangs")
		kill()
		began := time.Now()
		kill = r.spawn(p.t, settings...)
		p.next(soon)
		took := time.Since(began)
		t.Logf("answered %s after the kill", took.Round(time.Millisecond))
		require.Less(t, took, beat+slack)
	})
	require.Eventually(t, func() bool { return tape.quiet(p.id) }, soon, 100*time.Millisecond)
	require.Len(t, p.received(), p.seen, "one reply a text")
	require.Equal(t, 3, p.asks().Turns)
	calls := 0
	for _, event := range tape.history(p.id, "") {
		if started := event.GetActivityTaskStartedEventAttributes(); started != nil {
			calls++
			require.LessOrEqual(t, started.GetAttempt(), int32(2))
		}
	}
	require.GreaterOrEqual(t, calls, 6)
	require.Equal(t, wire.StatusActive, p.asks().Status)
	kill()
}
