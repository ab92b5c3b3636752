package workflows_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
	"coachline/workflows/testdata/unordered"
)

// TestWorkflowChecksFail: what make test runs over workflow code fails for
// code that must not be merged.
func TestWorkflowChecksFail(t *testing.T) {
	t.Parallel()
	t.Run("workflowcheck finds a map range", func(t *testing.T) {
		t.Parallel()
		tool, err := filepath.Abs(filepath.Join("..", ".bin", "workflowcheck"))
		require.NoError(t, err)
		if _, err := os.Stat(tool); err != nil {
			require.Empty(t, os.Getenv("CI"), "CI has the tool, or this check is not made")
			t.Skip("make workflowcheck installs the tool")
		}
		check := exec.CommandContext(t.Context(), tool, "./testdata/unordered")
		said, err := check.CombinedOutput()
		require.Error(t, err, "%s", said)
		require.Contains(t, string(said), "iterates over map")
	})
	t.Run("replay finds changed commands", func(t *testing.T) {
		t.Parallel()
		replayer := worker.NewWorkflowReplayer()
		changed := func(ctx workflow.Context, _ wire.ParticipantState) error {
			return unordered.Participant(ctx, map[string]string{"CallModel": ""})
		}
		replayer.RegisterWorkflowWithOptions(changed, workflow.RegisterOptions{Name: wire.WorkflowType})
		for _, f := range recorded(t) {
			require.Error(t, replayer.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), f.history), f.path)
		}
	})
}
