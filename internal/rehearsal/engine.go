package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"coachline/models"
	"coachline/models/wire"
	"coachline/worker"
)

// engine stands in for Temporal where the relay tells it what was committed.
type engine struct {
	run  *run
	jobs *jobs
}

func (e *engine) find(workflowID string) (*person, error) {
	id, _ := models.ParticipantIDOf(workflowID)
	if p := e.run.byID[id]; p != nil {
		return p, nil
	}
	return nil, serviceerror.NewNotFound("the rehearsal has no such person")
}

// ExecuteWorkflow implements relay.Engine.
func (e *engine) ExecuteWorkflow(_ context.Context, options client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	p, err := e.find(options.ID)
	if err != nil {
		return nil, err
	}
	if p.runs() {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it runs", "", "")
	}
	return nil, p.begin(args)
}

// SignalWithStartWorkflow implements relay.Engine.
//
//nolint:revive // the interface has as many arguments as Temporal's client
func (e *engine) SignalWithStartWorkflow(_ context.Context, id, name string, arg any, _ client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	p, err := e.find(id)
	if err != nil {
		return nil, err
	}
	received, ok := arg.(wire.InboxItem)
	if !ok {
		return nil, fmt.Errorf("signal %s carries a %T", name, arg)
	}
	if !p.runs() {
		if err := p.begin(args); err != nil {
			return nil, err
		}
	}
	p.signal(received)
	return nil, nil
}

// UpdateWorkflow implements relay.Engine.
func (e *engine) UpdateWorkflow(_ context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	p, err := e.find(options.WorkflowID)
	if err != nil {
		return nil, err
	}
	if !p.runs() {
		return nil, serviceerror.NewNotFound("no such workflow runs")
	}
	p.update(options)
	return nil, nil
}

// ExecuteActivity implements relay.Engine.
func (e *engine) ExecuteActivity(_ context.Context, options client.StartActivityOptions, activity any, args ...any) (client.ActivityHandle, error) {
	name, ok := activity.(string)
	if !ok {
		return nil, fmt.Errorf("activity is a %T and not a name", activity)
	}
	return nil, e.jobs.start(options, name, args)
}

// ListWorkflow implements relay.Engine. No workflow is ever terminated here.
func (e *engine) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

// jobs runs the activities that no workflow waits for, with retries in skipped
// time.
type jobs struct {
	env *testsuite.TestActivityEnvironment
	// later has something done after a pause; nil where there is no time to wait in.
	later func(after time.Duration, do func())
	now   func() time.Time
	fault func(where string, err error)
	known map[string]bool
}

func newJobs(suite *testsuite.WorkflowTestSuite, set *worker.Set) *jobs {
	j := &jobs{env: suite.NewTestActivityEnvironment(), known: map[string]bool{}}
	set.RegisterActivities(j.env)
	return j
}

// start runs an activity at once. An id is used once.
func (j *jobs) start(options client.StartActivityOptions, name string, args []any) error {
	if j.known[options.ID] {
		return serviceerror.NewActivityExecutionAlreadyStarted("it was started", "", "")
	}
	j.known[options.ID] = true
	j.attempt(&job{options: options, name: name, args: args, began: j.now(), pause: time.Second})
	return nil
}

// job is one activity with what its next attempt needs.
type job struct {
	options client.StartActivityOptions
	name    string
	args    []any
	began   time.Time
	pause   time.Duration
}

func (j *jobs) attempt(one *job) {
	_, err := j.env.ExecuteActivity(one.name, one.args...)
	if err == nil {
		return
	}
	var app *temporal.ApplicationError
	final := errors.As(err, &app) && app.NonRetryable()
	pause := one.pause
	if app != nil && app.NextRetryDelay() > 0 {
		pause = app.NextRetryDelay()
	} else {
		one.pause = min(2*one.pause, 10*time.Second)
	}
	limit := one.options.ScheduleToCloseTimeout
	if final || j.later == nil || limit > 0 && j.now().Add(pause).Sub(one.began) > limit {
		j.fault("activity "+one.name, err)
		return
	}
	j.later(pause, func() { j.attempt(one) })
}
