package starter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
)

// updateLimit is how long an answer waits for the workflow to apply a change.
const updateLimit = 10 * time.Second

type modeRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body api.ModeChange
}

func (h *workflowRoutes) registerMode(router huma.API) {
	register(router, route{method: http.MethodPost, path: participantPath + "/mode", id: "force-mode", needs: auth.ParticipantChange,
		summary: "Force a mode, applied between turns",
		errors:  []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.forceMode)
}

// forceMode audits a change before it asks for it, so that no change can happen
// without a row; a refusal leaves a second row.
func (h *workflowRoutes) forceMode(ctx context.Context, in *modeRequest) (*answer[api.ModeChanged], error) {
	p, err := h.people.Participant(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("setting the mode", err)
	}
	if !p.Status.Coached() {
		return nil, newFailure(http.StatusConflict, "target_state: the participant is %s; a mode can be set only while they are active or paused", p.Status)
	}
	audit := models.AuditRow{ParticipantID: in.ID, Actor: actorOf(ctx), Action: "set_mode", Detail: string(in.Body.Target), Reason: in.Body.Reason, At: h.now()}
	if err := h.audit.RecordAudit(ctx, audit); err != nil {
		return nil, h.toFailure("setting the mode", err)
	}
	view, err := h.requestUpdate(ctx, in.ID, wire.UpdateSetMode, wire.SetModeRequest{Mode: in.Body.Target})
	if err == nil {
		out := api.ModeChanged{Target: in.Body.Target, Mode: view.Mode}
		if view.Mode == "" {
			out.Mode = p.Mode
			return newAnswer("Accepted; applied when the running turn ends", out), nil
		}
		return newAnswer("Mode set", out), nil
	}
	audit.Action, audit.At = "set_mode_failed", h.now()
	if auditErr := h.audit.RecordAudit(context.WithoutCancel(ctx), audit); auditErr != nil {
		h.log.Error("recording a refused mode failed", "participant", in.ID, "error", auditErr)
	}
	var rejected *temporal.ApplicationError
	if errors.As(err, &rejected) {
		return nil, newFailure(http.StatusConflict, "target_state: %s", rejected.Message())
	}
	return nil, h.toFailure("setting the mode", err)
}

// requestUpdate sends the workflow an update and returns its state then. The
// workflow applies it between turns; once it has accepted, the change is durable,
// and a turn that outlasts the limit leaves the state empty here.
func (h *workflowRoutes) requestUpdate(ctx context.Context, participantID, name string, arg any) (wire.StatusView, error) {
	ctx, cancel := context.WithTimeout(ctx, updateLimit)
	defer cancel()
	// One id for all tries, and for all requests with one Idempotency-Key: a repeated
	// update is applied once.
	update := client.UpdateWorkflowOptions{
		UpdateID: name + "-" + newRequestText(ctx), WorkflowID: models.WorkflowID(participantID), UpdateName: name,
		Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageAccepted,
	}
	for {
		var applied wire.StatusView
		err := h.reachWorkflow(ctx, participantID, func() (err error) {
			applied, err = h.tryRequestUpdate(ctx, update)
			return err
		})
		var changing *serviceerror.WorkflowNotReady
		if !errors.As(err, &changing) {
			return applied, err
		}
		select {
		case <-time.After(updateRetry):
		case <-ctx.Done():
			return wire.StatusView{}, err
		}
	}
}

// updateRetry is how long a run takes to continue as new, during which it takes
// no update.
const updateRetry = 50 * time.Millisecond

func (h *workflowRoutes) tryRequestUpdate(ctx context.Context, update client.UpdateWorkflowOptions) (wire.StatusView, error) {
	handle, err := h.temporal.UpdateWorkflow(ctx, update)
	h.metrics.WorkflowCall(metrics.CallUpdate, err)
	if err != nil {
		return wire.StatusView{}, fmt.Errorf("updating the workflow: %w", err)
	}
	var view wire.StatusView
	err = handle.Get(ctx, &view)
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError
	if err == nil || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) {
		return view, nil
	}
	return wire.StatusView{}, fmt.Errorf("updating the workflow: %w", err)
}
