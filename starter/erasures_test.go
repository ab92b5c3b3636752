package starter

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

func TestErasureRoutes(t *testing.T) {
	h, rows := startWithStore(t, nil)
	ann := h.ann()
	path := participantsPath + "/" + ann.ID + "/erase"
	h.refused(call{method: "POST", path: path, body: `{"confirm":"conv_other"}`}, http.StatusBadRequest, "confirm: must be the participant's id")
	h.refused(call{method: "POST", path: path, body: `{}`}, http.StatusBadRequest, "confirm: is required")
	h.refused(call{method: "POST", path: path, body: `{"confirm":"` + ann.ID + `","reason":"` + ann.Name + ` asked"}`}, http.StatusBadRequest, "reason: must not name the person")
	h.refused(call{method: "POST", path: participantsPath + "/conv_9/erase", body: `{"confirm":"conv_9"}`}, http.StatusNotFound, "not found")
	h.refused(call{method: "GET", path: erasuresPath + "/" + ann.ID}, http.StatusNotFound, "not found")

	asked := h.do(call{method: "POST", path: path, body: `{"confirm":"` + ann.ID + `","reason":"letter of 1 March"}`})
	require.Equal(t, http.StatusAccepted, asked.status, asked.raw)
	receipt := result[models.Erasure](t, asked)
	require.Equal(t, ann.ID, receipt.ParticipantID)
	require.Equal(t, "letter of 1 March", receipt.Reason)
	require.Equal(t, auth.Operator, receipt.RequestedBy)
	require.Equal(t, models.ErasureEnding, receipt.State)
	require.Contains(t, receipt.Notes, noteBackups)
	h.refused(call{method: "GET", path: participantsPath + "/" + ann.ID}, http.StatusNotFound, "not found")

	again := h.do(call{method: "POST", path: path, body: `{"confirm":"` + ann.ID + `"}`})
	require.Equal(t, http.StatusAccepted, again.status, again.raw)
	require.Equal(t, receipt.RequestedAt, result[models.Erasure](t, again).RequestedAt)
	step := models.ErasureStep{ParticipantID: ann.ID, From: models.ErasureEnding, To: models.ErasureRows, Now: testNow}
	require.NoError(t, rows.Erasures.EndErasureStep(t.Context(), step))
	require.NoError(t, rows.Erasures.EraseRows(t.Context(), ann.ID, testNow))
	require.NoError(t, rows.Erasures.FinishErasure(t.Context(), ann.ID, testNow))
	receipt = result[models.Erasure](t, h.do(call{method: "GET", path: erasuresPath + "/" + ann.ID}))
	require.Equal(t, models.ErasureDone, receipt.State)
	require.Equal(t, int64(1), receipt.Rows["participants"])

	page := result[api.ErasurePage](t, h.do(call{method: "GET", path: erasuresPath + "?limit=1"}))
	require.Len(t, page.Erasures, 1)
	require.Nil(t, page.NextCursor)
}

// TestErasuresHavePages: the largest page that the API gives leads to the next
// one.
func TestErasuresHavePages(t *testing.T) {
	h, rows := startWithStore(t, nil)
	const people = 201
	for i := range people {
		id := fmt.Sprintf("conv_%03d", i)
		_, err := rows.People.Enroll(t.Context(), models.Participant{ID: id, Phone: fmt.Sprintf("+1202555%04d", i), Timezone: "UTC", EnrolledAt: testNow}, auth.Operator)
		require.NoError(t, err)
		_, err = rows.Erasures.BeginErasure(t.Context(), models.ErasureRequest{ParticipantID: id, Actor: auth.Operator, Now: testNow.Add(time.Duration(i) * time.Second)})
		require.NoError(t, err)
	}
	first := result[api.ErasurePage](t, h.do(call{method: "GET", path: erasuresPath + "?limit=200"}))
	require.Len(t, first.Erasures, 200)
	require.NotNil(t, first.NextCursor)
	last := result[api.ErasurePage](t, h.do(call{method: "GET", path: erasuresPath + "?limit=200&cursor=" + *first.NextCursor}))
	require.Len(t, last.Erasures, 1)
	require.Equal(t, "conv_000", last.Erasures[0].ParticipantID)
	require.Nil(t, last.NextCursor)
}
