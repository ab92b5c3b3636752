package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

func (h *harness) views(secret string) (names []string) {
	h.t.Helper()
	c := call{method: "GET", path: "/views"}
	if secret != "" {
		c = withToken(c, secret)
	}
	for _, v := range result[api.PeopleViewList](h.t, h.do(c)).Views {
		names = append(names, v.Name)
	}
	return names
}

// A view is filters of GET /people under a name: its owner and, where it is shared,
// everybody gets it; its owner removes it, and who may change users.
func TestViewsRoute(t *testing.T) {
	h := startWithPeople(t)
	_, secret := h.token(auth.ParticipantRead)
	add := func(body string) call { return call{method: "POST", path: "/views", body: body} }

	got := h.do(add(`{"name":" Crises ","query":"sort=silent&attention=crisis,flood&silent_days="}`))
	require.Equal(t, http.StatusCreated, got.status, got.raw)
	saved := result[models.PeopleView](t, got)
	require.Equal(t, []any{"Crises", "attention=crisis%2Cflood&sort=silent", auth.Operator, false}, []any{saved.Name, saved.Query, saved.Owner, saved.Shared})
	require.Equal(t, []string{"conv_1"}, h.people("?"+saved.Query))
	require.Equal(t, http.StatusCreated, h.do(withToken(add(`{"name":"Silent","query":"silent_days=3","shared":true}`), secret)).status)
	require.Equal(t, http.StatusCreated, h.do(withToken(add(`{"name":"Mine","query":"waiting=true"}`), secret)).status)
	require.Equal(t, []string{"Crises", "Silent"}, h.views(""))
	require.Equal(t, []string{"Mine", "Silent"}, h.views(secret))

	h.refused(add(`{"name":"Crises","query":"waiting=true"}`), http.StatusConflict, "name: is taken by another view of yours")
	remove := call{method: "DELETE", path: "/views/1"}
	h.refused(withToken(remove, secret), http.StatusNotFound, "a view of yours not found")
	require.Equal(t, http.StatusOK, h.do(remove).status)
	require.Equal(t, http.StatusOK, h.do(call{method: "DELETE", path: "/views/2"}).status, "an administrator removes any")
	require.Empty(t, h.views(""))
	_, other := h.token(auth.HoldRead)
	h.refused(withToken(call{method: "GET", path: "/views"}, other), http.StatusForbidden, "participant:read is needed")
}

// What is personal does not go into a view, nor does what GET /people would refuse.
func TestViewsRefuse(t *testing.T) {
	h := startWithPeople(t)
	for query, message := range map[string]string{
		"name=ada":                      "query: a view cannot filter by name",
		"phone=%2B15558675310":          "query: a view cannot filter by phone",
		"cursor=1.conv_1":               "query: a view cannot filter by cursor",
		"due_from=2026-11-24T13:00:00Z": "query: a view cannot filter by due_from",
		"status=asleep":                 "query: status has no value",
		"attention=crisis,hunger":       "query: attention has no value",
		"silent_days=0":                 "query: silent_days has no value",
		"waiting=yes":                   "query: waiting has no value",
		"sort=age":                      "query: sort has no value",
		"status=%zz":                    "query: is not valid",
		"status=":                       "query: must hold at least one filter",
	} {
		h.refused(call{method: "POST", path: "/views", body: `{"name":"x","query":"` + query + `"}`}, http.StatusBadRequest, message)
	}
	h.refused(call{method: "POST", path: "/views", body: `{"name":" ","query":"waiting=true"}`}, http.StatusBadRequest, "name: must not be blank")
	require.Empty(t, h.views(""))
}
