package starter

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// fakeRecords is what the packages beside the store keep of conv_a, who was removed,
// and of conv_b.
type fakeRecords struct {
	down    error
	queries []models.TurnQuery
	forgets []models.Forgetting
}

func (p *fakeRecords) known(id string, removedToo bool) error {
	if p.down != nil {
		return p.down
	}
	if id == "conv_b" || removedToo && id == "conv_a" {
		return nil
	}
	return fmt.Errorf("reading: %w", models.ErrNotFound)
}

func (p *fakeRecords) Turns(_ context.Context, q models.TurnQuery) ([]models.TurnTotals, error) {
	p.queries = append(p.queries, q)
	from := 3
	if q.Before > 0 {
		from = min(from, q.Before-1)
	}
	var rows []models.TurnTotals
	for n := from; n > 0 && len(rows) < q.Limit; n-- {
		rows = append(rows, models.TurnTotals{Turn: models.Turn{ID: models.TurnID(q.ParticipantID, n), Number: n, StartedAt: testNow}})
	}
	return rows, p.known(q.ParticipantID, false)
}

func (p *fakeRecords) Turn(_ context.Context, id string, number int) (models.TurnRecord, error) {
	if err := p.known(id, false); err != nil || number != 3 {
		return models.TurnRecord{}, fmt.Errorf("reading turn: %w", models.ErrNotFound)
	}
	return models.TurnRecord{
		Totals:  models.TurnTotals{Turn: models.Turn{ID: models.TurnID(id, 3), Number: 3, Outcome: "step", StartedAt: testNow}, Rounds: 1},
		Entries: []models.Message{{Role: models.RoleUser, Kind: models.KindMessage, Text: "Hello", At: testNow}},
		Steps:   []models.Step{{Number: 1, Text: "Hi", Model: "m", CreatedAt: testNow}},
	}, nil
}

func (p *fakeRecords) Consents(_ context.Context, id string) ([]models.Consent, error) {
	return []models.Consent{{Action: models.ConsentOptOut, Method: models.MethodKeyword, Text: "STOP", RecordedBy: "participant", At: testNow}}, p.known(id, true)
}

func (p *fakeRecords) Recall(_ context.Context, id string) (models.Memory, error) {
	return models.Memory{Facts: []models.Fact{
		{ID: "f2", Kind: models.FactGoal, Text: "Two walks", Version: 2, UpdatedAt: testNow},
		{ID: "f1", Kind: models.FactGoal, Text: "Sleep more", Version: 1, UpdatedAt: testNow},
	}}, p.known(id, false)
}

func (p *fakeRecords) Notes(context.Context, string, int) ([]models.Note, error) { return nil, p.down }

func (p *fakeRecords) History(_ context.Context, _, fact string) ([]models.FactVersion, error) {
	return []models.FactVersion{{FactID: fact, Version: 2, Text: "Two walks"}, {FactID: fact, Version: 1, Text: "One walk", At: testNow}}, p.down
}

func (p *fakeRecords) Forget(_ context.Context, f models.Forgetting) error {
	if f.FactID == "f9" {
		return fmt.Errorf("forgetting: %w", models.ErrNotFound)
	}
	p.forgets = append(p.forgets, f)
	return p.known(f.ParticipantID, true)
}

func (p *fakeRecords) ForgetAll(_ context.Context, f models.Forgetting) (int, error) {
	p.forgets = append(p.forgets, f)
	return 2, p.known(f.ParticipantID, true)
}

func TestTurnRoutes(t *testing.T) {
	h := start(t, nil)
	got := h.do(call{method: "GET", path: participantsPath + "/conv_b/turns?limit=2"})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	page := result[api.TurnPage](t, got)
	require.Equal(t, []string{"conv_b-t3", "conv_b-t2"}, []string{page.Turns[0].ID, page.Turns[1].ID})
	require.Equal(t, 2, *page.NextBefore)
	require.Contains(t, got.raw, `"tools":[]`)

	page = result[api.TurnPage](t, h.do(call{method: "GET", path: participantsPath + "/conv_b/turns?limit=2&before=2"}))
	require.Len(t, page.Turns, 1)
	require.Nil(t, page.NextBefore)
	require.Equal(t, models.TurnQuery{ParticipantID: "conv_b", Before: 2, Limit: 3}, h.past.queries[1])

	got = h.do(call{method: "GET", path: participantsPath + "/conv_b/turns/3"})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	turn := result[api.Turn](t, got)
	require.Equal(t, "conv_b-t3", turn.Turn.ID)
	require.Equal(t, []api.Text{{Kind: models.KindMessage, Text: "Hello", At: testNow}}, turn.In)
	require.Equal(t, "Hi", turn.Rounds[0].Text)

	h.refused(call{method: "GET", path: participantsPath + "/conv_b/turns/4"}, http.StatusNotFound, "participant or turn not found")
	h.refused(call{method: "GET", path: participantsPath + "/conv_a/turns"}, http.StatusNotFound, "participant not found")
	for _, bad := range []string{"/turns?limit=0", "/turns?limit=201", "/turns?before=x", "/turns/last", "/turns/-1"} {
		h.refused(call{method: "GET", path: participantsPath + "/conv_b" + bad}, http.StatusBadRequest, "")
	}
}

