package starter

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// startWithAccess serves a real store that also keeps users, tokens and the audit.
func startWithAccess(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	h, rows := startWithStore(t, change)
	_, err := rows.People.Enroll(t.Context(), models.Participant{
		ID: "conv_1", Phone: herNumber, PersonTexts: models.PersonTexts[string]{Name: "Ada"}, Timezone: "UTC", EnrolledAt: testNow,
	}, auth.Operator)
	require.NoError(t, err)
	return h
}

// token makes an API token and returns its secret.
func (h *harness) token(scopes ...auth.Permission) (models.Token, string) {
	h.t.Helper()
	body, err := json.Marshal(map[string]any{"name": "script", "scopes": scopes, "expires_at": testNow.Add(time.Hour)})
	require.NoError(h.t, err)
	made := result[api.CreatedToken](h.t, h.do(call{method: "POST", path: tokensPath, body: string(body)}))
	return made.Token, made.Secret
}

func withToken(c call, secret string) call {
	header := map[string]string{"Authorization": "Bearer " + secret}
	for name, value := range c.header {
		header[name] = value
	}
	c.header = header
	return c
}

// TestEveryOperationIsDescribed: a route whose metadata names no permission would
// be closed to everybody, and one without a tag is not found in the document.
func TestEveryOperationIsDescribed(t *testing.T) {
	h := startWithAccess(t, nil)
	open := []string{"/livez", "/readyz", "/version", "/metrics", "/openapi.json", inboundPath, statusPath}
	checked := 0
	for path, item := range h.document().paths {
		for method, raw := range item.(map[string]any) {
			op := raw.(map[string]any)
			name := method + " " + path
			require.Len(t, op["tags"], 1, name)
			require.NotEmpty(t, op["description"], name)
			security := op["security"].([]any)
			if slices.Contains(open, path) {
				require.Equal(t, []any{map[string]any{}}, security, name)
				continue
			}
			needs, _ := op["x-permission"].(string)
			require.True(t, needs == string(anyCaller) || slices.Contains(auth.Permissions(), auth.Permission(needs)), "%s needs %q", name, needs)
			require.Equal(t, []any{map[string]any{"bearer": []any{}}}, security, name)
			checked++
		}
	}
	require.Greater(t, checked, 30)
}

func TestTokensHaveScopesAndEnd(t *testing.T) {
	now := testNow
	h := startWithAccess(t, func(cfg *Config) { cfg.Now = func() time.Time { return now } })
	made, secret := h.token(auth.ParticipantRead)
	one := call{method: "GET", path: participantsPath + "/conv_1"}

	got := result[api.Participant](t, h.do(withToken(one, secret)))
	require.Equal(t, "conv_1", got.ID)
	require.Empty(t, got.Name, "a token without personal:read sees pseudonyms")
	require.Empty(t, got.Phone)
	h.refused(withToken(call{method: "GET", path: participantsPath + "/conv_1/history"}, secret), http.StatusForbidden, "permission personal:read is needed")
	h.refused(withToken(call{method: "GET", path: usersPath}, secret), http.StatusForbidden, "permission user:read is needed")
	h.refused(withToken(one, secret+"x"), http.StatusUnauthorized, "a valid bearer token is required")
	self := result[api.Self](t, h.do(withToken(call{method: "GET", path: "/self"}, secret)))
	require.Equal(t, []string{"participant:read"}, self.Permissions)
	require.Equal(t, "token:script", self.Actor)

	list := result[api.TokenList](t, h.do(call{method: "GET", path: tokensPath})).Tokens
	require.Len(t, list, 1)
	require.Equal(t, &testNow, list[0].LastUsedAt)
	require.NotContains(t, h.do(call{method: "GET", path: tokensPath}).raw, secret)

	now = testNow.Add(2 * time.Hour)
	h.refused(withToken(one, secret), http.StatusUnauthorized, "a valid bearer token is required")
	now = testNow
	h.do(call{method: "DELETE", path: tokensPath + "/" + made.ID})
	h.refused(withToken(one, secret), http.StatusUnauthorized, "a valid bearer token is required")
	h.refused(call{method: "DELETE", path: tokensPath + "/tok_none"}, http.StatusNotFound, "token not found")
	h.refused(call{method: "POST", path: tokensPath, body: `{"name":"x","scopes":["all"],"expires_at":"2026-11-25T00:00:00Z"}`},
		http.StatusBadRequest, `scopes: "all" is no permission`)
	h.refused(call{method: "POST", path: tokensPath, body: `{"name":"x","scopes":["user:read"],"expires_at":"2029-11-25T00:00:00Z"}`},
		http.StatusBadRequest, "expires_at: must be at most 366 days")
}

