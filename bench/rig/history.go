package rig

import (
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
)

// Cost is what a workflow has cost so far, over all its runs.
type Cost struct {
	Runs, Events int
	// Bytes is the size of the histories as the server keeps them.
	Bytes int64
	// Actions are Temporal Cloud's billable actions as far as a history shows
	// them; heartbeats and queries are not in it.
	Actions int
}

// Minus is what happened between two readings.
func (c Cost) Minus(earlier Cost) Cost {
	return Cost{Runs: c.Runs - earlier.Runs, Events: c.Events - earlier.Events, Bytes: c.Bytes - earlier.Bytes, Actions: c.Actions - earlier.Actions}
}

// Idle waits until nothing of a workflow is under way: the carrier has a text
// before the workflow has recorded that it does.
func (r *Rig) Idle(ctx context.Context, workflowID string) error {
	err := pollUntil(ctx, func(ctx context.Context) bool {
		info, err := r.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
		return err == nil && len(info.GetPendingActivities()) == 0 && info.GetPendingWorkflowTask() == nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s to be idle: %w", workflowID, err)
	}
	return nil
}

// Cost waits until a workflow is idle and reads every run, the newest first.
func (r *Rig) Cost(ctx context.Context, workflowID string) (Cost, error) {
	var sum Cost
	if err := r.Idle(ctx, workflowID); err != nil {
		return sum, err
	}
	for run, first := "", true; first || run != ""; first = false {
		info, err := r.temporal.DescribeWorkflowExecution(ctx, workflowID, run)
		if err != nil {
			return sum, fmt.Errorf("describing %s: %w", workflowID, err)
		}
		run = info.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		events, err := r.events(ctx, workflowID, run)
		if err != nil {
			return sum, err
		}
		sum.Runs++
		sum.Events += len(events)
		sum.Bytes += info.GetWorkflowExecutionInfo().GetHistorySizeBytes()
		sum.Actions += countActions(events)
		run = ""
		if len(events) > 0 {
			run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		}
	}
	return sum, nil
}

func (r *Rig) events(ctx context.Context, workflowID, run string) ([]*history.HistoryEvent, error) {
	var events []*history.HistoryEvent
	for all := r.temporal.GetWorkflowHistory(ctx, workflowID, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); {
		event, err := all.Next()
		if err != nil {
			return nil, fmt.Errorf("reading the history of %s: %w", workflowID, err)
		}
		events = append(events, event)
	}
	return events, nil
}

// countActions counts by Temporal Cloud's list (docs.temporal.io/cloud/actions):
// starts, signals, updates, timers and attribute upserts are one each, an
// activity one for every attempt, a child two, and all markers of one workflow
// task together one.
func countActions(events []*history.HistoryEvent) int {
	n := 0
	marked := map[int64]bool{} // by the workflow task that recorded markers
	for _, e := range events {
		switch e.GetEventType() { //nolint:exhaustive // the other kinds are free
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
			enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enums.EVENT_TYPE_TIMER_STARTED,
			enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, enums.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
			enums.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED:
			n++
		case enums.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
			n += 2
		case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			n += int(max(e.GetActivityTaskStartedEventAttributes().GetAttempt(), 1))
		case enums.EVENT_TYPE_MARKER_RECORDED:
			if task := e.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId(); !marked[task] {
				marked[task] = true
				n++
			}
		}
	}
	return n
}
