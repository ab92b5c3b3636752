package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"coachline/internal/auth"
	"coachline/models"
)

// Sessions end after half an hour without use, and after half a day in any case.
const (
	sessionIdle = 30 * time.Minute
	sessionAge  = 12 * time.Hour
)

// Users keeps who may sign in; package store provides it.
type Users interface {
	User(ctx context.Context, id string) (models.User, error)
	UserByLogin(ctx context.Context, login string) (models.User, error)
	UserBySubject(ctx context.Context, subject string) (models.User, error)
	UpdateUser(ctx context.Context, u models.UserUpdate) (models.User, error)
	NoteLogin(ctx context.Context, userID string, at time.Time) error
}

// Sessions keeps the browsers that are signed in; package store provides it.
type Sessions interface {
	SaveSession(ctx context.Context, row models.Session) error
	KeepSession(ctx context.Context, row models.Session) error
	FindSession(ctx context.Context, tokenHash string, at time.Time) (models.Session, error)
	DeleteSession(ctx context.Context, tokenHash string) error
	HasSession(ctx context.Context, id string, at time.Time) (bool, error)
}

// Keys of the values of a session.
const (
	keyUser    = "user"
	keySession = "session"
	keyAddress = "address"
	keyAgent   = "agent"
	keyNotice  = "notice"
	// keyProvider marks a session that began at the OpenID Connect provider.
	keyProvider = "provider"
	// keyStored marks a session that is in the database. Its row is changed and
	// not written anew: a session that was revoked during a request stays ended.
	keyStored = "stored"
)

// newSessionManager keeps sessions in the table of that name. Tokens are hashed
// before they are stored.
func newSessionManager(cfg Config) *scs.SessionManager {
	m := scs.New()
	m.Lifetime, m.IdleTimeout, m.HashTokenInStore = sessionAge, sessionIdle, true
	m.Codec = jsonCodec{}
	m.Store = sessionStore{sessions: cfg.Sessions, now: cfg.Now}
	m.Cookie.Name, m.Cookie.Path = "coach_session", Path
	m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Persist = true, http.SameSiteLaxMode, false
	m.Cookie.Secure = strings.HasPrefix(cfg.PublicURL, "https://")
	m.ErrorFunc = func(w http.ResponseWriter, _ *http.Request, err error) {
		cfg.Logger.Error("reading or saving a console session failed", "error", err)
		http.Error(w, "The console cannot reach its database. Try again later.", http.StatusServiceUnavailable)
	}
	return m
}

type sessionData struct {
	Deadline time.Time      `json:"deadline"`
	Values   map[string]any `json:"values"`
}

// jsonCodec writes sessions as JSON, so that the store can read whose they are.
type jsonCodec struct{}

// Encode writes a session.
func (jsonCodec) Encode(deadline time.Time, values map[string]any) ([]byte, error) {
	return json.Marshal(sessionData{Deadline: deadline, Values: values})
}

// Decode reads a session.
func (jsonCodec) Decode(raw []byte) (time.Time, map[string]any, error) {
	var data sessionData
	if err := json.Unmarshal(raw, &data); err != nil {
		return time.Time{}, nil, fmt.Errorf("decoding a session: %w", err)
	}
	if data.Values == nil {
		data.Values = map[string]any{}
	}
	data.Values[keyStored] = true
	return data.Deadline, data.Values, nil
}

type passiveKey struct{}

// withPassive marks requests that a page makes by itself without an action of its user.
// They do not keep a session from expiring.
func withPassive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Follow") != "" || r.URL.Path == Path+"live" {
			r = r.WithContext(context.WithValue(r.Context(), passiveKey{}, true))
		}
		next.ServeHTTP(w, r)
	})
}

func isPassive(ctx context.Context) bool {
	passive, _ := ctx.Value(passiveKey{}).(bool)
	return passive
}

// sessionStore fits Sessions to the session library.
type sessionStore struct {
	sessions Sessions
	now      func() time.Time
}

