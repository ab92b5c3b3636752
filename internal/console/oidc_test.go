package console_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"coachline/internal/auth"
	"coachline/internal/console"
	"coachline/models"
	"coachline/starter"
)

// provider is a small OpenID Connect provider. It signs in at once whom the test
// names.
type provider struct {
	t      *testing.T
	server *httptest.Server
	key    *rsa.PrivateKey
	// claims are of the next token; change replaces some of them.
	claims, change map[string]any
	// info is what UserInfo says; nil where the provider has none.
	info      map[string]any
	challenge string
	down      bool
	// curve signs in the place of key, once it is set.
	curve *ecdsa.PrivateKey
	// asked counts requests for the document; they wait for hang where that is set.
	asked atomic.Int32
	hang  chan struct{}
}

func startProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &provider{t: t, key: key}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	base := p.server.URL
	switch {
	case p.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/.well-known/openid-configuration":
		p.asked.Add(1)
		if p.hang != nil {
			<-p.hang
		}
		_, algorithm := p.signingKey()
		document := map[string]any{
			"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "jwks_uri": base + "/keys",
			"id_token_signing_alg_values_supported": []jose.SignatureAlgorithm{algorithm}, "end_session_endpoint": base + "/end",
		}
		if p.info != nil {
			document["userinfo_endpoint"] = base + "/me"
		}
		_ = json.NewEncoder(w).Encode(document)
	case r.URL.Path == "/keys":
		key, algorithm := p.signingKey()
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: string(algorithm), Algorithm: string(algorithm), Use: "sig"}}})
	case r.URL.Path == "/me" && r.Header.Get("Authorization") == "Bearer a":
		_ = json.NewEncoder(w).Encode(p.info)
	case r.URL.Path == "/token":
		p.redeem(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *provider) signingKey() (crypto.Signer, jose.SignatureAlgorithm) {
	if p.curve != nil {
		return p.curve, jose.ES256
	}
	return p.key, jose.RS256
}

func (p *provider) redeem(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id != "coach" || secret != "s3cret" || r.PostFormValue("code") != "code-1" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	key, algorithm := p.signingKey()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: string(algorithm)}}, nil)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	claims := maps.Clone(p.claims)
	maps.Copy(claims, p.change)
	raw, _ := json.Marshal(claims)
	signed, err := signer.Sign(raw)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	token, _ := signed.CompactSerialize()
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": token})
}

// approve is what the provider does when the browser comes: it remembers the
// challenge and sends the browser back. The claims are of the person.
func (p *provider) approve(location string, claims map[string]any) url.Values {
	p.t.Helper()
	u, err := url.Parse(location)
	require.NoError(p.t, err)
	query := u.Query()
	require.Equal(p.t, "S256", query.Get("code_challenge_method"))
	require.Equal(p.t, "http://coach.test/console/oidc/callback", query.Get("redirect_uri"))
	p.challenge = query.Get("code_challenge")
	p.claims = map[string]any{
		"iss": p.server.URL, "aud": "coach", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": query.Get("nonce"),
	}
	maps.Copy(p.claims, claims)
	return url.Values{"state": {query.Get("state")}, "code": {"code-1"}}
}

func startWithProvider(t *testing.T) (*world, *provider) {
	t.Helper()
	p := startProvider(t)
	w := startWorld(t, func(cfg *starter.Config) {
		cfg.HTTP.PublicURL = "http://coach.test"
		cfg.HTTP.Provider = console.Provider{Issuer: p.server.URL, ClientID: "coach", ClientSecret: "s3cret"}
	})
	return w, p
}

// signIn goes to the provider and comes back as the person of the claims.
func (p *provider) signIn(b *browser, claims map[string]any) page {
	p.t.Helper()
	began := b.get("/console/oidc/login?next=" + url.QueryEscape("/console/access"))
	require.Equal(p.t, http.StatusSeeOther, began.status, began.text)
	return b.get("/console/oidc/callback?" + p.approve(began.location, claims).Encode())
}

func TestSignInAtTheProvider(t *testing.T) {
	w, p := startWithProvider(t)
	require.Contains(t, w.open("127.0.0.1").get("/console/login").text, "Sign in at your organisation")
	ada := map[string]any{"sub": "sub-1", "email": "ada@example.org", "email_verified": true}
	eve := w.addUser("ada@example.org", auth.RoleAdmin)

	b := w.open("127.0.0.1")
	in := p.signIn(b, ada)
	require.Equal(t, "/console/access", in.location, in.text)
	require.True(t, b.isIn())
	bound, err := w.rows.Users.User(t.Context(), eve.ID)
	require.NoError(t, err)
	require.Equal(t, "sub-1", bound.Subject)
	rows, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "user_update"}})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, "user:ada@example.org", rows[0].Actor)

	// From then on the subject counts, with another address and without one.
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-1", "email": "new@example.org"}).status)
	require.Equal(t, http.StatusForbidden, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-2", "email": "ada@example.org", "email_verified": true}).status)
	require.Equal(t, http.StatusForbidden, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-3", "email": "mallory@example.org", "email_verified": true}).status)
	_, err = w.rows.Users.UpdateUser(t.Context(), models.UserUpdate{ID: eve.ID, Patch: models.UserChange{Disabled: new(true)}, Now: w.now()})
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, p.signIn(w.open("127.0.0.1"), ada).status, "disabled")
	refused, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "login_refused"}})
	require.NoError(t, err)
	require.Len(t, refused, 3)
}

