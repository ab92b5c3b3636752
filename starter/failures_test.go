package starter

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
)

func TestFailuresAreComplete(t *testing.T) {
	h := startWithAccess(t, nil)
	for _, c := range []struct {
		call        call
		status      int
		code, field string
	}{
		{call{method: "GET", path: participantsPath + "?limit=0"}, 400, "bad_request", "limit"},
		{call{method: "GET", path: participantsPath + "?lim=1"}, 400, "bad_request", "lim"},
		{call{method: "POST", path: participantsPath, body: `{"phone_number":"x"}`}, 400, "bad_request", "phone_number"},
		{call{method: "POST", path: participantsPath, body: `{`}, 400, "bad_request", "body"},
		{call{method: "GET", path: participantsPath + "/none"}, 404, "not_found", ""},
		{call{method: "GET", path: "/none"}, 404, "not_found", ""},
		{call{method: "DELETE", path: participantsPath}, 405, "method_not_allowed", ""},
		{call{method: "PUT", path: participantsPath + "/conv_1", body: `{"name":"Ida"}`, header: map[string]string{"If-Match": `"9"`}}, 412, "changed_meanwhile", "If-Match"},
		{withToken(call{method: "GET", path: participantsPath}, "wrong"), 401, "unauthorized", ""},
		{call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": ""}}, 401, "unauthorized", ""},
	} {
		got := h.do(c.call)
		require.Equal(t, c.status, got.status, got.raw)
		var failure api.Failure
		require.NoError(t, json.Unmarshal([]byte(got.raw), &failure))
		require.Equal(t, "error", failure.Status)
		require.Equal(t, c.code, failure.Code, got.raw)
		require.Equal(t, c.field, failure.Field, got.raw)
		require.NotEmpty(t, failure.RequestID)
		require.Equal(t, got.header.Get(requestHeader), failure.RequestID)
		require.Equal(t, apiVersion, got.header.Get(versionHeader))
	}
	require.Equal(t, apiVersion, h.do(call{method: "GET", path: "/self"}).header.Get(versionHeader))
}

func TestProblemDetails(t *testing.T) {
	h := startWithAccess(t, nil)
	c := call{method: "GET", path: participantsPath + "/none", header: map[string]string{"Accept": problemType}}
	res, err := http.DefaultClient.Do(h.request(c))
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	require.Equal(t, problemType, res.Header.Get("Content-Type"))
	var problem api.Problem
	require.NoError(t, json.NewDecoder(res.Body).Decode(&problem))
	require.Equal(t, api.Problem{
		Type: "about:blank", Title: "Not Found", Status: 404, Detail: "participant not found", Code: "not_found", RequestID: res.Header.Get(requestHeader),
	}, problem)
}

func TestKnownVersionIsNotSentAgain(t *testing.T) {
	h := startWithAccess(t, nil)
	one := call{method: "GET", path: participantsPath + "/conv_1"}
	tag := h.do(one).header.Get("ETag")
	require.NotEmpty(t, tag)
	read := func(tag string) int {
		one.header = map[string]string{"If-None-Match": tag}
		res, err := http.DefaultClient.Do(h.request(one))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusNotModified, read(tag))
	require.Equal(t, http.StatusOK, read(`"0"`))
}

func TestCreatedThingsHaveALocation(t *testing.T) {
	h := startWithAccess(t, nil)
	for _, c := range []call{
		{path: participantsPath, body: `{"phone_number":"+12025550123"}`},
		{path: usersPath, body: `{"login":"ida","name":"Ida","role":"coach","password":"correct horse battery"}`},
		{path: tokensPath, body: `{"name":"x","scopes":["user:read"],"expires_at":"2026-11-25T00:00:00Z"}`},
		{path: holdsPath, body: `{"until":"2026-11-25T00:00:00Z"}`},
	} {
		c.method = "POST"
		got := h.do(c)
		require.Equal(t, http.StatusCreated, got.status, got.raw)
		at := got.header.Get("Location")
		require.Regexp(t, "^"+c.path+"/[a-z0-9_]+$", at)
	}
	require.Empty(t, h.do(call{method: "GET", path: participantsPath + "/conv_1"}).header.Get("Location"))
}
