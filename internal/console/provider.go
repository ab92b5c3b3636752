package console

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// Provider is an OpenID Connect provider at which people may sign in.
type Provider struct {
	Issuer, ClientID, ClientSecret string
}

const (
	// providerLimit bounds each request to the provider.
	providerLimit = 5 * time.Second
	// providerPause is how long a provider that did not answer is left alone,
	// providerAge how long its document is believed, and providerYoung how old it must
	// be for a token that cannot be checked to have it read again.
	providerPause = 10 * time.Second
	providerAge   = time.Hour
	providerYoung = 10 * time.Second
	// clockLeeway is how far the provider's clock may be behind ours.
	clockLeeway = time.Minute
)

// oidcClient signs people in at a provider, which is asked for its addresses when
// the first person comes. It is safe for concurrent use.
type oidcClient struct {
	cfg      Provider
	redirect string
	http     *http.Client
	now      func() time.Time
	asking   singleflight.Group

	mu      sync.Mutex
	known   *oidc.Provider
	readAt  time.Time
	failure error
	// failedAt is when the provider last failed to answer.
	failedAt time.Time
}

// newOIDC returns nil where no provider is configured.
func newOIDC(cfg Config) *oidcClient {
	if cfg.Provider.Issuer == "" {
		return nil
	}
	return &oidcClient{
		cfg: cfg.Provider, redirect: strings.TrimRight(cfg.PublicURL, "/") + Path + oidcPath + "callback",
		http: &http.Client{Timeout: providerLimit}, now: cfg.Now,
	}
}

// discover returns the provider, with its addresses and keys, as it was read within the
// given age. All who wait share one request; after a failure none is sent for a while,
// and what was known before goes on counting.
func (o *oidcClient) discover(ctx context.Context, age time.Duration) (*oidc.Provider, error) {
	o.mu.Lock()
	known, now := o.known, o.now()
	isFresh, isPaused := known != nil && now.Sub(o.readAt) < age, o.failure != nil && now.Sub(o.failedAt) < providerPause
	failure := o.failure
	o.mu.Unlock()
	if isFresh || isPaused && known != nil {
		return known, nil
	}
	if isPaused {
		return nil, failure
	}
	answer := o.asking.DoChan("", func() (any, error) { return o.read(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-answer:
		provider, _ := got.Val.(*oidc.Provider)
		if got.Err != nil && known != nil {
			return known, nil
		}
		return provider, got.Err
	}
}

func (o *oidcClient) read(ctx context.Context) (*oidc.Provider, error) {
	// The keys are fetched later under this context.
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, o.http), o.cfg.Issuer)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.failure, o.failedAt = fmt.Errorf("asking the OpenID Connect provider: %w", err), o.now()
		return nil, o.failure
	}
	o.known, o.readAt, o.failure = provider, o.now(), nil
	return provider, nil
}

func (o *oidcClient) oauth(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.cfg.ClientID, ClientSecret: o.cfg.ClientSecret, Endpoint: provider.Endpoint(), RedirectURL: o.redirect,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// signOutURL is where a person ends the session at the provider; empty where it has no
// such page or does not answer.
func (o *oidcClient) signOutURL(ctx context.Context) string {
	provider, err := o.discover(ctx, providerAge)
	if err != nil {
		return ""
	}
	var document struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&document); err != nil || document.EndSession == "" {
		return ""
	}
	at, err := url.Parse(document.EndSession)
	if err != nil {
		return ""
	}
	query := at.Query()
	query.Set("client_id", o.cfg.ClientID)
	query.Set("post_logout_redirect_uri", strings.TrimSuffix(o.redirect, oidcPath+"callback")+"login")
	at.RawQuery = query.Encode()
	return at.String()
}

// subjectClaims are whom the provider vouches for.
type subjectClaims struct {
	subject string
	// email is a verified address; empty where the identity token has none.
	email string
	// askEmail asks the provider's UserInfo for it.
	askEmail func(context.Context) (string, error)
}

// emailClaims are what a token or UserInfo says of an address.
type emailClaims struct {
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"` // a text at some providers
}

// verified returns the address if the provider vouches for it.
func (c emailClaims) verified() string {
	if strings.Trim(string(c.Verified), `"`) != "true" {
		return ""
	}
	return c.Email
}

// identifyAt redeems the code for an identity token and checks it.
func (o *oidcClient) identifyAt(ctx context.Context, a attempt, code string) (subjectClaims, error) {
	if code == "" {
		return subjectClaims{}, errors.New("the provider gave no code")
	}
	provider, err := o.discover(ctx, providerAge)
	if err != nil {
		return subjectClaims{}, err
	}
	ctx = oidc.ClientContext(ctx, o.http)
	tokens, err := o.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return subjectClaims{}, fmt.Errorf("redeeming the code: %w", err)
	}
	token, err := o.checkToken(ctx, tokens)
	if err != nil {
		return subjectClaims{}, fmt.Errorf("checking the identity token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return subjectClaims{}, errors.New("the nonce is another one")
	}
	var claims struct {
		emailClaims
		Party string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		return subjectClaims{}, fmt.Errorf("reading the claims: %w", err)
	}
	switch {
	case token.Subject == "":
		return subjectClaims{}, errors.New("the identity token names no subject")
	case claims.Party != "" && claims.Party != o.cfg.ClientID, claims.Party == "" && len(token.Audience) > 1:
		return subjectClaims{}, errors.New("the identity token was made for another client (azp)")
	}
	return subjectClaims{subject: token.Subject, email: claims.verified(), askEmail: func(ctx context.Context) (string, error) {
		return o.askEmail(ctx, token.Subject, tokens)
	}}, nil
}

// checkToken checks the identity token. Where it cannot be checked the provider's
// document is read once more, since it may sign with other keys by now.
func (o *oidcClient) checkToken(ctx context.Context, tokens *oauth2.Token) (*oidc.IDToken, error) {
	raw, _ := tokens.Extra("id_token").(string)
	var token *oidc.IDToken
	var err error
	for _, age := range []time.Duration{providerAge, providerYoung} {
		var provider *oidc.Provider
		if provider, err = o.discover(ctx, age); err != nil {
			return nil, err
		}
		config := &oidc.Config{ClientID: o.cfg.ClientID, Now: func() time.Time { return o.now().Add(-clockLeeway) }}
		if token, err = provider.Verifier(config).Verify(ctx, raw); err == nil {
			return token, nil
		}
	}
	return nil, err
}

// askEmail asks the provider's UserInfo for a verified address of the same subject
// (OpenID Connect Core 5.3.2, 5.4); empty where it has none.
func (o *oidcClient) askEmail(ctx context.Context, subject string, tokens *oauth2.Token) (string, error) {
	provider, err := o.discover(ctx, providerAge)
	if err != nil || provider.UserInfoEndpoint() == "" {
		return "", err
	}
	info, err := provider.UserInfo(oidc.ClientContext(ctx, o.http), oauth2.StaticTokenSource(tokens))
	if err != nil {
		return "", fmt.Errorf("asking for the address (UserInfo): %w", err)
	}
	if info.Subject != subject {
		return "", errors.New("asking for the address (UserInfo): the subject is another one")
	}
	var claims emailClaims
	if err := info.Claims(&claims); err != nil {
		return "", fmt.Errorf("reading the address (UserInfo): %w", err)
	}
	return claims.verified(), nil
}