// TestAddressComesFromUserInfo: with a certified provider's defaults the identity token
// has no address.
func TestAddressComesFromUserInfo(t *testing.T) {
	w, p := startWithProvider(t)
	w.addUser("ida@example.org", auth.RoleAdmin)
	token := map[string]any{"sub": "sub-1"}
	for _, info := range []map[string]any{
		{"sub": "sub-2", "email": "ida@example.org", "email_verified": true},
		{"sub": "sub-1", "email": "ida@example.org", "email_verified": false},
		{"sub": "sub-1", "email": "ida@example.org"},
	} {
		p.info = info
		require.NotEqual(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), token).status, info)
	}
	p.info = map[string]any{"sub": "sub-1", "email": "ida@example.org", "email_verified": true}
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), token).status)
}

// TestCauseIsTold: why a sign-in was refused stands in the audit, and what to do on the
// page, from which the next try leads where the first one was to.
func TestCauseIsTold(t *testing.T) {
	w, p := startWithProvider(t)
	bound := w.addUser("ada@example.org", auth.RoleAdmin)
	_, err := w.rows.Users.UpdateUser(t.Context(), models.UserUpdate{ID: bound.ID, Patch: models.UserChange{Subject: new("sub-1")}, Now: w.now()})
	require.NoError(t, err)
	gone := w.addUser("gus@example.org", auth.RoleAdmin)
	_, err = w.rows.Users.UpdateUser(t.Context(), models.UserUpdate{ID: gone.ID, Patch: models.UserChange{Disabled: new(true)}, Now: w.now()})
	require.NoError(t, err)
	for cause, who := range map[string][2]any{
		"verified":        {"ada@example.org", false},
		"another subject": {"ada@example.org", true},
		"disabled":        {"gus@example.org", true},
		"no account":      {"eve@example.org", true},
	} {
		got := p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-" + cause, "email": who[0], "email_verified": who[1]})
		require.Equal(t, http.StatusForbidden, got.status, cause)
		require.Contains(t, got.text, "administrator", cause)
		require.Contains(t, got.text, `value="/console/access"`, "where the sign-in was to lead")
		rows, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "login_refused"}})
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(rows, func(row models.AuditRow) bool { return strings.Contains(row.Detail, cause) }), cause)
	}
	b := w.open("127.0.0.1")
	back := p.approve(b.get("/console/oidc/login").location, nil)
	declined := url.Values{"state": {back.Get("state")}, "error": {"access_denied"}}
	require.Contains(t, b.get("/console/oidc/callback?"+declined.Encode()).text, "cancelled")
}

// TestTwoTabsSignIn: two tabs that begin together both succeed.
func TestTwoTabsSignIn(t *testing.T) {
	w, p := startWithProvider(t)
	w.addUser("ada@example.org", auth.RoleAdmin)
	ada := map[string]any{"sub": "sub-1", "email": "ada@example.org", "email_verified": true}
	b := w.open("127.0.0.1")
	first, second := b.get("/console/oidc/login").location, b.get("/console/oidc/login?next=/console/logout").location
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?state=wrong&code=code-1").status)
	for _, location := range []string{second, first} {
		got := b.get("/console/oidc/callback?" + p.approve(location, ada).Encode())
		require.Equal(t, http.StatusSeeOther, got.status, got.text)
		require.Equal(t, "/console/", got.location, "a sign-in leads neither to logout nor to login")
	}
}

// TestSignOutEndsTheProvidersSession: a person who signed out is asked for the account.
func TestSignOutEndsTheProvidersSession(t *testing.T) {
	w, p := startWithProvider(t)
	w.addUser("ada@example.org", auth.RoleAdmin)
	b := w.open("127.0.0.1")
	require.NotContains(t, b.get("/console/oidc/login").location, "prompt=")
	require.Equal(t, http.StatusSeeOther, p.signIn(b, map[string]any{"sub": "sub-1", "email": "ada@example.org", "email_verified": true}).status)
	out := b.do(http.MethodPost, "/console/logout", nil, nil)
	require.Equal(t, http.StatusOK, out.status)
	require.Contains(t, out.header.Get("Refresh"), p.server.URL+"/end?client_id=coach&post_logout_redirect_uri=http%3A%2F%2Fcoach.test%2Fconsole%2Flogin")
	require.False(t, b.isIn())
	require.Contains(t, b.get("/console/oidc/login").location, "prompt=login")
}

