package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/models/wire"
)

var anyPorts = []string{"--http", "127.0.0.1:0", "--temporal-port", "0", "--ui-port", "0", "--sim-port", "0"}

// running is a started dev, as a user sees it: its output and its end.
type running struct {
	table map[string]string
	log   *lockedBuffer
	stop  func() error
}

// lockedBuffer takes log lines of many goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// launch starts dev and returns when it says that it is ready.
func launch(t *testing.T, args ...string) *running {
	t.Helper()
	return launchIn(t, nil, args...)
}

// launchIn is launch with settings in the environment.
func launchIn(t *testing.T, environ []string, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	r := &running{table: map[string]string{}, log: &lockedBuffer{}}
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, append(args, anyPorts...), environ, streams{out: in, err: r.log})
		ended <- err
		_ = in.CloseWithError(err) // A pipe's own Close cannot fail.
	}()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, r.stop(), r.log) })

	row := regexp.MustCompile(`^  (\S+(?: \S+)?) {2,}(.+)$`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "ready") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // Nothing after it is of interest.
			return r
		}
		if m := row.FindStringSubmatch(lines.Text()); m != nil {
			r.table[m[1]] = m[2]
		}
	}
	require.FailNow(t, "dev ended before it was ready", "%v\n%s", lines.Err(), r.log)
	return nil
}

func TestDevStartsAndStops(t *testing.T) {
	r := launch(t, "--ephemeral")
	for name, address := range map[string]string{
		"UI":     r.table["Temporal UI"],
		"API":    r.table["API"] + "/readyz",
		"phones": r.table["Phones"],
	} {
		resp, err := http.Get(address)
		require.NoError(t, err, name)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, name)
	}
	require.Contains(t, r.table["Model"], "script")
	require.Contains(t, r.table["Carrier"], "simulator")

	began := time.Now()
	require.NoError(t, r.stop())
	require.Less(t, time.Since(began), 15*time.Second)
	folder, _, _ := strings.Cut(r.table["Data"], " ")
	require.NoDirExists(t, folder)
	_, err := net.Dial("tcp", strings.TrimPrefix(r.table["API"], "http://"))
	require.Error(t, err, "the address is free again")
}

func TestDevGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := launch(t, "--data", data, "--no-worker")
	c := dialTemporal(t, first)
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "kept", TaskQueue: "unused"}, "Unknown")
	require.NoError(t, err)
	key, err := os.ReadFile(filepath.Join(data, keyFile))
	require.NoError(t, err)

	t.Run("a second dev on the same folder is refused", func(t *testing.T) {
		err := run(t.Context(), append([]string{"--data", data}, anyPorts...), nil, streams{out: io.Discard, err: io.Discard})
		require.ErrorContains(t, err, "in use by another dev")
	})
	require.NoError(t, first.stop())

	second := launch(t, "--data", data, "--no-worker")
	c = dialTemporal(t, second)
	got, err := c.DescribeWorkflowExecution(t.Context(), "kept", "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, got.WorkflowExecutionInfo.Status)
	again, err := os.ReadFile(filepath.Join(data, keyFile))
	require.NoError(t, err)
	require.Equal(t, key, again)
	info, err := os.Stat(filepath.Join(data, keyFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func dialTemporal(t *testing.T, r *running) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: r.table["Temporal gRPC"]})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func countParticipants() *workflowservice.CountWorkflowExecutionsRequest {
	return &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: "default", Query: "WorkflowType = '" + wire.WorkflowType + "'",
	}
}
