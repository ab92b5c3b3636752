package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"coachline/models"
)

// Provider is an OpenID Connect provider at which people may sign in.
type Provider struct {
	Issuer, ClientID, ClientSecret string
}

const (
	oidcPath = "oidc/"
	// oidcCookie keeps what a sign-in at the provider must come back with.
	oidcCookie = "coach_oidc"
	// oidcAge is how long a sign-in at the provider may take.
	oidcAge = 10 * time.Minute
	// oidcLimit bounds each request to the provider.
	oidcLimit = 10 * time.Second
)

// oidcClient signs people in at a provider, which is asked for its addresses when
// the first person comes. It is safe for concurrent use.
type oidcClient struct {
	cfg      Provider
	redirect string
	http     *http.Client

	mu       sync.Mutex
	provider *oidc.Provider
}

// newOIDC returns nil where no provider is configured.
func newOIDC(cfg Config) *oidcClient {
	if cfg.Provider.Issuer == "" {
		return nil
	}
	return &oidcClient{
		cfg: cfg.Provider, redirect: strings.TrimRight(cfg.PublicURL, "/") + Path + oidcPath + "callback", http: &http.Client{Timeout: oidcLimit},
	}
}

// discover returns the provider, with its addresses and keys.
func (o *oidcClient) discover(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil {
		return o.provider, nil
	}
	// The keys are fetched later under this context.
	provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), o.http), o.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("asking the OpenID Connect provider: %w", err)
	}
	o.provider = provider
	return provider, nil
}

func (o *oidcClient) oauth(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.cfg.ClientID, ClientSecret: o.cfg.ClientSecret, Endpoint: provider.Endpoint(), RedirectURL: o.redirect,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// attempt is one sign-in under way. It is kept by the browser alone.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Next     string `json:"next"`
}

func (c *Console) registerOIDC(mux *http.ServeMux) {
	if c.oidc == nil {
		return
	}
	mux.HandleFunc("GET "+Path+oidcPath+"login", c.beginOIDC)
	mux.HandleFunc("GET "+Path+oidcPath+"callback", c.finishOIDC)
}

func (c *Console) beginOIDC(w http.ResponseWriter, r *http.Request) {
	provider, err := c.oidc.discover(r.Context())
	if err != nil {
		c.cfg.Logger.Error("signing in at the OpenID Connect provider failed; check COACH_OIDC_ISSUER", "error", err)
		c.renderLogin(w, r, http.StatusServiceUnavailable, "The provider does not answer. Try again later, or sign in with a password.")
		return
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: safeTarget(r.FormValue("next"))}
	raw, err := json.Marshal(a)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.setAttempt(w, base64.RawURLEncoding.EncodeToString(raw), int(oidcAge/time.Second))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, c.oidc.oauth(provider).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), http.StatusSeeOther)
}

func (c *Console) setAttempt(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: oidcCookie, Value: value, Path: Path + oidcPath, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(c.cfg.PublicURL, "https://"),
	})
}

// takeAttempt returns the attempt of the browser that has come back with its
// state.
func takeAttempt(r *http.Request) (attempt, error) {
	var a attempt
	cookie, err := r.Cookie(oidcCookie)
	if err != nil {
		return a, errors.New("the browser did not begin here, or ten minutes ago")
	}
	raw, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return a, fmt.Errorf("decoding the attempt: %w", err)
	}
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(r.FormValue("state"))) != 1 {
		return a, errors.New("the state is another one")
	}
	return a, nil
}

// subjectClaims are whom the provider vouches for.
type subjectClaims struct {
	subject, email string
}