// Find is for a library that has no context; the manager calls FindCtx.
func (s sessionStore) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is for a library that has no context; the manager calls CommitCtx.
func (s sessionStore) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is for a library that has no context; the manager calls DeleteCtx.
func (s sessionStore) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// FindCtx reads a session that has not expired.
func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	row, err := s.sessions.FindSession(ctx, token, s.now())
	if errors.Is(err, models.ErrNotFound) {
		return nil, false, nil
	}
	return []byte(row.Data), err == nil, err
}

// CommitCtx writes a session. One of a visitor who has not signed in is kept too:
// it carries the notice of a failed login.
func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, _ time.Time) error {
	if isPassive(ctx) {
		return nil
	}
	var decoded sessionData
	if err := json.Unmarshal(data, &decoded); err != nil {
		return fmt.Errorf("decoding a session: %w", err)
	}
	text := func(key string) string {
		value, _ := decoded.Values[key].(string)
		return value
	}
	id := text(keySession)
	if id == "" {
		id = "visit_" + token[:min(16, len(token))]
	}
	now := s.now()
	// The library counts by a clock of its own.
	expiry := now.Add(sessionIdle)
	if decoded.Deadline.Before(expiry) {
		expiry = decoded.Deadline
	}
	row := models.Session{
		TokenHash: token, ID: id, UserID: text(keyUser), Data: string(data), Address: text(keyAddress), Agent: text(keyAgent),
		CreatedAt: now, LastSeenAt: now, ExpiresAt: expiry,
	}
	if stored, _ := decoded.Values[keyStored].(bool); stored {
		return s.sessions.KeepSession(ctx, row)
	}
	return s.sessions.SaveSession(ctx, row)
}

// DeleteCtx ends a session.
func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.sessions.DeleteSession(ctx, token)
}

// identify returns who makes a request; ok is false for people who have to sign
// in first.
func (c *Console) identify(r *http.Request) (who auth.Identity, ok bool, err error) {
	if id := c.sessions.GetString(r.Context(), keyUser); id != "" {
		user, err := c.cfg.Users.User(r.Context(), id)
		switch {
		case err == nil && user.DisabledAt == nil:
			return auth.UserIdentity(user, c.sessions.GetString(r.Context(), keySession)), true, nil
		case err != nil && !errors.Is(err, models.ErrNotFound):
			return auth.Identity{}, false, err
		}
	}
	if c.cfg.IsOpen(r) {
		return auth.AdminIdentity(auth.KindLocal), true, nil
	}
	return auth.Identity{}, false, nil
}

// maxAgent bounds what is kept of a browser's name for itself.
const maxAgent = 200

// login signs a person in. Wrong logins are throttled by account and by address,
// logged, counted and audited; the answer does not tell whether the account
// exists.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	name, password := strings.ToLower(strings.TrimSpace(r.PostFormValue("login"))), r.PostFormValue("password")
	address := remoteAddress(r)
	if wait := c.loginWait(name, address); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		c.renderLogin(w, r, loginPage{http.StatusTooManyRequests, "Too many attempts. Wait a minute and try again.", r.PostFormValue("next")})
		return
	}
	user, err := c.cfg.Users.UserByLogin(r.Context(), name)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		c.fail(w, r, err)
		return
	}
	if !auth.CheckPassword(password, user.PasswordHash) || user.DisabledAt != nil {
		c.refuseLogin(w, r, name, address)
		return
	}
	if err := c.beginSession(r, user, address); err != nil {
		c.fail(w, r, err)
		return
	}
	c.known.Store(pairOf(name, address), true)
	http.Redirect(w, r, safeTarget(r.PostFormValue("next")), http.StatusSeeOther)
}

