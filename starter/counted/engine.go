// Package counted measures the calls of the starter to Temporal.
package counted

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"coachline/internal/metrics"
)

// Engine is the Temporal client; it counts what participants' workflows are
// told.
type Engine struct {
	client.Client
	Metrics *metrics.Metrics
}

// ExecuteWorkflow counts the start of a workflow.
func (e Engine) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	run, err := e.Client.ExecuteWorkflow(ctx, options, workflow, args...)
	e.Metrics.WorkflowCall(metrics.CallStart, outcome(err))
	return run, err
}

// SignalWithStartWorkflow counts a text that was told.
//
//nolint:revive // argument-limit: the Temporal client's own signature
func (e Engine) SignalWithStartWorkflow(ctx context.Context, workflowID, signalName string, signalArg any,
	options client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	run, err := e.Client.SignalWithStartWorkflow(ctx, workflowID, signalName, signalArg, options, workflow, args...)
	e.Metrics.WorkflowCall(metrics.CallSignal, outcome(err))
	return run, err
}

// UpdateWorkflow counts a command.
func (e Engine) UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	handle, err := e.Client.UpdateWorkflow(ctx, options)
	e.Metrics.WorkflowCall(metrics.CallUpdate, outcome(err))
	return handle, err
}

// outcome: a start that finds the workflow running has told it what there is to
// tell.
func outcome(err error) metrics.Outcome {
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	var gone *serviceerror.NotFound
	switch {
	case err == nil, errors.As(err, &already):
		return metrics.OutcomeTold
	case errors.As(err, &gone):
		return metrics.OutcomeClosed
	}
	return metrics.OutcomeFailed
}
