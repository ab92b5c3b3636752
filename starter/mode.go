package starter

import (
	"context"
	"crypto/rand"
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
)

// modeLimit is how long an answer waits for the workflow to apply a mode.
const modeLimit = 10 * time.Second

type modeRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body api.ModeChange
}

func (h *handlers) registerMode(router huma.API) {
	register(router, route{method: http.MethodPost, path: participantPath + "/mode", id: "force-mode", needs: auth.ParticipantChange,
		summary: "Force a mode, applied between turns",
		errors:  []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.forceMode)
}

// forceMode audits a change before it asks for it, so that no change can happen
// without a row; a refusal leaves a second row.
func (h *handlers) forceMode(ctx context.Context, in *modeRequest) (*answer[api.ModeChanged], error) {
	p, err := h.store.Participant(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("setting the mode", err)
	}
	if !p.Status.Coached() {
		return nil, newFailure(http.StatusConflict, "target_state: the participant is %s; a mode can be set only while they are active or paused", p.Status)
	}
	audit := models.Audit{ParticipantID: in.ID, Actor: actorOf(ctx), Action: "set_mode", Detail: string(in.Body.Target), Reason: in.Body.Reason, At: h.now()}
	if err := h.store.RecordAudit(ctx, audit); err != nil {
		return nil, h.toFailure("setting the mode", err)
	}
	mode, err := h.requestMode(ctx, in.ID, in.Body.Target)
	if err == nil {
		out := api.ModeChanged{Target: in.Body.Target, Mode: mode}
		if mode == "" {
			out.Mode = p.Mode
			return newAnswer("Accepted; applied when the running turn ends", out), nil
		}
		return newAnswer("Mode set", out), nil
	}
	audit.Action, audit.At = "set_mode_failed", h.now()
	if auditErr := h.store.RecordAudit(context.WithoutCancel(ctx), audit); auditErr != nil {
		h.log.Error("recording a refused mode failed", "participant", in.ID, "error", auditErr)
	}
	var rejected *temporal.ApplicationError
	if errors.As(err, &rejected) {
		return nil, newFailure(http.StatusConflict, "target_state: %s", rejected.Message())
	}
	return nil, h.toFailure("setting the mode", err)
}

// requestMode asks the workflow for a mode and returns the one it has then. The
// workflow applies it between turns; once it has accepted, the change is
// durable, and a turn that outlasts the limit leaves the mode empty here.
func (h *handlers) requestMode(ctx context.Context, participantID string, mode models.Mode) (models.Mode, error) {
	ctx, cancel := context.WithTimeout(ctx, modeLimit)
	defer cancel()
	// One id for all tries: a repeated update is applied once.
	update := client.UpdateWorkflowOptions{
		UpdateID: rand.Text(), WorkflowID: models.WorkflowID(participantID), UpdateName: models.UpdateSetMode,
		Args: []any{models.SetModeRequest{Mode: mode}}, WaitForStage: client.WorkflowUpdateStageAccepted,
	}
	for {
		applied, err := h.tryRequestMode(ctx, update)
		var changing *serviceerror.WorkflowNotReady
		if !errors.As(err, &changing) {
			return applied, err
		}
		select {
		case <-time.After(modeRetry):
		case <-ctx.Done():
			return "", err
		}
	}
}

// modeRetry is how long a run takes to continue as new, during which it takes
// no update.
const modeRetry = 50 * time.Millisecond

func (h *handlers) tryRequestMode(ctx context.Context, update client.UpdateWorkflowOptions) (models.Mode, error) {
	handle, err := h.cfg.Temporal.UpdateWorkflow(ctx, update)
	h.cfg.Metrics.WorkflowCall(metrics.CallUpdate, err)
	if err != nil {
		return "", fmt.Errorf("updating the workflow: %w", err)
	}
	var view models.StatusView
	err = handle.Get(ctx, &view)
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError
	if err == nil || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) {
		return view.Mode, nil
	}
	return "", fmt.Errorf("updating the workflow: %w", err)
}
