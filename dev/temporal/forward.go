package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"go.temporal.io/server/common/dynamicconfig"
)

// Slack is how far Forward goes beyond an instant, so that what is due then is done when it
// returns: time is not skipped while a task is under way.
const Slack = 10 * time.Second

// beforeTask is how many events a run has at most whose first task was not done yet.
const beforeTask = 3

// skipTime turns skipping on. A new run's start is shifted by the skipped time twice, and
// the second continue-as-new would wait that long for its first task but for the interval
// of zero (server 1.32.1; TestContinueAsNewWaits shows it). What looks for ended workflows
// by the clock does so at each skip: ten times a second are not enough.
func (e *Engine) skipTime() {
	e.settings.OverrideSetting(dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance, 1000)
	e.settings.OverrideSetting(dynamicconfig.WorkflowTimeSkippingEnabled, true)
	e.settings.OverrideSetting(dynamicconfig.WorkflowIdReuseMinimalInterval, time.Duration(0))
}

// Forward has a workflow skip time until Slack after an instant, and returns when nothing
// of it is under way any more. What is closed stays as it is. It needs Config.SkipTime.
func (e *Engine) Forward(ctx context.Context, workflowID string, to time.Time) (err error) {
	conn, err := e.dial()
	if err != nil {
		return err
	}
	s := skipper{service: workflowservice.NewWorkflowServiceClient(conn), namespace: e.namespace, run: &commonpb.WorkflowExecution{WorkflowId: workflowID}}
	for to = to.Add(Slack); ; {
		at, isBusy, err := s.look(ctx)
		if err != nil {
			return err
		}
		switch {
		case at.Before(to):
		case !isBusy:
			return nil
		default: // A back-off or an answer that takes long reaches beyond.
			to = at.Add(Slack)
		}
		if err := s.skip(ctx, to.Sub(at)); err != nil {
			return fmt.Errorf("forwarding %s to %s: %w", workflowID, to.Format(time.RFC3339), err)
		}
	}
}

// dial connects once for all of Forward.
func (e *Engine) dial() (*grpc.ClientConn, error) {
	e.dialing.Lock()
	defer e.dialing.Unlock()
	if e.conn != nil {
		return e.conn, nil
	}
	conn, err := grpc.NewClient(e.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("reaching the Temporal server: %w", err)
	}
	e.conn = conn
	return conn, nil
}

// skipper has one workflow skip time.
type skipper struct {
	service   workflowservice.WorkflowServiceClient
	namespace string
	run       *commonpb.WorkflowExecution
}

// look returns a workflow's own time and whether something of it is under way. The time of
// one that is closed is beyond all others.
func (s skipper) look(ctx context.Context) (at time.Time, isBusy bool, err error) {
	d, err := s.service.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{Namespace: s.namespace, Execution: s.run})
	if err != nil {
		return at, false, fmt.Errorf("looking at %s: %w", s.run.GetWorkflowId(), err)
	}
	at = time.Now()
	if skips := d.GetWorkflowExtendedInfo().GetTimeSkippingInfo(); skips != nil {
		at = skips.GetCurrentTime().AsTime()
		if skips.GetEffectiveConfig().GetEnabled() { // It begins, or the server ended meanwhile.
			if err := s.await(ctx, skips.GetEffectiveConfig().GetFastForwardConfig().GetId()); err != nil {
				return at, false, err
			}
			return s.look(ctx)
		}
	}
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return at.AddDate(1000, 0, 0), false, nil
	}
	hasBegun := d.GetWorkflowExecutionInfo().GetHistoryLength() > beforeTask
	return at, len(d.GetPendingActivities()) > 0 || d.GetPendingWorkflowTask() != nil || !hasBegun, nil
}

func (s skipper) skip(ctx context.Context, d time.Duration) error {
	id := fmt.Sprint("skip-", time.Now().UnixNano())
	_, err := s.service.UpdateWorkflowExecutionOptions(ctx, &workflowservice.UpdateWorkflowExecutionOptionsRequest{
		Namespace: s.namespace, WorkflowExecution: s.run,
		WorkflowExecutionOptions: &workflowpb.WorkflowExecutionOptions{TimeSkippingConfig: skipBy(id, d)},
		UpdateMask:               &fieldmaskpb.FieldMask{Paths: []string{"time_skipping_config"}},
	})
	if err != nil {
		return fmt.Errorf("asking for it: %w", err)
	}
	return s.await(ctx, id)
}

// await returns when a skip is over.
func (s skipper) await(ctx context.Context, id string) error {
	for {
		r, err := s.service.PollWorkflowExecutionTimeSkipping(ctx, &workflowservice.PollWorkflowExecutionTimeSkippingRequest{
			Namespace: s.namespace, WorkflowExecution: s.run, FastForwardId: id,
		})
		switch {
		case err != nil:
			return fmt.Errorf("waiting for it: %w", err)
		case r.GetFastForwardPollingResult() == enumspb.FAST_FORWARD_POLLING_RESULT_FAST_FORWARD_COMPLETED:
			return nil
		case r.GetFastForwardPollingResult() == enumspb.FAST_FORWARD_POLLING_RESULT_FAST_FORWARD_FAILED:
			return errors.New(r.GetFailedReason())
		}
	}
}
