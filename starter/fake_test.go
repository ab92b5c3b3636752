package starter

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"

	"coachline/models/wire"
)

// fakeTemporal records the calls of Temporal. hook, when set, decides the outcome of
// a call named "start", "signal", "update:<name>" or "query:<name>".
type fakeTemporal struct {
	mocks.Client
	mu      sync.Mutex
	calls   []string
	starts  []client.StartWorkflowOptions
	states  []wire.ParticipantState
	signals []wire.InboxItem
	// signalled are the workflows of the signals.
	signalled []string
	updates   []client.UpdateWorkflowOptions
	// activities are the ones that no workflow waits for.
	activities []client.StartActivityOptions
	hook       func(ctx context.Context, call string) error
	// rejected is what the handle of an update returns.
	rejected  error
	status    wire.StatusView
	schedules []wire.Schedule
}

func (e *fakeTemporal) record(ctx context.Context, call string) error {
	e.mu.Lock()
	e.calls = append(e.calls, call)
	hook := e.hook
	e.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

func (e *fakeTemporal) seen() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

func (e *fakeTemporal) fail(hook func(context.Context, string) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hook = hook
}

func (e *fakeTemporal) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.mu.Lock()
	e.starts, e.states = append(e.starts, o), append(e.states, args[0].(wire.ParticipantState))
	e.mu.Unlock()
	return nil, e.record(ctx, "start")
}

func (e *fakeTemporal) SignalWithStartWorkflow(ctx context.Context, id, _ string, arg any, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.mu.Lock()
	e.starts, e.states = append(e.starts, o), append(e.states, args[0].(wire.ParticipantState))
	e.signals, e.signalled = append(e.signals, arg.(wire.InboxItem)), append(e.signalled, id)
	e.mu.Unlock()
	return nil, e.record(ctx, "signal")
}

func (e *fakeTemporal) ExecuteActivity(ctx context.Context, o client.StartActivityOptions, name any, _ ...any) (client.ActivityHandle, error) {
	e.mu.Lock()
	e.activities = append(e.activities, o)
	e.mu.Unlock()
	return nil, e.record(ctx, "activity:"+name.(string))
}

func (e *fakeTemporal) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	e.mu.Lock()
	e.updates = append(e.updates, o)
	e.mu.Unlock()
	if err := e.record(ctx, "update:"+o.UpdateName); err != nil {
		return nil, err
	}
	return &updateHandle{view: e.status, err: e.rejected}, nil
}

type updateHandle struct {
	mocks.WorkflowUpdateHandle
	view wire.StatusView
	err  error
}

func (h *updateHandle) Get(_ context.Context, result any) error {
	if h.err == nil {
		*result.(*wire.StatusView) = h.view
	}
	return h.err
}

func (e *fakeTemporal) QueryWorkflow(ctx context.Context, _, _, name string, _ ...any) (converter.EncodedValue, error) {
	if err := e.record(ctx, "query:"+name); err != nil {
		return nil, err
	}
	var value any = e.status
	if name == wire.QuerySchedules {
		value = e.schedules
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(value)
	return client.NewValue(payloads), err
}

// ListWorkflow finds no terminated workflow. It is not recorded, because the
// relay asks by itself.
func (e *fakeTemporal) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

func (e *fakeTemporal) CheckHealth(ctx context.Context, _ *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return nil, e.record(ctx, "health")
}

// DescribeWorkflowExecution knows no workflow.
func (e *fakeTemporal) DescribeWorkflowExecution(ctx context.Context, _, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return nil, errors.Join(e.record(ctx, "describe"), serviceerror.NewNotFound("no workflow"))
}
