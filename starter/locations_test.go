package starter

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Location of a 201 has a route that reads it.
func TestLocationsHaveRoutes(t *testing.T) {
	h := startWithAccess(t, nil)
	paths := h.document().paths
	found := 0
	for path, item := range paths {
		for _, method := range []string{"post", "put"} {
			op, _ := item.(map[string]any)[method].(map[string]any)
			responses, _ := op["responses"].(map[string]any)
			made, _ := responses["201"].(map[string]any)
			headers, _ := made["headers"].(map[string]any)
			if headers["Location"] == nil {
				continue
			}
			found++
			// PUT makes what its own path names, and some rows are read in their list only.
			inList := slices.Contains([]any{"add-consent-text", "record-study-consent", "allocate-participant"}, op["operationId"])
			isRead := (method == "put" || inList) && item.(map[string]any)["get"] != nil
			for other, read := range paths {
				rest, under := strings.CutPrefix(other, path+"/{")
				isRead = isRead || under && strings.HasSuffix(rest, "}") && !strings.Contains(rest, "/") && read.(map[string]any)["get"] != nil
			}
			require.True(t, isRead, "%s answers with a Location that no GET reads", op["operationId"])
		}
	}
	require.GreaterOrEqual(t, found, 6)
}

// What was created is found at its Location, with an ETag; an unknown one is a 404.
func TestLocationsAreRead(t *testing.T) {
	h := startWithAccess(t, nil)
	for _, tt := range []struct{ path, body, unknown, message string }{
		{usersPath, `{"login":"ada","name":"Ada","role":"coach","password":"a long enough password"}`, "/usr_0", "user not found"},
		{tokensPath, `{"name":"ci","scopes":["participant:read"],"expires_at":"2026-12-24T13:00:00Z"}`, "/tok_0", "token not found"},
		{holdsPath, `{"until":"2026-11-25T13:00:00Z"}`, "/99", "hold not found"},
		{viewsPath, `{"name":"Silent","query":"silent_days=3"}`, "/99", "view not found"},
		{participantsPath, `{"phone_number":"+12025550123"}`, "/conv_0", "participant not found"},
	} {
		made := h.do(call{method: "POST", path: tt.path, body: tt.body})
		require.Equal(t, http.StatusCreated, made.status, made.raw)
		read := h.do(call{method: "GET", path: made.header.Get("Location")})
		require.Equal(t, http.StatusOK, read.status, read.raw)
		require.NotEmpty(t, read.header.Get("ETag"))
		require.NotContains(t, read.raw, "secret")
		same := h.do(call{method: "GET", path: made.header.Get("Location"), header: map[string]string{"If-None-Match": read.header.Get("ETag")}})
		require.Equal(t, http.StatusNotModified, same.status)
		h.refused(call{method: "GET", path: tt.path + tt.unknown}, http.StatusNotFound, tt.message)
	}
}
