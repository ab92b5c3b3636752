package worker

import (
	"context"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/internal/config"
	"coachline/internal/store"
	"coachline/internal/wrap"
	"coachline/models"
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

// Set is every workflow and activity with one clock, for a run without a worker. Who
// makes one may change the activities that it names before they are registered.
type Set struct {
	Tools    *activities.ToolActivities
	TurnEnds *activities.TurnEnd
	Memory   *activities.MemoryActivities
	acts     *acts
}

// NewSet builds the workflows and activities that a rehearsal or an evaluation registers
// in the place of a worker. No budget stops the model.
func (p *Parts) NewSet(o Outside) (*Set, error) {
	built, err := p.newActs(o, noBudgets{})
	if err != nil {
		return nil, err
	}
	return &Set{acts: built, Tools: built.tools, TurnEnds: built.turnEnds, Memory: built.remembering}, nil
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

// memoryQueue queues finished turns; the starters' sweep has their conversations
// closed in batches, once they have rested.
type memoryQueue struct {
	rows *store.MemoryQueue
	rest time.Duration
	now  func() time.Time
}

// Remember implements activities.Background.
func (q memoryQueue) Remember(ctx context.Context, in wire.RememberInput) error {
	return q.rows.QueueMemory(ctx, models.MemoryJob{TurnID: in.TurnID, ParticipantID: in.ParticipantID, QueuedAt: q.now()}, q.rest)
}

const attributesTimeout = 30 * time.Second

// ensureSearchAttributes registers the search attributes that are missing in
// the namespace. It is safe to run from every worker at every start. A cluster
// that does not allow it (Temporal Cloud manages them in its own console) must
// have them already; the error lists which are missing.
func ensureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, attributesTimeout)
	defer cancel()
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("listing search attributes of namespace %s: %w", namespace, err)
	}
	missing := map[string]enums.IndexedValueType{}
	for name, typeName := range wire.SearchAttributes() {
		kind, err := enums.IndexedValueTypeFromString(typeName)
		if err != nil {
			return fmt.Errorf("search attribute %s: %w", name, err)
		}
		if _, ok := have.GetCustomAttributes()[name]; !ok {
			missing[name] = kind
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	return wrap.Errorf(err, "adding search attributes %v to namespace %s (add them by hand where the cluster does not allow it)", missing, namespace)
}
