package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// startWithPeople serves a store with Ada, who is in crisis, and Ben and Cleo.
func startWithPeople(t *testing.T) *harness {
	t.Helper()
	h := startWithAccess(t, nil)
	rows := h.rows
	for id, p := range map[string]models.Participant{
		"conv_2": {Phone: "+15558675311", PersonTexts: models.PersonTexts[string]{Name: "Ben Adams"}}, "conv_3": {Phone: "+15558675312", PersonTexts: models.PersonTexts[string]{Name: "Cleo"}},
	} {
		p.ID, p.Timezone, p.EnrolledAt = id, "UTC", testNow.Add(-4*day)
		_, err := rows.People.Enroll(t.Context(), p, auth.Operator)
		require.NoError(t, err)
	}
	_, err := rows.Attention.RaiseAttention(t.Context(), models.AttentionEntry{ParticipantID: "conv_1", Kind: wire.AttentionCrisis, RaisedAt: testNow})
	require.NoError(t, err)
	return h
}

func (h *harness) people(query string) (ids []string) {
	h.t.Helper()
	for _, p := range result[api.PeoplePage](h.t, h.do(call{method: "GET", path: "/people" + query})).People {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestPeopleRoute(t *testing.T) {
	h := startWithPeople(t)
	require.Equal(t, []string{"conv_1", "conv_3", "conv_2"}, h.people(""))
	require.Equal(t, []string{"conv_1", "conv_2", "conv_3"}, h.people("?sort=name"))
	require.Equal(t, []string{"conv_1", "conv_2"}, h.people("?name=ada&sort=name"))
	require.Equal(t, []string{"conv_2"}, h.people("?phone=(555)%20867-5311"))
	require.Equal(t, []string{"conv_2", "conv_3"}, h.people("?silent_days=3&sort=silent"))
	require.Equal(t, []string{"conv_1"}, h.people("?attention=crisis&status=active"))
	require.Equal(t, []string{"conv_1"}, h.people("?attention=flood,crisis"))
	require.Empty(t, h.people("?attention=flood,send"))
	require.Empty(t, h.people("?taken_over=true"))
	taken := call{method: "POST", path: "/conversation/participants/conv_3/takeover", body: `{"note":"I call her"}`}
	require.Equal(t, http.StatusOK, h.do(taken).status)
	require.Equal(t, []string{"conv_3"}, h.people("?taken_over=true"))
	require.Equal(t, []string{"conv_3"}, h.people("?taken_over_by=operator"))
	require.Empty(t, h.people("?taken_over_by=alert"))
	row := result[api.PeoplePage](t, h.do(call{method: "GET", path: "/people?name=cleo"})).People[0]
	require.Equal(t, &api.TakeOver{By: auth.Operator, Since: testNow, Until: testNow.Add(models.TakeOverDefault)}, row.TakenOver)
	require.Empty(t, h.people("?waiting=true"))
	require.Empty(t, h.people("?unreachable=true"))
	require.Empty(t, h.people("?due_from=2026-11-24T13:00:00Z&due_until=2026-11-24T14:00:00Z"))

	first := result[api.PeoplePage](t, h.do(call{method: "GET", path: "/people?limit=2"}))
	require.NotNil(t, first.NextCursor)
	require.Equal(t, "Ada", first.People[0].Name)
	last := result[api.PeoplePage](t, h.do(call{method: "GET", path: "/people?limit=2&cursor=" + *first.NextCursor}))
	require.Nil(t, last.NextCursor)
	require.Equal(t, "conv_2", last.People[0].ID)

	for query, message := range map[string]string{
		"?names=x":                        "names: unknown query parameter",
		"?sort=age":                       "sort: must be one of",
		"?attention=crisis,hunger":        "attention[1]: must be one of",
		"?cursor=x":                       "cursor: must be next_cursor",
		"?phone=12":                       "phone",
		"?silent_days=0":                  "silent_days",
		"?due_from=2026-11-24T13:00:00Z":  "due_from and due_until go together",
		"?due_until=2026-11-24T13:00:00Z": "due_from and due_until go together",
	} {
		h.refused(call{method: "GET", path: "/people" + query}, http.StatusBadRequest, message)
	}
}

// TestPseudonymsOnly: without personal:read no list holds a name or a number, and
// none can be found out by searching for it.
func TestPseudonymsOnly(t *testing.T) {
	h := startWithPeople(t)
	_, secret := h.token(auth.ParticipantRead, auth.AttentionRead)
	for _, path := range []string{"/people", "/people?sort=silent", "/today", "/attention"} {
		got := h.do(withToken(call{method: "GET", path: path}, secret))
		require.Equal(t, http.StatusOK, got.status)
		require.Contains(t, got.raw, "conv_1", path)
		require.NotContains(t, got.raw, "Ada", path)
		require.NotContains(t, got.raw, "5558675", path)
	}
	for _, query := range []string{"?name=ada", "?phone=%2B15558675310", "?sort=name"} {
		h.refused(withToken(call{method: "GET", path: "/people" + query}, secret), http.StatusForbidden, "permission personal:read is needed")
	}
	_, other := h.token(auth.HoldRead)
	h.refused(withToken(call{method: "GET", path: "/people"}, other), http.StatusForbidden, "participant:read is needed")
	h.refused(withToken(call{method: "GET", path: "/today"}, other), http.StatusForbidden, "attention:read is needed")
}

func TestTodayRoute(t *testing.T) {
	h := startWithPeople(t)
	today := result[api.Today](t, h.do(call{method: "GET", path: "/today"}))
	require.Equal(t, 3, today.People)
	require.Equal(t, []int{2, 3}, []int{today.Silent, today.SilentDays})
	require.Len(t, today.Crises, 1)
	require.Equal(t, "Ada", today.Crises[0].Name)
	require.Equal(t, testNow, today.Crises[0].Since)
	require.Nil(t, today.Crises[0].TakenOver)
	taken := call{method: "POST", path: "/conversation/participants/conv_1/takeover", body: `{}`}
	require.Equal(t, http.StatusOK, h.do(taken).status)
	today = result[api.Today](t, h.do(call{method: "GET", path: "/today"}))
	require.Equal(t, auth.Operator, today.Crises[0].TakenOver.By)
	require.Equal(t, api.AttentionCount{Kind: wire.AttentionCrisis, People: 1}, today.Attention[0])
	require.Empty(t, today.SenderHolds)
	require.Len(t, today.Hours, 24)
	require.Equal(t, testNow.Add(23*time.Hour), today.Hours[23].From)
}
