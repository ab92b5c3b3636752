package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"coachline/models"
)

// found asks Temporal's visibility for participants, as its UI does.
func (p *person) found(query string) []string {
	p.t.Helper()
	c := dialTemporal(p.t, p.r)
	page, err := c.ListWorkflow(p.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
	require.NoError(p.t, err, query)
	ids := []string{}
	for _, info := range page.GetExecutions() {
		ids = append(ids, info.GetExecution().GetWorkflowId())
	}
	return ids
}

// TestAttentionIsFilteredInTheUI: a crisis, a refusing model and an unreachable
// number are found by queries of the Temporal UI, until an operator has looked,
// also after a termination.
func TestAttentionIsFilteredInTheUI(t *testing.T) {
	t.Parallel()
	p := &person{t: t, number: ada, r: launchIn(t, calm, "--ephemeral")}
	require.Equal(t, http.StatusCreated, p.enroll("Ada", "UTC"))
	p.next(soon)
	becomes := func(query string, want ...string) {
		t.Helper()
		if want == nil {
			want = []string{}
		}
		require.Eventually(t, func() bool { return fmt.Sprint(p.found(query)) == fmt.Sprint(want) }, 2*soon, 200*time.Millisecond, query)
	}
	id := models.WorkflowID(p.id)
	require.Empty(t, p.found("CoachAttention IS NOT NULL"))

	p.says("I want to kill myself")
	becomes("CoachAttention = 'crisis'", id)
	c := dialTemporal(t, p.r)
	require.NoError(t, c.TerminateWorkflow(t.Context(), id, "", "by hand"))
	require.Eventually(t, func() bool {
		return fmt.Sprint(p.found("CoachAttention = 'crisis' AND ExecutionStatus = 'Running'")) == fmt.Sprint([]string{id})
	}, time.Minute, 200*time.Millisecond, "started again, and shown again")

	becomes("CoachAttention = 'crisis' AND ExecutionStatus = 'Running' AND CoachStatus = 'active'", id)
	status, answer := send(t, http.MethodPost, p.api("/attention"), map[string]any{"clear": true})
	require.Equal(t, http.StatusOK, status, answer)
	becomes("CoachAttention = 'crisis' AND ExecutionStatus = 'Running'")

	status, answer = send(t, http.MethodPost, strings.TrimSuffix(p.r.table["Phones"], "/")+"/faults",
		map[string]any{"target": "carrier", "kind": "http", "status": 400, "code": 21614, "to": p.number})
	require.Equal(t, http.StatusCreated, status, answer)
	p.text("what time is it for me")
	becomes("CoachUnreachable = true AND CoachAttention = 'unreachable'", id)
	p.says("hello there")
	becomes("CoachUnreachable = true")
	becomes("CoachAttention IS NOT NULL AND ExecutionStatus = 'Running'")
}
