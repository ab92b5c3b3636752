package starter

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// A run that continues as new takes no update for a moment: the same one is
// sent again.
func TestModeIsForcedAcrossARun(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	refusals := 2
	h.engine.fail(func(_ context.Context, call string) error {
		if call == "update:"+wire.UpdateSetMode && refusals > 0 {
			refusals--
			return serviceerror.NewWorkflowNotReady("the run is being replaced")
		}
		return nil
	})
	got := h.do(call{method: http.MethodPost, path: participantsPath + "/" + ann.ID + "/mode", body: `{"target_state":"FEEDBACK"}`})
	require.Equal(t, http.StatusOK, got.status, got.body)
	var ids []string
	for _, update := range h.engine.updates {
		if update.UpdateName == wire.UpdateSetMode {
			ids = append(ids, update.UpdateID)
		}
	}
	require.Len(t, ids, 3)
	require.NotEmpty(t, ids[0])
	require.Equal(t, []string{ids[0], ids[0], ids[0]}, ids)
}

// TestModeOfPeopleWhoLeft: a mode belongs to coaching, which is over for them.
func TestModeOfPeopleWhoLeft(t *testing.T) {
	for _, status := range []wire.Status{wire.StatusWithdrawn, wire.StatusCompleted, wire.StatusOptedOut} {
		h := start(t, nil)
		ann := h.ann()
		h.change(ann.ID, map[string]any{"status": status})
		audits := len(listRows[models.AuditRow](h, "id"))
		h.refused(call{method: http.MethodPost, path: participantsPath + "/" + ann.ID + "/mode", body: `{"target_state":"FEEDBACK"}`},
			http.StatusConflict, "target_state: the participant is "+string(status))
		require.Len(t, listRows[models.AuditRow](h, "id"), audits)
		require.NotContains(t, h.engine.seen(), "update:SetMode")
	}
}

func TestMode(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	post := call{method: "POST", path: participantsPath + "/" + ann.ID + "/mode", body: `{"target_state":"FEEDBACK","reason":"study plan"}`}
	h.engine.status = wire.StatusView{Mode: wire.ModeFeedback}
	got := h.do(post)
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.JSONEq(t, `{"target_state":"FEEDBACK","mode":"FEEDBACK"}`, string(got.body.Result))
	update := h.engine.updates[0]
	require.Equal(t, wire.UpdateSetMode, update.UpdateName)
	require.Equal(t, client.WorkflowUpdateStageAccepted, update.WaitForStage)
	require.Equal(t, []any{wire.SetModeRequest{Mode: wire.ModeFeedback}}, update.Args)
	row := h.audits("set_mode")[0]
	require.Equal(t, []any{ann.ID, auth.Operator, "FEEDBACK", "study plan", testNow}, []any{row.ParticipantID, row.Actor, row.Detail, row.Reason, row.At.UTC()})

	h.engine.rejected = client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
	later := h.do(post)
	require.Equal(t, http.StatusOK, later.status, later.raw)
	require.Equal(t, "Accepted; applied when the running turn ends", later.body.Message)
	require.JSONEq(t, `{"target_state":"FEEDBACK","mode":"INTAKE"}`, string(later.body.Result))

	h.engine.rejected = temporal.NewApplicationError("the participant is paused", "InvalidInput")
	h.refused(post, http.StatusConflict, "target_state: the participant is paused")
	require.Len(t, h.audits("set_mode_failed"), 1)
	h.engine.fail(func(context.Context, string) error {
		return client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
	})
	h.refused(post, http.StatusServiceUnavailable, "setting the mode failed")
	post.body = `{"target_state":"COORDINATOR"}`
	h.refused(post, http.StatusBadRequest, "target_state: must be one of")
}
