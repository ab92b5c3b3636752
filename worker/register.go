package worker

import (
	"go.temporal.io/sdk/workflow"

	"coachline/internal/config"
	"coachline/models/wire"
	"coachline/workflows"
)

// Registry takes workflows and activities; a worker and the SDK's test environment
// do.
type Registry interface {
	ActivityRegistry
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// ActivityRegistry takes activities.
type ActivityRegistry interface{ RegisterActivity(a any) }

func registerWorkflows(r Registry) {
	r.RegisterWorkflowWithOptions(workflows.Participant, workflow.RegisterOptions{Name: wire.WorkflowType})
	r.RegisterWorkflowWithOptions(workflows.Reconcile, workflow.RegisterOptions{Name: wire.WorkflowReconcile})
	r.RegisterWorkflowWithOptions(workflows.Subagent, workflow.RegisterOptions{Name: wire.SubagentWorkflowType})
}

// registerOwn makes the activities known that run on the workflows' queue in every
// mode.
func (a *acts) registerOwn(r ActivityRegistry) {
	for _, receiver := range []any{a.decisions, a.turns, a.tools, a.subagents, a.removals, a.standing} {
		r.RegisterActivity(receiver)
	}
}

// Set is every workflow and activity with one clock, for a run without a worker.
type Set struct{ acts *acts }

// NewSet builds the workflows and activities that a rehearsal registers in the
// place of a worker. No budget stops the model.
func (p *Parts) NewSet(o Outside) (*Set, error) {
	built, err := p.newActs(o, noBudgets{})
	if err != nil {
		return nil, err
	}
	return &Set{acts: built}, nil
}

// Register makes all of them known.
func (s *Set) Register(r Registry) {
	registerWorkflows(r)
	s.RegisterActivities(r)
}

// RegisterActivities makes the activities known and no workflow.
func (s *Set) RegisterActivities(r ActivityRegistry) {
	s.acts.registerOwn(r)
	for _, queue := range activityQueues(config.Config{}, s.acts) {
		queue.registerActivities(r)
	}
}

// noBudgets stops the model for no participant.
type noBudgets struct{}

// Stops implements activities.Budgets.
func (noBudgets) Stops(_, _ string) bool { return false }
