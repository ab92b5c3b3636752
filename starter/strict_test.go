package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What would be read as something else than it says is refused, with what to do.
func TestStrictRequests(t *testing.T) {
	h := start(t, nil)
	one := participantsPath + "/" + h.ann().ID
	for _, tt := range []struct {
		call   call
		status int
		says   string
	}{
		{call{method: "PUT", path: one, body: `{"name":null}`}, http.StatusBadRequest, "name is null; leave it out, or clear it with PATCH"},
		{call{method: "PUT", path: one, body: `{}`}, http.StatusOK, "Nothing was changed"},
		{call{method: "PATCH", path: one, body: `{}`, header: map[string]string{"Content-Type": mergePatchType}}, http.StatusOK, "Nothing was changed"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Type": "APPLICATION/JSON"}}, http.StatusOK, "Participant updated"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Type": "Application/Json; charset=utf-8"}}, http.StatusOK, "Participant updated"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Encoding": "gzip"}}, http.StatusUnsupportedMediaType, "Content-Encoding"},
		{call{method: "PUT", path: one, body: `{"name":"Ann"}`, header: map[string]string{"Content-Encoding": "Identity"}}, http.StatusOK, "Participant updated"},
		{call{method: "GET", path: participantsPath + "?limit="}, http.StatusBadRequest, "limit: must not be empty"},
		{call{method: "GET", path: "/people?due_from="}, http.StatusBadRequest, "due_from: must not be empty"},
		{call{method: "GET", path: "/people?unreachable="}, http.StatusBadRequest, "unreachable: must not be empty"},
		{call{method: "GET", path: "/people?name="}, http.StatusOK, ""},
	} {
		t.Run(tt.call.method+" "+tt.call.path+" "+tt.call.body, func(t *testing.T) {
			got := h.do(tt.call)
			require.Equal(t, tt.status, got.status, got.raw)
			require.Contains(t, got.raw, tt.says)
		})
	}
}