// TestProviderThatHangs: all who come share one request, and a change of the keys is
// noticed by the first token that cannot be checked.
func TestProviderThatHangs(t *testing.T) {
	w, p := startWithProvider(t)
	w.addUser("ada@example.org", auth.RoleAdmin)
	p.hang = make(chan struct{})
	var coming sync.WaitGroup
	for range 10 {
		coming.Go(func() { _ = w.open("127.0.0.1").get("/console/oidc/login") })
	}
	require.Eventually(t, func() bool { return p.asked.Load() == 1 }, 5*time.Second, time.Millisecond)
	close(p.hang)
	coming.Wait()
	require.Equal(t, int32(1), p.asked.Load())

	ada := map[string]any{"sub": "sub-1", "email": "ada@example.org", "email_verified": true}
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), ada).status)
	var err error
	p.curve, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	w.wait(time.Minute)
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), ada).status)
	require.Equal(t, int32(2), p.asked.Load())
}

func TestAnUnverifiedAddressBindsNobody(t *testing.T) {
	w, p := startWithProvider(t)
	w.addUser("ida@example.org", auth.RoleAdmin)
	for _, verified := range []any{false, "false", nil} {
		got := p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-9", "email": "ida@example.org", "email_verified": verified})
		require.Equal(t, http.StatusForbidden, got.status)
	}
	// Some providers write it as a text.
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-9", "email": "ida@example.org", "email_verified": "true"}).status)
}

func TestForgedSignInsAreRefused(t *testing.T) {
	w, p := startWithProvider(t)
	person := map[string]any{"sub": "sub-1", "email": "ada", "email_verified": true}
	for name, change := range map[string]map[string]any{
		"nonce": {"nonce": "another"}, "audience": {"aud": "another"}, "issuer": {"iss": "https://evil.example"}, "expired": {"exp": 1000}, "subject": {"sub": ""}, "party": {"azp": "another"}, "several audiences": {"aud": []string{"coach", "another"}},
	} {
		p.change = change
		require.Equal(t, http.StatusUnauthorized, p.signIn(w.open("127.0.0.1"), person).status, name)
	}
	p.change = nil

	b := w.open("127.0.0.1")
	back := p.approve(b.get("/console/oidc/login").location, person)
	require.Equal(t, http.StatusUnauthorized, w.open("127.0.0.1").get("/console/oidc/callback?"+back.Encode()).status, "another browser")
	forged := url.Values{"state": {"another"}, "code": {"code-1"}}
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+forged.Encode()).status, "another state")
	require.Equal(t, http.StatusSeeOther, b.get("/console/oidc/callback?"+back.Encode()).status, "a wrong state takes nothing away")
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+back.Encode()).status, "an attempt is good once")

	back = p.approve(b.get("/console/oidc/login").location, person)
	p.challenge = "another"
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+back.Encode()).status, "another verifier")
	back = p.approve(b.get("/console/oidc/login").location, person)
	back.Set("code", "")
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+back.Encode()).status, "declined")
	require.NotContains(t, w.log.String(), "s3cret")
}

// The provider's clock may be a minute behind ours, and its document is read again after
// an hour.
func TestProvidersClockAndDocument(t *testing.T) {
	w, p := startWithProvider(t)
	person := map[string]any{"sub": "sub-1", "email": "ada", "email_verified": true}
	for behind, want := range map[time.Duration]int{40 * time.Second: http.StatusSeeOther, 80 * time.Second: http.StatusUnauthorized} {
		p.change = map[string]any{"exp": w.now().Add(-behind).Unix()}
		require.Equal(t, want, p.signIn(w.open("127.0.0.1"), person).status, behind)
	}
	asked := p.asked.Load()
	w.open("127.0.0.1").get("/console/oidc/login")
	require.Equal(t, asked, p.asked.Load())
	w.wait(time.Hour + time.Second)
	w.open("127.0.0.1").get("/console/oidc/login")
	require.Equal(t, asked+1, p.asked.Load())
}

func TestProviderMayComeLater(t *testing.T) {
	w, p := startWithProvider(t)
	p.down = true
	got := w.open("127.0.0.1").get("/console/oidc/login")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.text, "sign in with a password")
	p.down = false
	require.Equal(t, http.StatusServiceUnavailable, w.open("127.0.0.1").get("/console/oidc/login").status, "it is left alone for a while")
	w.wait(time.Minute)
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-1", "email": "ada", "email_verified": true}).status)
}

// TestReportsAreBounded: a stranger's reports write one warning a minute, with what was
// blocked.
func TestReportsAreBounded(t *testing.T) {
	w := startWorld(t, nil)
	report := `{"csp-report":{"blocked-uri":"https://evil.example/x.js","violated-directive":"script-src","document-uri":"http://coach/console/?q=secret"}}`
	for range 3 {
		resp, err := http.Post(w.base+"/console/csp", "application/csp-report", strings.NewReader(report))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusNoContent, resp.StatusCode)
	}
	require.Equal(t, 1, strings.Count(w.log.String(), "https://evil.example/x.js"))
	require.NotContains(t, w.log.String(), "level=ERROR")
	require.NotContains(t, w.log.String(), "secret")
}
