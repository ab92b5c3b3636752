package starter

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"coachline/internal/metrics"
	"coachline/models"
)

// countedRows is the store as the front door uses it; what is worth a number is
// counted once it is stored.
type countedRows struct {
	FrontStore
	metrics *metrics.Metrics
}

// AcceptInbound counts the text and what it meant for consent.
func (r countedRows) AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	accepted, err := r.FrontStore.AcceptInbound(ctx, in)
	if err == nil {
		r.metrics.Text(accepted)
	}
	return accepted, err
}

// AcceptStatus counts the carrier's word that somebody opted out.
func (r countedRows) AcceptStatus(ctx context.Context, report models.StatusCallback) (bool, error) {
	found, err := r.FrontStore.AcceptStatus(ctx, report)
	if found && report.Class == models.CarrierConsent {
		r.metrics.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
	return found, err
}

// countedEngine counts what participants' workflows are told.
type countedEngine struct {
	client.Client
	metrics *metrics.Metrics
}

// ExecuteWorkflow counts the start of a life.
func (e countedEngine) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	run, err := e.Client.ExecuteWorkflow(ctx, options, workflow, args...)
	e.metrics.WorkflowCall(metrics.CallStart, outcome(err))
	return run, err
}

// SignalWithStartWorkflow counts a text that was told.
//
//nolint:revive // argument-limit: the Temporal client's own signature
func (e countedEngine) SignalWithStartWorkflow(ctx context.Context, workflowID, signalName string, signalArg any,
	options client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	run, err := e.Client.SignalWithStartWorkflow(ctx, workflowID, signalName, signalArg, options, workflow, args...)
	e.metrics.WorkflowCall(metrics.CallSignal, outcome(err))
	return run, err
}

// UpdateWorkflow counts a command.
func (e countedEngine) UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	handle, err := e.Client.UpdateWorkflow(ctx, options)
	e.metrics.WorkflowCall(metrics.CallUpdate, outcome(err))
	return handle, err
}

// outcome: a start that finds the life running has told it what there is to tell.
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
