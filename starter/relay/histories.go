package relay

import (
	"context"
	"fmt"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/models"
)

// Execution is one run of a workflow.
type Execution struct {
	WorkflowID, RunID string
	Running           bool
}

// Histories ends and deletes what Temporal keeps of a participant. What is gone
// counts as done.
type Histories interface {
	IsRunning(ctx context.Context, workflowID string) (bool, error)
	// Executions lists the runs of a participant's workflow and subagents.
	Executions(ctx context.Context, participantID string) ([]Execution, error)
	Terminate(ctx context.Context, run Execution) error
	Delete(ctx context.Context, run Execution) error
}

// NewHistories returns the histories of a namespace.
func NewHistories(c client.Client, namespace string) Histories {
	return &histories{client: c, namespace: namespace}
}

type histories struct {
	client    client.Client
	namespace string
}

// IsRunning implements Histories.
func (h *histories) IsRunning(ctx context.Context, workflowID string) (bool, error) {
	info, err := h.describe(ctx, workflowID)
	return info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

// describe returns the newest run of a workflow; nil where there is none.
func (h *histories) describe(ctx context.Context, workflowID string) (*workflow.WorkflowExecutionInfo, error) {
	described, err := h.client.DescribeWorkflowExecution(ctx, workflowID, "")
	if isGone(err) {
		return nil, nil //nolint:nilnil // an absent workflow is not an error
	}
	if err != nil {
		return nil, fmt.Errorf("describing the workflow: %w", err)
	}
	return described.GetWorkflowExecutionInfo(), nil
}

// Executions implements Histories. The newest run of the workflow is asked for by
// its id, because visibility may lag behind.
func (h *histories) Executions(ctx context.Context, participantID string) ([]Execution, error) {
	workflowID := models.WorkflowID(participantID)
	newest, err := h.describe(ctx, workflowID)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	var runs []Execution
	add := func(info *workflow.WorkflowExecutionInfo) {
		run := info.GetExecution()
		if info == nil || found[run.GetRunId()] {
			return
		}
		found[run.GetRunId()] = true
		runs = append(runs, Execution{
			WorkflowID: run.GetWorkflowId(), RunID: run.GetRunId(),
			Running: info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		})
	}
	add(newest)
	query := fmt.Sprintf("WorkflowId = '%s' OR WorkflowId STARTS_WITH '%s'", workflowID, models.SubagentWorkflowID(participantID)+"-t")
	var token []byte
	for {
		page, err := h.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: closedPage, NextPageToken: token})
		if err != nil {
			return nil, fmt.Errorf("listing runs: %w", err)
		}
		for _, info := range page.GetExecutions() {
			add(info)
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return runs, nil
		}
	}
}

// Terminate implements Histories.
func (h *histories) Terminate(ctx context.Context, run Execution) error {
	err := h.client.TerminateWorkflow(ctx, run.WorkflowID, run.RunID, "the participant is erased")
	if err != nil && !isGone(err) {
		return fmt.Errorf("terminating %s: %w", run.WorkflowID, err)
	}
	return nil
}

// Delete implements Histories.
func (h *histories) Delete(ctx context.Context, run Execution) error {
	_, err := h.client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: h.namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: run.WorkflowID, RunId: run.RunID},
	})
	if err != nil && !isGone(err) {
		return fmt.Errorf("deleting %s: %w", run.WorkflowID, err)
	}
	return nil
}
