package rig

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The two workflows that load tools of the engine measure.
const (
	engineQueue  = "engine"
	echoType     = "Echo"
	signalType   = "Signal"
	engineSignal = "go on"
)

const echoLimit = 10 * time.Second

// echoActivity runs one activity that gives back what it was given.
func echoActivity(ctx workflow.Context, text string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: echoLimit})
	var back string
	err := workflow.ExecuteActivity(ctx, Echo, text).Get(ctx, &back)
	return back, err
}

// Echo gives back what it was given.
func Echo(_ context.Context, text string) (string, error) { return text, nil }

// waitForSignal ends with the first signal.
func waitForSignal(ctx workflow.Context) (string, error) {
	var text string
	workflow.GetSignalChannel(ctx, engineSignal).Receive(ctx, &text)
	return text, nil
}

// Engine is the server with a worker that does next to nothing.
type Engine struct {
	temporal client.Client
	worker   sdk.Worker
	number   string
}

// StartEngine runs a worker with the pollers of the other sides.
func (r *Rig) StartEngine(ctx context.Context) (*Engine, error) {
	e := &Engine{temporal: r.temporal, number: fmt.Sprint(time.Now().UnixNano())}
	e.worker = sdk.New(r.temporal, engineQueue, sdk.Options{
		WorkflowTaskPollerBehavior: sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: workflowPollers}),
		ActivityTaskPollerBehavior: sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: workflowPollers}),
		WorkerStopTimeout:          drainTimeout,
	})
	e.worker.RegisterWorkflowWithOptions(echoActivity, workflow.RegisterOptions{Name: echoType})
	e.worker.RegisterWorkflowWithOptions(waitForSignal, workflow.RegisterOptions{Name: signalType})
	e.worker.RegisterActivity(Echo)
	began := time.Now()
	var err error
	runLabelled(ctx, "bare", func(context.Context) { err = e.worker.Start() })
	if err != nil {
		return nil, fmt.Errorf("starting the engine's worker: %w", err)
	}
	if err := pollUntil(ctx, func(ctx context.Context) bool { return isPolled(ctx, r.temporal, engineQueue, began) }); err != nil {
		e.Stop()
		return nil, fmt.Errorf("waiting for the engine's worker: %w", err)
	}
	return e, nil
}

// Stop drains the worker.
func (e *Engine) Stop() { e.worker.Stop() }

// Echo is one workflow with one activity, from the call to its result.
func (e *Engine) Echo(ctx context.Context, n int) (time.Duration, error) {
	began := time.Now()
	run, err := e.temporal.ExecuteWorkflow(ctx, e.options(echoType, n), echoType, "hello")
	if err != nil {
		return 0, fmt.Errorf("starting an echo: %w", err)
	}
	return e.result(ctx, run, "hello", began)
}

// Signal is one workflow that waits for one signal, from the call to its
// result.
func (e *Engine) Signal(ctx context.Context, n int) (time.Duration, error) {
	began := time.Now()
	run, err := e.temporal.ExecuteWorkflow(ctx, e.options(signalType, n), signalType)
	if err != nil {
		return 0, fmt.Errorf("starting a workflow that waits: %w", err)
	}
	if err := e.temporal.SignalWorkflow(ctx, run.GetID(), run.GetRunID(), engineSignal, "hello"); err != nil {
		return 0, fmt.Errorf("signalling: %w", err)
	}
	return e.result(ctx, run, "hello", began)
}

func (e *Engine) result(ctx context.Context, run client.WorkflowRun, want string, began time.Time) (time.Duration, error) {
	var got string
	if err := run.Get(ctx, &got); err != nil {
		return 0, fmt.Errorf("waiting for a result: %w", err)
	}
	if got != want {
		return 0, fmt.Errorf("the result is %q, want %q", got, want)
	}
	return time.Since(began), nil
}

func (e *Engine) options(kind string, n int) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: fmt.Sprintf("%s-%s-%d", kind, e.number, n), TaskQueue: engineQueue}
}
