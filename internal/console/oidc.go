package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"coachline/models"
)

const (
	oidcPath = "oidc/"
	// oidcCookie begins the names of cookies that keep what a sign-in at the provider must
	// come back with, one for each attempt.
	oidcCookie = "coach_oidc_"
	// signedOutCookie has the next sign-in ask for the account.
	signedOutCookie = "coach_signed_out"
	// oidcAge is how long a sign-in at the provider may take.
	oidcAge = 10 * time.Minute
)

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
	provider, err := c.oidc.discover(r.Context(), providerAge)
	if err != nil {
		c.cfg.Logger.Error("signing in at the OpenID Connect provider failed; check COACH_OIDC_ISSUER", "error", err)
		c.renderLogin(w, r, loginPage{status: http.StatusServiceUnavailable, next: r.FormValue("next"),
			problem: "The provider does not answer. Try again later, or sign in with a password."})
		return
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: safeTarget(r.FormValue("next"))}
	raw, err := json.Marshal(a)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if _, err := r.Cookie(signedOutCookie); err == nil {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	c.setCookie(w, attemptCookie(a.State), base64.RawURLEncoding.EncodeToString(raw), oidcAge)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, c.oidc.oauth(provider).AuthCodeURL(a.State, options...), http.StatusSeeOther)
}

// attemptCookie names the cookie of an attempt by its state, so that two tabs do not take
// each other's.
func attemptCookie(state string) string {
	sum := sha256.Sum256([]byte(state))
	return oidcCookie + hex.EncodeToString(sum[:8])
}

// setCookie sets a cookie of the sign-in pages; without an age it is deleted.
func (c *Console) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	seconds := int(age / time.Second)
	if seconds == 0 {
		seconds = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: Path + oidcPath, MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(c.cfg.PublicURL, "https://"),
	})
}

// takeAttempt returns the attempt of the browser that has come back with its
// state, and deletes its cookie.
func (c *Console) takeAttempt(w http.ResponseWriter, r *http.Request) (attempt, error) {
	var a attempt
	state := r.FormValue("state")
	cookie, err := r.Cookie(attemptCookie(state))
	if err != nil {
		return a, errors.New("the browser did not begin here, or more than ten minutes ago")
	}
	raw, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return a, fmt.Errorf("decoding the attempt: %w", err)
	}
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(state)) != 1 {
		return a, errors.New("the state is another one")
	}
	c.setCookie(w, cookie.Name, "", 0)
	return a, nil
}

// loginRefusal is why a person whom the provider sent back is not signed in.
type loginRefusal struct {
	status int
	// cause is for log and audit, advice for the person.
	cause, advice string
}

func (r loginRefusal) Error() string { return r.cause }

// finishOIDC signs in whom the provider has sent back.
func (c *Console) finishOIDC(w http.ResponseWriter, r *http.Request) {
	a, err := c.takeAttempt(w, r)
	var p subjectClaims
	switch {
	case err != nil:
		err = loginRefusal{http.StatusUnauthorized, err.Error(), "The sign-in was not begun in this browser, or took too long. Try again."}
	case r.FormValue("error") == "access_denied":
		err = loginRefusal{http.StatusUnauthorized, "cancelled at the provider", "The sign-in was cancelled at the provider. Try again, or sign in with a password."}
	case r.FormValue("error") != "":
		err = loginRefusal{http.StatusUnauthorized, fmt.Sprintf("the provider answered %.60q", r.FormValue("error")), "The provider refused the sign-in. Ask an administrator to look at the log."}
	default:
		p, err = c.oidc.identifyAt(r.Context(), a, r.FormValue("code"))
		if err != nil {
			err = loginRefusal{http.StatusUnauthorized, err.Error(), "The sign-in at the provider did not succeed. Try again; if it happens again, ask an administrator to look at the log."}
		}
	}
	address := remoteAddress(r)
	var user models.User
	if err == nil {
		user, err = c.userOf(r.Context(), p, address)
	}
	var refused loginRefusal
	switch {
	case errors.As(err, &refused):
		c.refuseSignIn(w, r, a, p, refused)
		return
	case err == nil:
		err = c.beginSession(r, user, address)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.sessions.Put(r.Context(), keyProvider, true)
	c.setCookie(w, signedOutCookie, "", 0)
	http.Redirect(w, r, safeTarget(a.Next), http.StatusSeeOther)
}

// userOf finds the user whom the provider vouches for: by the subject, or at the
// first sign-in by a verified e-mail address that is the login. That user is
// bound to the subject. A loginRefusal says why there is none.
func (c *Console) userOf(ctx context.Context, p subjectClaims, address string) (models.User, error) {
	user, err := c.cfg.Users.UserBySubject(ctx, p.subject)
	if errors.Is(err, models.ErrNotFound) {
		return c.bindUser(ctx, p, address)
	}
	if err == nil && user.DisabledAt != nil {
		return models.User{}, loginRefusal{http.StatusForbidden, "the user is disabled", "Your account is disabled. Ask an administrator to enable it."}
	}
	return user, err
}

func (c *Console) bindUser(ctx context.Context, p subjectClaims, address string) (models.User, error) {
	var none models.User
	email := p.email
	if email == "" {
		var err error
		if email, err = p.askEmail(ctx); err != nil {
			return none, loginRefusal{http.StatusUnauthorized, err.Error(), "The provider did not say who you are. Try again later."}
		}
	}
	if email == "" {
		return none, loginRefusal{http.StatusForbidden, "the provider gives no verified e-mail address, and the subject is not known",
			"Your provider gives no confirmed e-mail address. Confirm it there, or ask an administrator to enter your identity (sub) here."}
	}
	user, err := c.cfg.Users.UserByLogin(ctx, email)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return none, loginRefusal{http.StatusForbidden, "the provider's user has no account here", "You have no account here. Ask an administrator to add you with the e-mail address that you have at the provider."}
	case err != nil:
		return none, err
	case user.DisabledAt != nil:
		return none, loginRefusal{http.StatusForbidden, "the user is disabled", "Your account is disabled. Ask an administrator to enable it."}
	case user.Subject != "":
		return none, loginRefusal{http.StatusForbidden, "the user is bound to another subject", "Your account belongs to another identity at the provider. Ask an administrator to enter the new one."}
	}
	actor := "user:" + user.Login
	ctx = models.WithOrigin(ctx, models.Origin{Actor: actor, Address: address, Reason: "first sign-in at the provider"})
	return c.cfg.Users.UpdateUser(ctx, models.UserUpdate{ID: user.ID, Patch: models.UserChange{Subject: &p.subject}, Actor: actor, Now: c.cfg.Now()})
}

// refuseSignIn answers a person who is not signed in, and records why.
func (c *Console) refuseSignIn(w http.ResponseWriter, r *http.Request, a attempt, p subjectClaims, why loginRefusal) {
	address := remoteAddress(r)
	c.cfg.Metrics.APIRefused("login")
	c.cfg.Logger.Warn("sign-in at the OpenID Connect provider was refused", "address", address, "cause", why.cause)
	if p.subject != "" {
		ctx := models.WithOrigin(r.Context(), models.Origin{Address: address})
		entry := models.AuditRow{Actor: "visitor", Action: "login_refused", Object: "subject:" + p.subject[:min(len(p.subject), 100)], Detail: why.cause, At: c.cfg.Now()}
		if err := c.cfg.RecordAudit(ctx, entry); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	c.renderLogin(w, r, loginPage{status: why.status, next: a.Next, problem: why.advice})
}
