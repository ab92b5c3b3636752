package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models/wire"
)

func TestChangePhoneNumber(t *testing.T) {
	h, _ := startWithStore(t, nil)
	ann := h.ann()
	bob := h.enrol(`{"phone_number":"+12025550143"}`)
	path := participantsPath + "/" + ann.ID
	h.refused(call{method: "PUT", path: path, body: `{"phone_number":"+1 (202) 555-0143"}`}, http.StatusConflict, "phone_number: already enrolled as "+bob.ID)
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"202 555 0143"}`}, http.StatusConflict, "phone_number: already enrolled as "+bob.ID)
	h.refused(call{method: "PUT", path: path, body: `{"phone_number":"12"}`}, http.StatusBadRequest, "phone_number")
	got := h.do(call{method: "PUT", path: path, body: `{"phone_number":"202 555 0199"}`, header: map[string]string{"If-Match": `"1"`}})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	changed := result[api.Participant](t, got)
	require.Equal(t, []any{ann.ID, "+12025550199", wire.StatusActive, int64(2)}, []any{changed.ID, changed.Phone, changed.Status, changed.Version})
	h.refused(call{method: "PUT", path: path, body: `{"phone_number":"202 555 0188"}`, header: map[string]string{"If-Match": `"1"`}}, http.StatusPreconditionFailed, "If-Match")

	h.text(sid(1), "STOP") // from her old number, a stranger's now
	got = h.do(call{method: "PUT", path: path, body: `{"phone_number":"` + herNumber + `"}`})
	require.Equal(t, wire.StatusOptedOut, result[api.Participant](t, got).Status)
	require.Contains(t, got.body.Message, "opted out")
}