// The ledger is shown for people who were removed too; what is remembered is not.
func TestLedgerAndMemoryRoutes(t *testing.T) {
	h := start(t, nil)
	for _, id := range []string{"conv_a", "conv_b"} {
		got := h.do(call{method: "GET", path: participantsPath + "/" + id + "/consents"})
		require.Equal(t, http.StatusOK, got.status, got.raw)
		require.Equal(t, []api.Consent{
			{Action: models.ConsentOptOut, Method: models.MethodKeyword, At: testNow, Actor: "participant", Text: "STOP"},
		}, result[[]api.Consent](t, got))
	}
	h.refused(call{method: "GET", path: participantsPath + "/conv_x/consents"}, http.StatusNotFound, "participant not found")

	memory := result[api.Memory](t, h.do(call{method: "GET", path: participantsPath + "/conv_b/memories"}))
	require.Equal(t, []api.FactVersion{{Version: 1, Text: "One walk", At: testNow}}, memory.Facts[0].Before)
	require.Empty(t, memory.Facts[1].Before)
	h.refused(call{method: "GET", path: participantsPath + "/conv_a/memories"}, http.StatusNotFound, "participant not found")
}

func TestExportRoute(t *testing.T) {
	h := start(t, nil)
	const export = "/memory/export"
	_, err := h.rows.Enroll(t.Context(), models.Participant{ID: "conv_b", Phone: herNumber, Timezone: "UTC", EnrolledAt: testNow}, auth.Operator)
	require.NoError(t, err)
	h.addRows(&models.Profile{ParticipantID: "conv_b", HabitDomain: "walking"})
	got := h.do(call{method: "GET", path: participantsPath + "/conv_b" + export})
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, "application/zip", got.header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="memory.zip"`, got.header.Get("Content-Disposition"))
	archive, err := zip.NewReader(strings.NewReader(got.raw), int64(len(got.raw)))
	require.NoError(t, err)
	file, err := archive.Open("MEMORY.md")
	require.NoError(t, err)
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "Two walks")
	require.Contains(t, string(text), "One walk")
	require.Contains(t, string(text), "walking")
	h.refused(call{method: "GET", path: participantsPath + "/conv_a" + export}, http.StatusNotFound, "participant not found")
	h.refused(call{method: "GET", path: participantsPath + "/conv_b" + export, header: map[string]string{"Authorization": ""}}, http.StatusUnauthorized, "bearer token")
	h.past.down = errDown
	h.refused(call{method: "GET", path: participantsPath + "/conv_b" + export}, http.StatusServiceUnavailable, "try again later")
}

func TestForgetRoutes(t *testing.T) {
	h := start(t, nil)
	got := h.do(call{method: "DELETE", path: participantsPath + "/conv_b/memories/f2"})
	require.Equal(t, api.Forgotten{Facts: 1}, result[api.Forgotten](t, got))
	got = h.do(call{method: "DELETE", path: participantsPath + "/conv_a/memories"})
	require.Equal(t, api.Forgotten{Facts: 2}, result[api.Forgotten](t, got))
	require.Equal(t, []models.Forgetting{
		{ParticipantID: "conv_b", FactID: "f2", Actor: "operator", At: testNow}, {ParticipantID: "conv_a", Actor: "operator", At: testNow},
	}, h.past.forgets)

	h.refused(call{method: "DELETE", path: participantsPath + "/conv_b/memories/f9"}, http.StatusNotFound, "participant or fact not found")
	h.refused(call{method: "DELETE", path: participantsPath + "/conv_b/memories/everything"}, http.StatusBadRequest, "fact")
	h.refused(call{method: "DELETE", path: participantsPath + "/conv_x/memories"}, http.StatusNotFound, "participant not found")
	h.past.down = errDown
	refused := h.refused(call{method: "DELETE", path: participantsPath + "/conv_b/memories"}, http.StatusServiceUnavailable, "try again later")
	require.NotContains(t, refused.raw, errDown.Error())

	got = h.refused(call{method: "GET", path: participantsPath + "/conv_b/consents", header: map[string]string{"Authorization": ""}}, http.StatusUnauthorized, "bearer token")
	require.NotContains(t, got.raw, "STOP")
	_, err := New(t.Context(), Config{Store: h.rows, Temporal: h.engine, Carrier: CarrierConfig{Verifier: signed{}}})
	require.ErrorContains(t, err, "starter needs a store, turns, a memory")
}
