package console_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	challenge      string
	down           bool
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
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "jwks_uri": base + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "k1", Algorithm: "RS256", Use: "sig"}}})
	case r.URL.Path == "/token":
		p.redeem(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *provider) redeem(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id != "coach" || secret != "s3cret" || r.PostFormValue("code") != "code-1" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "k1"}}, nil)
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
	rows, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{Action: "user_update"})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, "user:ada@example.org", rows[0].Actor)

	// From then on the subject counts, with another address and without one.
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-1", "email": "new@example.org"}).status)
	require.Equal(t, http.StatusForbidden, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-2", "email": "ada@example.org", "email_verified": true}).status)
	require.Equal(t, http.StatusForbidden, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-3", "email": "mallory@example.org", "email_verified": true}).status)
	_, err = w.rows.Users.UpdateUser(t.Context(), models.UserUpdate{ID: eve.ID, Patch: models.UserPatch{Disabled: new(true)}, Now: w.now()})
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, p.signIn(w.open("127.0.0.1"), ada).status, "disabled")
	refused, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{Action: "login_refused"})
	require.NoError(t, err)
	require.Len(t, refused, 3)
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
		"nonce": {"nonce": "another"}, "audience": {"aud": "another"}, "issuer": {"iss": "https://evil.example"}, "expired": {"exp": 1000},
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
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+back.Encode()).status, "an attempt is good once")

	back = p.approve(b.get("/console/oidc/login").location, person)
	p.challenge = "another"
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+back.Encode()).status, "another verifier")
	back = p.approve(b.get("/console/oidc/login").location, person)
	back.Set("code", "")
	require.Equal(t, http.StatusUnauthorized, b.get("/console/oidc/callback?"+back.Encode()).status, "declined")
	require.NotContains(t, w.log.String(), "s3cret")
}

func TestProviderMayComeLater(t *testing.T) {
	w, p := startWithProvider(t)
	p.down = true
	got := w.open("127.0.0.1").get("/console/oidc/login")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.text, "sign in with a password")
	p.down = false
	require.Equal(t, http.StatusSeeOther, p.signIn(w.open("127.0.0.1"), map[string]any{"sub": "sub-1", "email": "ada", "email_verified": true}).status)
}