func TestUsers(t *testing.T) {
	h := startWithAccess(t, nil)
	create := func(login, role, password string) call {
		return call{method: "POST", path: usersPath, body: `{"login":"` + login + `","name":"Eve","role":"` + role + `","password":"` + password + `"}`}
	}
	eve := result[models.User](t, h.do(create("Eve@Example.org", "admin", "correct horse battery")))
	require.Equal(t, "eve@example.org", eve.Login)
	require.True(t, eve.HasPassword)
	h.refused(create("eve@example.org", "coach", "correct horse battery"), http.StatusConflict, "already exists")
	h.refused(create("ida", "owner", "correct horse battery"), http.StatusBadRequest, "role: must be one of")
	h.refused(create("ida", "coach", "short"), http.StatusBadRequest, "password: must have at least 12 characters")
	h.refused(create("ida", "coach", ""), http.StatusBadRequest, "password: is required unless subject is given, or people sign in at a provider (COACH_OIDC_ISSUER)")

	change := func(id, body string) call { return call{method: "PUT", path: usersPath + "/" + id, body: body} }
	h.refused(change(eve.ID, `{"role":"coach"}`), http.StatusBadRequest, "role: is the last enabled user with role admin")
	h.refused(change(eve.ID, `{"disabled":true}`), http.StatusBadRequest, "role: is the last enabled user with role admin")
	h.refused(change("usr_none", `{"role":"coach"}`), http.StatusNotFound, "user not found")
	ida := result[models.User](t, h.do(create("ida", "admin", "correct horse battery")))
	require.True(t, result[models.User](t, h.do(change(eve.ID, `{"disabled":true}`))).Disabled)
	require.Equal(t, "Ida", result[models.User](t, h.do(change(ida.ID, `{"name":"Ida"}`))).Name)
	require.NotContains(t, h.do(call{method: "GET", path: usersPath}).raw, "argon2")
	require.Len(t, result[api.UserList](t, h.do(call{method: "GET", path: usersPath})).Users, 2)
}

// Who signs in at a provider needs no password, and has none until one is set.
func TestUsersOfAProviderNeedNoPassword(t *testing.T) {
	h := startWithAccess(t, func(cfg *Config) { cfg.HTTP.Provider.Issuer = "https://id.example.org" })
	for login, rest := range map[string]string{"eve@example.org": "", "ida@example.org": `,"password":""`, "kim@example.org": `,"subject":"s-7"`} {
		one := h.do(call{method: "POST", path: usersPath, body: `{"login":"` + login + `","name":"Eve","role":"admin"` + rest + `}`})
		require.Equal(t, http.StatusCreated, one.status, one.raw)
		made := result[models.User](t, one)
		require.Equal(t, login, made.Login)
		require.False(t, made.HasPassword)
		row, err := h.rows.Users.UserByLogin(t.Context(), login)
		require.NoError(t, err)
		require.Empty(t, row.PasswordHash, "no password signs this user in, an empty one neither")
		require.False(t, auth.CheckPassword("", row.PasswordHash))
	}
	h.refused(call{method: "POST", path: usersPath, body: `{"login":"ann","name":"Ann","role":"coach","password":"short"}`},
		http.StatusBadRequest, "password: must have at least 12 characters")
}

func TestAuditNamesActorReasonAndRequest(t *testing.T) {
	h := startWithAccess(t, nil)
	_, secret := h.token(auth.ParticipantChange, auth.AuditRead)
	c := withToken(call{method: "PUT", path: participantsPath + "/conv_1", body: `{"name":"Ida"}`}, secret)
	c.header[reasonHeader] = "she married"
	answer := h.do(c)
	require.Equal(t, http.StatusOK, answer.status, answer.raw)

	rows := result[api.AuditPage](t, h.do(call{method: "GET", path: auditPath + "?participant_id=conv_1&action=update"})).Rows
	require.Len(t, rows, 1)
	require.Equal(t, "token:script", rows[0].Actor)
	require.Equal(t, "she married", rows[0].Reason)
	require.Equal(t, answer.header.Get(requestHeader), rows[0].RequestID)
	require.Equal(t, "127.0.0.1", rows[0].Address)
	require.Equal(t, map[string]string{"name": "Ada"}, rows[0].Before)
	require.Equal(t, map[string]string{"name": "Ida"}, rows[0].After)

	hidden := result[api.AuditPage](t, h.do(withToken(call{method: "GET", path: auditPath + "?action=update"}, secret))).Rows[0]
	require.Empty(t, hidden.Reason)
	require.Empty(t, hidden.After)
	chain := result[models.AuditChain](t, h.do(call{method: "GET", path: auditPath + "/chain"}))
	require.True(t, chain.OK)
	require.GreaterOrEqual(t, chain.Rows, int64(3))

	first := result[api.AuditPage](t, h.do(call{method: "GET", path: auditPath + "?limit=1"}))
	require.NotNil(t, first.NextCursor)
	second := result[api.AuditPage](t, h.do(call{method: "GET", path: auditPath + "?limit=200&cursor=" + *first.NextCursor}))
	require.Nil(t, second.NextCursor)
	require.Len(t, second.Rows, int(chain.Rows)-1)
}

func TestTokensHaveARate(t *testing.T) {
	now := testNow
	h := startWithAccess(t, func(cfg *Config) { cfg.Now = func() time.Time { return now } })
	_, secret := h.token(auth.ParticipantRead)
	one := withToken(call{method: "GET", path: participantsPath + "/conv_1"}, secret)
	for left := requestBurst - 1; left >= 0; left-- {
		got := h.do(one)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, strconv.Itoa(left), got.header.Get("RateLimit-Remaining"))
	}
	refused := h.do(one)
	require.Equal(t, http.StatusTooManyRequests, refused.status)
	require.Equal(t, "1", refused.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath + "/conv_1"}).status, "others are not held up")
	now = now.Add(requestEvery)
	require.Equal(t, http.StatusOK, h.do(one).status)
}

// TestStreamsEndWithTheServer: an open page does not hold up the end of the
// server.
func TestStreamsEndWithTheServer(t *testing.T) {
	h, rows := startWithStore(t, func(cfg *Config) {
		cfg.HTTP.APIToken = ""
		cfg.Changes = store.NewChanges(cfg.Store, time.Now)
	})
	require.NotNil(t, rows)
	res, err := http.Get("http://" + h.server.Addr() + "/console/live?of=*")
	require.NoError(t, err)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	defer func() { require.NoError(t, res.Body.Close()) }()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, res.Body)
		ended <- err
	}()
	h.stop()
	require.NoError(t, <-ended)
}
