package starter

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"coachline/models"
)

// A run that continues as new takes no update for a moment: the same one is
// sent again.
func TestModeIsForcedAcrossARun(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	refusals := 2
	h.engine.fail(func(_ context.Context, call string) error {
		if call == "update:"+models.UpdateSetMode && refusals > 0 {
			refusals--
			return serviceerror.NewWorkflowNotReady("the run is being replaced")
		}
		return nil
	})
	got := h.do(call{method: http.MethodPost, path: participantsPath + "/" + ann.ID + "/mode", body: `{"target_state":"FEEDBACK"}`})
	require.Equal(t, http.StatusOK, got.status, got.body)
	var ids []string
	for _, update := range h.engine.updates {
		if update.UpdateName == models.UpdateSetMode {
			ids = append(ids, update.UpdateID)
		}
	}
	require.Len(t, ids, 3)
	require.NotEmpty(t, ids[0])
	require.Equal(t, []string{ids[0], ids[0], ids[0]}, ids)
}

// TestModeOfPeopleWhoLeft: a mode belongs to coaching, which is over for them.
func TestModeOfPeopleWhoLeft(t *testing.T) {
	for _, status := range []models.Status{models.StatusWithdrawn, models.StatusCompleted, models.StatusOptedOut} {
		h := start(t, nil)
		ann := h.ann()
		row := h.store.participants[ann.ID]
		row.Status = status
		h.store.participants[ann.ID] = row
		audits := len(h.store.audits)
		h.refused(call{method: http.MethodPost, path: participantsPath + "/" + ann.ID + "/mode", body: `{"target_state":"FEEDBACK"}`},
			http.StatusConflict, "target_state: the participant is "+string(status))
		require.Len(t, h.store.audits, audits)
		require.NotContains(t, h.engine.seen(), "update:SetMode")
	}
}