// identifyAt redeems the code for an identity token and checks it.
func (o *oidcClient) identifyAt(ctx context.Context, a attempt, code string) (subjectClaims, error) {
	if code == "" {
		return subjectClaims{}, errors.New("the provider gave no code")
	}
	provider, err := o.discover(ctx)
	if err != nil {
		return subjectClaims{}, err
	}
	ctx = oidc.ClientContext(ctx, o.http)
	tokens, err := o.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return subjectClaims{}, fmt.Errorf("redeeming the code: %w", err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := provider.Verifier(&oidc.Config{ClientID: o.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return subjectClaims{}, fmt.Errorf("checking the identity token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return subjectClaims{}, errors.New("the nonce is another one")
	}
	var claims struct {
		Email    string          `json:"email"`
		Verified json.RawMessage `json:"email_verified"` // a text at some providers
	}
	if err := token.Claims(&claims); err != nil {
		return subjectClaims{}, fmt.Errorf("reading the claims: %w", err)
	}
	p := subjectClaims{subject: token.Subject}
	if strings.Trim(string(claims.Verified), `"`) == "true" {
		p.email = claims.Email
	}
	return p, nil
}

// finishOIDC signs in whom the provider has sent back.
func (c *Console) finishOIDC(w http.ResponseWriter, r *http.Request) {
	c.setAttempt(w, "", -1)
	a, err := takeAttempt(r)
	var p subjectClaims
	if err == nil {
		p, err = c.oidc.identifyAt(r.Context(), a, r.FormValue("code"))
	}
	address := remoteAddress(r)
	if err != nil {
		c.cfg.Metrics.APIRefused("login")
		c.cfg.Logger.Warn("sign-in at the OpenID Connect provider was refused", "address", address, "error", err)
		c.renderLogin(w, r, http.StatusUnauthorized, "The sign-in at the provider did not succeed. Try again.")
		return
	}
	user, err := c.userOf(r.Context(), p, address)
	switch {
	case errors.Is(err, models.ErrNotFound), err == nil && user.DisabledAt != nil:
		c.refuseStranger(w, r, p, address)
		return
	case err != nil:
		c.fail(w, r, err)
		return
	}
	if err := c.beginSession(r, user, address); err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, safeTarget(a.Next), http.StatusSeeOther)
}

// userOf finds the user whom the provider vouches for: by the subject, or at the
// first sign-in by a verified e-mail address that is the login. That user is
// bound to the subject. ErrNotFound for strangers.
func (c *Console) userOf(ctx context.Context, p subjectClaims, address string) (models.User, error) {
	user, err := c.cfg.Users.UserBySubject(ctx, p.subject)
	if !errors.Is(err, models.ErrNotFound) || p.email == "" {
		return user, err
	}
	user, err = c.cfg.Users.UserByLogin(ctx, p.email)
	if err != nil {
		return user, err
	}
	if user.Subject != "" || user.DisabledAt != nil {
		return models.User{}, models.ErrNotFound
	}
	actor := "user:" + user.Login
	ctx = models.WithOrigin(ctx, models.Origin{Actor: actor, Address: address, Reason: "first sign-in at the provider"})
	return c.cfg.Users.UpdateUser(ctx, models.UserUpdate{ID: user.ID, Patch: models.UserPatch{Subject: &p.subject}, Actor: actor, Now: c.cfg.Now()})
}

// refuseStranger answers a person whom the provider knows and we do not.
func (c *Console) refuseStranger(w http.ResponseWriter, r *http.Request, p subjectClaims, address string) {
	c.cfg.Metrics.APIRefused("login")
	c.cfg.Logger.Warn("console login refused: the provider's user has no account here", "address", address)
	ctx := models.WithOrigin(r.Context(), models.Origin{Address: address})
	entry := models.Audit{Actor: "visitor", Action: "login_refused", Object: "subject:" + p.subject[:min(len(p.subject), 100)], At: c.cfg.Now()}
	if err := c.cfg.RecordAudit(ctx, entry); err != nil {
		c.fail(w, r, err)
		return
	}
	c.renderLogin(w, r, http.StatusForbidden, "You have no account here. Ask an administrator to add you.")
}
