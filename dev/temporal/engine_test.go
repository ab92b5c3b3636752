package temporal_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdktemporal "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/dev/temporal"
)

const queue = "engine-test"

func start(t testing.TB, cfg temporal.Config) *temporal.Engine {
	t.Helper()
	e, err := temporal.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	return e
}

func dial(t testing.TB, e *temporal.Engine) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: e.Address()})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// Greeting waits for a signal and returns it.
func Greeting(ctx workflow.Context) (string, error) {
	var name string
	workflow.GetSignalChannel(ctx, "name").Receive(ctx, &name)
	return "hello " + name, nil
}

func work(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(Greeting)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

func TestEngineInMemory(t *testing.T) {
	e := start(t, temporal.Config{})
	require.True(t, strings.HasPrefix(e.Address(), "127.0.0.1:"), e.Address())
	require.True(t, strings.HasPrefix(e.UIAddress(), "127.0.0.1:"), e.UIAddress())

	t.Run("runs a workflow with its search attributes", func(t *testing.T) {
		c := dial(t, e)
		work(t, c)
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: "greeting", TaskQueue: queue,
			TypedSearchAttributes: sdktemporal.NewSearchAttributes(
				sdktemporal.NewSearchAttributeKeyKeyword("CoachMode").ValueSet("INTAKE"),
				sdktemporal.NewSearchAttributeKeyTime("CoachNextDue").ValueSet(time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)),
			),
		}, Greeting)
		require.NoError(t, err)
		require.NoError(t, c.SignalWorkflow(t.Context(), "greeting", "", "name", "you"))
		var got string
		require.NoError(t, run.Get(t.Context(), &got))
		require.Equal(t, "hello you", got)
		require.Eventually(t, func() bool {
			n, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
				Namespace: "default", Query: `CoachMode = "INTAKE" AND CoachNextDue < "2026-11-25T00:00:00Z"`,
			})
			return err == nil && n.Count == 1
		}, 10*time.Second, 20*time.Millisecond)
	})

	t.Run("keeps closed workflows for a year", func(t *testing.T) {
		c := dial(t, e)
		ns, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
		require.NoError(t, err)
		require.Equal(t, 365*24*time.Hour, ns.Config.WorkflowExecutionRetentionTtl.AsDuration())
	})

	t.Run("the UI answers and reaches the server", func(t *testing.T) {
		for _, path := range []string{"/", "/api/v1/namespaces/default"} {
			resp, err := http.Get("http://" + e.UIAddress() + path)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusOK, resp.StatusCode, path)
		}
	})
}

func TestEnginesRunSideBySide(t *testing.T) {
	one := start(t, temporal.Config{UIPort: temporal.NoUI})
	two := start(t, temporal.Config{UIPort: temporal.NoUI})
	require.NotEqual(t, one.Address(), two.Address())
	require.Empty(t, one.UIAddress())

	_, err := dial(t, one).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "only-in-one", TaskQueue: queue}, Greeting)
	require.NoError(t, err)
	_, err = dial(t, two).DescribeWorkflowExecution(t.Context(), "only-in-one", "")
	require.Error(t, err)
}

func TestEngineKeepsItsFolder(t *testing.T) {
	// The name holds what is special in SQLite's file: URI.
	dir := filepath.Join(t.TempDir(), "a b#c?d%20e")
	require.NoError(t, os.Mkdir(dir, 0o700))
	cfg := temporal.Config{Dir: dir, Sync: "full", UIPort: temporal.NoUI}

	first := start(t, cfg)
	_, err := dial(t, first).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "kept", TaskQueue: queue}, Greeting)
	require.NoError(t, err)
	first.Stop()
	stamp, err := os.ReadFile(filepath.Join(dir, "temporal-version"))
	require.NoError(t, err)
	require.Equal(t, temporal.ServerVersion+"\n", string(stamp))
	require.NoFileExists(t, filepath.Join(dir, "temporal.db.new"))

	c := dial(t, start(t, cfg))
	work(t, c)
	require.NoError(t, c.SignalWorkflow(t.Context(), "kept", "", "name", "again"))
	var got string
	require.NoError(t, c.GetWorkflow(t.Context(), "kept", "").Get(t.Context(), &got))
	require.Equal(t, "hello again", got)
}

func TestEngineAddsMissingAttributes(t *testing.T) {
	dir := t.TempDir()
	cfg := temporal.Config{Dir: dir, UIPort: temporal.NoUI}
	first := start(t, cfg)
	_, err := dial(t, first).OperatorService().RemoveSearchAttributes(t.Context(), &operatorservice.RemoveSearchAttributesRequest{
		Namespace: "default", SearchAttributes: []string{"CoachStatus"},
	})
	require.NoError(t, err)
	first.Stop()

	list, err := dial(t, start(t, cfg)).OperatorService().ListSearchAttributes(t.Context(),
		&operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	require.Equal(t, enumspb.INDEXED_VALUE_TYPE_KEYWORD, list.CustomAttributes["CoachStatus"])
	require.Equal(t, enumspb.INDEXED_VALUE_TYPE_DATETIME, list.CustomAttributes["CoachEnrolledAt"])
}

func TestEngineRefusesAnotherVersionsFolder(t *testing.T) {
	tests := []struct {
		name  string
		stamp string
		want  string
	}{
		{"older server", "1.20.0\n", "made by Temporal server 1.20.0"},
		{"no stamp", "", "an unknown Temporal server version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "temporal.db")
			require.NoError(t, os.WriteFile(file, []byte("not ours"), 0o600))
			if tt.stamp != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal-version"), []byte(tt.stamp), 0o600))
			}
			_, err := temporal.Start(t.Context(), temporal.Config{Dir: dir, UIPort: temporal.NoUI})
			var refused *temporal.VersionError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, temporal.ServerVersion)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, "not ours", string(text))
		})
	}
}

func TestEngineRefusesBadSettings(t *testing.T) {
	e := start(t, temporal.Config{UIPort: temporal.NoUI})
	_, port, _ := strings.Cut(e.Address(), ":")
	taken := 0
	for _, digit := range port {
		taken = taken*10 + int(digit-'0')
	}
	tests := []struct {
		name string
		cfg  temporal.Config
		want string
	}{
		{"sync mode", temporal.Config{Sync: "off"}, "want normal or full"},
		{"taken port", temporal.Config{Port: taken}, "is taken"},
		{"taken UI port", temporal.Config{UIPort: taken}, "is taken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := temporal.Start(context.Background(), tt.cfg)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
