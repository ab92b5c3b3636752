package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"coachline/models"
	"coachline/models/wire"
)

// Pace of the search for participants whose workflow was terminated. One is
// back after restoreMinAge and restoreInterval at most, and the time of a start.
const (
	restoreInterval = 15 * time.Second
	// restoreMinAge is how long a workflow has been closed: longer than a
	// delivery takes, so that every delivery to the closed one has been recorded.
	restoreMinAge = tellLimit + markLimit
	// restoreOverlap is searched again, because visibility may lag behind.
	restoreOverlap = 5 * time.Minute
	closedPage     = 500
)

// restoration is what the search for terminated workflows remembers. The sweep
// alone touches it.
type restoration struct {
	next time.Time // of the next search
	from time.Time // closed before it: searched; zero in a new process
	done map[string]time.Time
}

// closedRun is one run of a participant's workflow that ended without the
// participant having left.
type closedRun struct {
	participantID, runID string
	closedAt             time.Time
}

// restoreTerminated starts the workflow again for every participant whose last
// run was terminated, failed or timed out and who has not been removed. A
// process searches all closed runs that Temporal keeps once, then those closed
// since. Starting joins a workflow that runs, so it is safe to repeat and for
// several processes.
func (r *Relay) restoreTerminated(ctx context.Context) error {
	now := r.cfg.Now()
	if now.Before(r.restoration.next) {
		return nil
	}
	r.restoration.next = now.Add(restoreInterval)
	runs, err := r.closedRuns(ctx, r.restoration.from, now.Add(-restoreMinAge))
	if err != nil {
		return fmt.Errorf("listing terminated workflows: %w", err)
	}
	var failed error
	for _, run := range runs {
		if _, done := r.restoration.done[run.runID]; done {
			continue
		}
		if err := r.restoreParticipant(ctx, run.participantID); err != nil {
			failed = errors.Join(failed, fmt.Errorf("restoring participant %s: %w", run.participantID, err))
			continue
		}
		r.restoration.done[run.runID] = run.closedAt
	}
	if failed == nil {
		r.restoration.advanceStart(now.Add(-restoreOverlap))
	}
	return failed
}

// advanceStart moves the start of the next search and forgets runs before it.
func (s *restoration) advanceStart(from time.Time) {
	s.from = from
	for id, closedAt := range s.done {
		if closedAt.Before(from) {
			delete(s.done, id)
		}
	}
}

// restoreParticipant starts the workflow of a participant who is enrolled.
func (r *Relay) restoreParticipant(ctx context.Context, id string) error {
	unlock, err := r.locks.Lock(ctx, id)
	if err != nil {
		return fmt.Errorf("waiting for a delivery: %w", err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	p, err := r.cfg.Store.People.Participant(ctx, id)
	if errors.Is(err, models.ErrNotFound) {
		return nil // removed: not brought back
	}
	if err != nil {
		return fmt.Errorf("reading the participant: %w", err)
	}
	return r.startWorkflow(ctx, p, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, secondState(p))
}

// closedRuns lists the runs that were closed in a span of time.
func (r *Relay) closedRuns(ctx context.Context, from, until time.Time) ([]closedRun, error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut', 'Canceled') AND CloseTime <= '%s'",
		wire.WorkflowType, until.UTC().Format(time.RFC3339Nano))
	if !from.IsZero() {
		query += fmt.Sprintf(" AND CloseTime >= '%s'", from.UTC().Format(time.RFC3339Nano))
	}
	var runs []closedRun
	var token []byte
	for {
		page, err := r.listClosed(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: closedPage, NextPageToken: token})
		if err != nil {
			return nil, err
		}
		for _, info := range page.GetExecutions() {
			if id, ok := models.ParticipantIDOf(info.GetExecution().GetWorkflowId()); ok {
				runs = append(runs, closedRun{participantID: id, runID: info.GetExecution().GetRunId(), closedAt: info.GetCloseTime().AsTime()})
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return runs, nil
		}
	}
}

func (r *Relay) listClosed(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	return r.cfg.Engine.ListWorkflow(ctx, request)
}
