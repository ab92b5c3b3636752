package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnknownQueryParameters: every route refuses a parameter that it does not
// have, by one mechanism.
func TestUnknownQueryParameters(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	one := participantsPath + "/" + ann.ID
	for _, tc := range []struct{ method, path, want string }{
		{"GET", participantsPath + "?statsu=active", "statsu: unknown query parameter; this route has attention, cursor, limit, status, taken_over, waiting"},
		{"GET", participantsPath + "?limit=1&offset=2", "offset: unknown query parameter"},
		{"POST", participantsPath + "?dry_run=true", "dry_run: unknown query parameter; this route has none"},
		{"GET", one + "?full=1", "full: unknown query parameter"},
		{"PUT", one + "?force=1", "force: unknown query parameter"},
		{"DELETE", one + "?force=1", "force: unknown query parameter"},
		{"GET", one + "/history?befor=2026-11-24T13:00:00Z", "befor: unknown query parameter; this route has after, before, limit"},
		{"GET", one + "/state?a=1", "a: unknown query parameter"},
		{"GET", one + "/turns?page=2", "page: unknown query parameter; this route has before, limit"},
		{"GET", one + "/memory/export?format=json", "format: unknown query parameter"},
		{"POST", "/holds?a=1", "a: unknown query parameter"},
		{"GET", "/livez?a=1", "a: unknown query parameter"},
		{"GET", "/version?a=1", "a: unknown query parameter"},
		{"GET", "/openapi.json?a=1", "a: unknown query parameter"},
		{"GET", "/version?%zz", "query: is not valid"},
		{"GET", "/version?%0Aevil%C3%A4", "evil: unknown query parameter"},
	} {
		body := ""
		if tc.method == "POST" || tc.method == "PUT" {
			body = "{}"
		}
		h.refused(call{method: tc.method, path: tc.path, body: body}, http.StatusBadRequest, tc.want)
	}
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: one}).status, "nothing was done")
}
