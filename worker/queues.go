package worker

import (
	"reflect"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/config"
	"coachline/models/wire"
)

// activityQueue is a task queue for activities and the receivers whose methods
// run on it.
type activityQueue struct {
	name       string
	activities []any
	// perSecond bounds the activities that the server dispatches on the queue,
	// over all workers; 0 is no bound.
	perSecond float64
	// separate is set when activities that a workflow schedules go to this queue
	// and not to the workflow's own.
	separate bool
}

// activityQueues returns the queues beside the workflows' own. Workers poll both
// in every mode: the relay starts activities there, and runs of earlier builds
// may have scheduled some.
//
// A workflow's activities run on its own queue unless COACH_QUEUES=split,
// because the server then returns them with the completed workflow task (eager
// execution). A rate on a queue turns eager execution off and does not count
// eager activities, so sends keep their queue when COACH_SEND_RATE is set.
func activityQueues(cfg config.Config, acts *acts) []activityQueue {
	split := cfg.Tuning.Queues == config.QueuesSplit
	perSecond := cfg.Carrier.SendRate / segmentsPerSend
	return []activityQueue{
		{name: wire.QueueModel, separate: split, activities: []any{acts.model, acts.remembering}},
		{
			name: wire.QueueSMS, separate: split || perSecond > 0, perSecond: perSecond,
			activities: []any{acts.turnEnds, acts.notices, acts.posts, acts.checks, acts.laterRetries, acts.erasures},
		},
	}
}

// separateQueues returns the queue of each activity type that has one apart
// from the workflows'.
func separateQueues(queues []activityQueue) map[string]string {
	names := map[string]string{}
	for _, queue := range queues {
		if !queue.separate {
			continue
		}
		for _, receiver := range queue.activities {
			for method := range reflect.TypeOf(receiver).Methods() {
				names[method.Name] = queue.name
			}
		}
	}
	return names
}

// registerActivities makes the activities known to a worker.
func (q activityQueue) registerActivities(w ActivityRegistry) {
	for _, receiver := range q.activities {
		w.RegisterActivity(receiver)
	}
}

// queueInterceptor sends the named activity types to their queues. A replay does
// not compare queues, so a running workflow may go on under another setting.
type queueInterceptor struct {
	interceptor.WorkerInterceptorBase
	queues map[string]string
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (q *queueInterceptor) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	inbound := &queueInbound{queues: q.queues}
	inbound.Next = next
	return inbound
}

type queueInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	queues map[string]string
}

// Init implements interceptor.WorkflowInboundInterceptor.
func (q *queueInbound) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	routed := &queueOutbound{queues: q.queues}
	routed.Next = outbound
	return q.Next.Init(routed)
}

type queueOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	queues map[string]string
}

// ExecuteActivity implements interceptor.WorkflowOutboundInterceptor.
func (q *queueOutbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	if queue, ok := q.queues[name]; ok {
		ctx = workflow.WithTaskQueue(ctx, queue)
	}
	return q.Next.ExecuteActivity(ctx, name, args...)
}
