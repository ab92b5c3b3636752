package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"coachline/models"
	"coachline/models/wire"
)

// cancels asks Temporal to cancel the participant's workflow, as "Request
// Cancellation" of its UI does, and waits for the notice and the end.
func (p *person) cancels() {
	p.t.Helper()
	c := dialTemporal(p.t, p.r)
	require.NoError(p.t, c.CancelWorkflow(p.t.Context(), models.WorkflowID(p.id), ""))
	p.next(soon)
	require.Eventually(p.t, func() bool {
		got, err := c.DescribeWorkflowExecution(p.t.Context(), models.WorkflowID(p.id), "")
		return err == nil && got.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}, soon, 100*time.Millisecond)
	require.Equal(p.t, wire.StatusWithdrawn, p.asks().Status)
	require.Empty(p.t, p.asks().Due)
	require.Len(p.t, p.received(), p.seen, "one notice")
	status, _ := send(p.t, http.MethodDelete, p.api(""), nil)
	require.Equal(p.t, http.StatusNotFound, status, "removed")
}

// TestTerminateAndCancel: a participant whose workflow is terminated comes back
// by a sweep, with what was due; one whose cancellation is requested leaves.
func TestTerminateAndCancel(t *testing.T) {
	t.Parallel()
	p := &person{t: t, number: ada, r: launchIn(t, calm, "--ephemeral")}
	require.Equal(t, http.StatusCreated, p.enroll("Ada", "UTC"))
	p.next(soon)
	p.says("hello there")
	c := dialTemporal(t, p.r)
	before, err := c.DescribeWorkflowExecution(t.Context(), models.WorkflowID(p.id), "")
	require.NoError(t, err)
	require.NoError(t, c.TerminateWorkflow(t.Context(), models.WorkflowID(p.id), "", "by hand"))
	require.Eventually(t, func() bool {
		got, err := c.DescribeWorkflowExecution(t.Context(), models.WorkflowID(p.id), "")
		return err == nil && got.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING &&
			got.GetWorkflowExecutionInfo().GetExecution().GetRunId() != before.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	}, time.Minute, 100*time.Millisecond, "back within a minute, without a text")
	require.Len(t, p.received(), p.seen, "and nothing was said")
	p.says("talk later in 30 minutes please")
	require.Len(t, p.asks().Due, 1)
	p.cancels()
}