// loginWait is how long an account has to wait at an address. Where it has signed in
// from there, only what went wrong there counts: a stranger who tries names elsewhere, or
// other names behind the same proxy, locks nobody out.
func (c *Console) loginWait(name, address string) time.Duration {
	pair, now := pairOf(name, address), c.cfg.Now()
	if _, known := c.known.Load(pair); known {
		return c.wrongLogins.Wait(pair, now)
	}
	return max(c.wrongLogins.Wait(pair, now), c.wrongLogins.Wait(name, now))
}

// pairOf names an account at an address; no login has its form.
func pairOf(name, address string) string { return name + "\x00" + address }

// refuseLogin counts a wrong login against the account, and against it at the address.
func (c *Console) refuseLogin(w http.ResponseWriter, r *http.Request, name, address string) {
	now := c.cfg.Now()
	c.wrongLogins.Take(name, now)
	c.wrongLogins.Take(pairOf(name, address), now)
	c.cfg.Metrics.APIRefused("login")
	c.cfg.Logger.Warn("console login refused", "address", address)
	ctx := models.WithOrigin(r.Context(), models.Origin{Address: address})
	entry := models.AuditRow{Actor: "visitor", Action: "login_refused", Object: "login:" + name[:min(len(name), 100)], At: now}
	if err := c.cfg.RecordAudit(ctx, entry); err != nil {
		c.fail(w, r, err)
		return
	}
	c.renderLogin(w, r, loginPage{http.StatusUnauthorized, "Login or password is wrong.", r.PostFormValue("next")})
}

// beginSession gives the browser a new session token, so that one that was known
// before is of no use.
func (c *Console) beginSession(r *http.Request, user models.User, address string) error {
	ctx := r.Context()
	if err := c.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renewing the session: %w", err)
	}
	c.sessions.SetDeadline(ctx, c.cfg.Now().Add(sessionAge))
	c.sessions.Remove(ctx, keyStored)
	c.sessions.Remove(ctx, keyProvider)
	agent := r.UserAgent()
	c.sessions.Put(ctx, keyUser, user.ID)
	c.sessions.Put(ctx, keySession, auth.NewID("ses"))
	c.sessions.Put(ctx, keyAddress, address)
	c.sessions.Put(ctx, keyAgent, strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], ""))
	who := auth.UserIdentity(user, "")
	return c.cfg.Users.NoteLogin(models.WithOrigin(ctx, models.Origin{Actor: who.Actor, Address: address}), user.ID, c.cfg.Now())
}

// logout ends the session, and that at the provider with it. The next sign-in there asks
// for the account.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	atProvider := c.oidc != nil && c.sessions.GetBool(r.Context(), keyProvider)
	if err := c.sessions.Destroy(r.Context()); err != nil {
		c.fail(w, r, err)
		return
	}
	var elsewhere string
	if atProvider {
		c.setCookie(w, signedOutCookie, "yes", sessionAge)
		elsewhere = c.oidc.signOutURL(r.Context())
	}
	if elsewhere == "" {
		http.Redirect(w, r, Path+"login", http.StatusSeeOther)
		return
	}
	// A redirect would be part of the form's submission, which contentPolicy keeps here.
	w.Header().Set("Refresh", "0; url="+elsewhere)
	c.renderLogin(w, r, loginPage{status: http.StatusOK, problem: "You are signed out here, and are being signed out at the provider."})
}

// safeTarget is where a login leads: a page of the console that is seen by people who are
// signed in, never elsewhere.
func safeTarget(next string) string {
	if !strings.HasPrefix(next, Path) || strings.Contains(next, "//") || strings.ContainsAny(next, "\\\r\n") {
		return Path
	}
	page, _, _ := strings.Cut(strings.TrimPrefix(next, Path), "?")
	if page == "login" || page == "logout" || strings.HasPrefix(page, oidcPath) {
		return Path
	}
	return next
}

func remoteAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

func shortHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:6])
}

const (
	// loginTries is how many wrong logins an account may have at once,
	// loginEvery after how long a further one is allowed.
	loginTries = 5
	loginEvery = 30 * time.Second
)
