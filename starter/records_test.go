package starter

import (
	"archive/zip"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// startWithRecords serves what is kept of conv_a, who was removed, and of conv_b.
func startWithRecords(t *testing.T) *harness {
	t.Helper()
	h := start(t, nil)
	for id, phone := range map[string]string{"conv_a": hisNumber, "conv_b": herNumber} {
		_, err := h.rows.People.Enroll(t.Context(), models.Participant{ID: id, Phone: phone, Timezone: "UTC", EnrolledAt: testNow}, auth.Operator)
		require.NoError(t, err)
		h.remember(id)
		h.addRows(&models.Consent{ParticipantID: id, Action: models.ConsentOptOut, Method: models.MethodKeyword, Text: "STOP", RecordedBy: "participant", At: testNow})
		for n := 1; n <= 3; n++ {
			h.addRows(&models.Turn{ID: models.TurnID(id, n), ParticipantID: id, Number: n, StartedAt: testNow, Outcome: "step"})
		}
		h.addRows(
			&models.Message{ParticipantID: id, TurnID: models.TurnID(id, 3), Key: "in-1", Role: models.RoleUser, Kind: models.KindMessage, Text: "Hello", At: testNow},
			&models.Step{TurnID: models.TurnID(id, 3), Number: 1, Text: "Hi", Model: "m", CreatedAt: testNow},
		)
	}
	require.NoError(t, h.rows.People.RemoveParticipant(t.Context(), "conv_a", auth.Operator, testNow))
	return h
}

func TestTurnRoutes(t *testing.T) {
	h := startWithRecords(t)
	got := h.do(call{method: "GET", path: participantsPath + "/conv_b/turns?limit=2"})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	page := result[api.TurnPage](t, got)
	require.Equal(t, []string{"conv_b-t3", "conv_b-t2"}, []string{page.Turns[0].ID, page.Turns[1].ID})
	require.Equal(t, 2, *page.NextBefore)
	require.Contains(t, got.raw, `"tools":[]`)

	page = result[api.TurnPage](t, h.do(call{method: "GET", path: participantsPath + "/conv_b/turns?limit=2&before=2"}))
	require.Len(t, page.Turns, 1)
	require.Nil(t, page.NextBefore)

	got = h.do(call{method: "GET", path: participantsPath + "/conv_b/turns/3"})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	turn := result[api.Turn](t, got)
	require.Equal(t, "conv_b-t3", turn.Turn.ID)
	require.Equal(t, []api.Text{{Kind: models.KindMessage, Text: "Hello", At: testNow}}, turn.In)
	require.Equal(t, "Hi", turn.Steps[0].Text)

	h.refused(call{method: "GET", path: participantsPath + "/conv_b/turns/4"}, http.StatusNotFound, "no turn 4 of this participant; coachline participant turns lists them")
	h.refused(call{method: "GET", path: participantsPath + "/conv_a/turns"}, http.StatusNotFound, "participant not found")
	for _, bad := range []string{"/turns?limit=0", "/turns?limit=201", "/turns?before=x", "/turns/last", "/turns/-1"} {
		h.refused(call{method: "GET", path: participantsPath + "/conv_b" + bad}, http.StatusBadRequest, "")
	}
}

// The ledger is shown for people who were removed too; what is remembered is not.
func TestLedgerAndMemoryRoutes(t *testing.T) {
	h := startWithRecords(t)
	for _, id := range []string{"conv_a", "conv_b"} {
		got := h.do(call{method: "GET", path: participantsPath + "/" + id + "/consents"})
		require.Equal(t, http.StatusOK, got.status, got.raw)
		require.Equal(t, []models.Consent{
			{Action: models.ConsentOptOut, Method: models.MethodKeyword, At: testNow, RecordedBy: "participant", Text: "STOP"},
		}, result[[]models.Consent](t, got))
	}
	h.refused(call{method: "GET", path: participantsPath + "/conv_x/consents"}, http.StatusNotFound, "participant not found")

	memory := result[api.Memory](t, h.do(call{method: "GET", path: participantsPath + "/conv_b/memories"}))
	changed := slices.IndexFunc(memory.Facts, func(f models.Fact) bool { return f.ID == "f2" })
	require.Equal(t, []models.FactVersion{{Version: 1, Kind: models.FactGoal, Text: "One walk\n# a day", SourceID: 4, TurnID: "conv_b-t2", At: viewStart.AddDate(0, 0, -4)}}, memory.Facts[changed].Before)
	require.Empty(t, memory.Facts[(changed+1)%3].Before)
	h.refused(call{method: "GET", path: participantsPath + "/conv_a/memories"}, http.StatusNotFound, "participant not found")
}

func TestExportRoute(t *testing.T) {
	h := startWithRecords(t)
	const export = "/memory/export"
	got := h.do(call{method: "GET", path: participantsPath + "/conv_b" + export})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, "application/zip", got.header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="memory.zip"`, got.header.Get("Content-Disposition"))
	archive, err := zip.NewReader(strings.NewReader(got.raw), int64(len(got.raw)))
	require.NoError(t, err)
	for name, words := range map[string][]string{"MEMORY.md": {"Two walks", "One walk"}, "USER.md": {"walking"}} {
		text, err := fs.ReadFile(archive, name)
		require.NoError(t, err)
		for _, word := range words {
			require.Contains(t, string(text), word)
		}
	}
	h.refused(call{method: "GET", path: participantsPath + "/conv_a" + export}, http.StatusNotFound, "participant not found")
	h.refused(call{method: "GET", path: participantsPath + "/conv_b" + export, header: map[string]string{"Authorization": ""}}, http.StatusUnauthorized, "bearer token")
	h.faults.fail(errDown)
	h.refused(call{method: "GET", path: participantsPath + "/conv_b" + export}, http.StatusServiceUnavailable, "try again later")
}

func TestForgetRoutes(t *testing.T) {
	h := startWithRecords(t)
	got := h.do(call{method: "DELETE", path: participantsPath + "/conv_b/memories/f2"})
	require.Equal(t, api.Forgotten{Facts: 1}, result[api.Forgotten](t, got))
	got = h.do(call{method: "DELETE", path: participantsPath + "/conv_a/memories"})
	require.Equal(t, api.Forgotten{Facts: 3}, result[api.Forgotten](t, got))
	left, err := h.rows.Memory.Facts(t.Context(), "conv_b")
	require.NoError(t, err)
	require.Len(t, left, 2)

	h.refused(call{method: "DELETE", path: participantsPath + "/conv_b/memories/f9"}, http.StatusNotFound, "participant or fact not found")
	h.refused(call{method: "DELETE", path: participantsPath + "/conv_b/memories/everything"}, http.StatusBadRequest, "fact")
	h.refused(call{method: "DELETE", path: participantsPath + "/conv_x/memories"}, http.StatusNotFound, "participant not found")
	h.faults.fail(errDown)
	refused := h.refused(call{method: "DELETE", path: participantsPath + "/conv_b/memories"}, http.StatusServiceUnavailable, "try again later")
	require.NotContains(t, refused.raw, errDown.Error())

	got = h.refused(call{method: "GET", path: participantsPath + "/conv_b/consents", header: map[string]string{"Authorization": ""}}, http.StatusUnauthorized, "bearer token")
	require.NotContains(t, got.raw, "STOP")
	_, err = New(t.Context(), Config{Temporal: h.engine, Carrier: CarrierConfig{Verifier: signed{}}})
	require.ErrorContains(t, err, "starter needs a store")
}
