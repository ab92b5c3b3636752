package console_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/internal/auth"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/starter"
)

const password = "correct horse battery"

// world is a starter with a real store, and its clock.
type world struct {
	t    *testing.T
	base string
	rows *store.Store
	// late is how far the clock is ahead, in nanoseconds.
	late atomic.Int64
	log  *lockedBuffer
}

// lockedBuffer is written by the server and read by the test.
type lockedBuffer struct {
	lock chan struct{}
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	return b.text.String()
}

type noSignatures struct{}

func (noSignatures) Check(*http.Request, url.Values) error { return nil }

type noTemporal struct{ client.Client }

func (noTemporal) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

// startWorld serves a console with user ada, who is an administrator, and a token
// so that a request without a session is not signed in by itself.
func startWorld(t *testing.T, change func(*starter.Config)) *world {
	t.Helper()
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	rows, err := store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	w := &world{t: t, rows: rows, log: &lockedBuffer{lock: make(chan struct{}, 1)}}
	cfg := starter.Config{
		HTTP:  starter.HTTPConfig{Addr: "127.0.0.1:0", APIToken: "token-of-the-tests-0123456789abcdef"},
		Store: rows, Temporal: noTemporal{},
		Carrier: starter.CarrierConfig{Verifier: noSignatures{}}, Relay: starter.RelayConfig{Interval: time.Hour},
		Version: "v0-test", Logger: slog.New(slog.NewTextHandler(w.log, nil)), Now: w.now,
	}
	if change != nil {
		change(&cfg)
	}
	server, err := starter.New(t.Context(), cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, rows.Close())
	})
	w.base = "http://" + server.Addr()
	w.addUser("ada", auth.RoleAdmin)
	return w
}

var began = time.Now()

func (w *world) now() time.Time { return began.Add(time.Duration(w.late.Load())) }

func (w *world) wait(d time.Duration) { w.late.Add(int64(d)) }

func (w *world) addUser(login string, role auth.Role) models.User {
	w.t.Helper()
	hash, err := auth.HashPassword(password)
	require.NoError(w.t, err)
	u, err := w.rows.Users.CreateUser(w.t.Context(), models.User{
		ID: "usr_" + login, Login: login, Name: login, Role: string(role), PasswordHash: hash, CreatedAt: w.now(),
	})
	require.NoError(w.t, err)
	return u
}

// browser keeps cookies and follows no redirect.
type browser struct {
	w      *world
	client *http.Client
}

// open starts a browser that calls from an address of this machine.
func (w *world) open(address string) *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &browser{w: w, client: &http.Client{
		Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type page struct {
	status   int
	header   http.Header
	location string
	text     string
	cookies  []*http.Cookie
}

func (b *browser) do(method, path string, form url.Values, header map[string]string) page {
	b.w.t.Helper()
	sent := url.Values{"about": {strings.TrimPrefix(path, "/console/")}}
	maps.Copy(sent, form)
	r, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.base+path, strings.NewReader(sent.Encode()))
	require.NoError(b.w.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := b.client.Do(r)
	require.NoError(b.w.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.w.t, err)
	return page{status: res.StatusCode, header: res.Header, location: res.Header.Get("Location"), text: string(raw), cookies: res.Cookies()}
}

func (b *browser) get(path string) page { return b.do(http.MethodGet, path, nil, nil) }

func (b *browser) login(login, secret string) page {
	return b.do(http.MethodPost, "/console/login", url.Values{"login": {login}, "password": {secret}}, nil)
}

// isIn reports whether the browser is signed in.
func (b *browser) isIn() bool { return b.get("/console/access").status == http.StatusOK }

func (b *browser) cookie() string {
	at, err := url.Parse(b.w.base + "/console/")
	require.NoError(b.w.t, err)
	for _, c := range b.client.Jar.Cookies(at) {
		return c.Value
	}
	return ""
}

func TestLogin(t *testing.T) {
	w := startWorld(t, nil)
	b := w.open("127.0.0.1")
	refused := b.get("/console/people?status=active")
	require.Equal(t, http.StatusSeeOther, refused.status)
	require.Equal(t, "/console/login?next=%2Fconsole%2Fpeople%3Fstatus%3Dactive", refused.location)

	wrong := b.login("ada", "wrong horse battery")
	require.Equal(t, http.StatusUnauthorized, wrong.status)
	require.Contains(t, wrong.text, "Login or password is wrong.")
	require.NotContains(t, w.log.String(), "wrong horse")
	require.Equal(t, wrong.text, strings.Replace(b.login("eve", "wrong horse battery").text, `value="eve"`, `value="ada"`, 1), "the answer tells not who exists")

	in := b.login(" ADA ", password)
	require.Equal(t, http.StatusSeeOther, in.status)
	require.Len(t, in.cookies, 1)
	require.True(t, in.cookies[0].HttpOnly)
	require.Equal(t, http.SameSiteLaxMode, in.cookies[0].SameSite)
	require.Equal(t, "/console/", in.cookies[0].Path)
	require.False(t, in.cookies[0].Secure, "the test's address is http")
	require.True(t, b.isIn())
	out := b.do(http.MethodPost, "/console/logout", nil, nil)
	require.Equal(t, "/console/login", out.location)
	require.False(t, b.isIn())

	chain, err := w.rows.Audit.CheckAudit(t.Context())
	require.NoError(t, err)
	require.Zero(t, chain.BrokenAt)
	logins, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "login"}})
	require.NoError(t, err)
	require.Len(t, logins, 1)
	require.Equal(t, []string{"user:ada", "127.0.0.1"}, []string{logins[0].Actor, logins[0].Address})
	failed, err := w.rows.Audit.AuditRows(t.Context(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: "login_refused"}})
	require.NoError(t, err)
	require.Len(t, failed, 2)
}

func TestCookieIsSecureBehindTLS(t *testing.T) {
	w := startWorld(t, func(cfg *starter.Config) { cfg.HTTP.PublicURL = "https://coach.example.org" })
	in := w.open("127.0.0.1").login("ada", password)
	require.Len(t, in.cookies, 1)
	require.True(t, in.cookies[0].Secure)
}

func TestLoginsAreThrottled(t *testing.T) {
	w := startWorld(t, nil)
	w.addUser("ida", auth.RoleCoach)
	for i := range 5 {
		// Each from another address: the account is what is counted.
		require.Equal(t, http.StatusUnauthorized, w.open(fmt.Sprintf("127.0.1.%d", i+1)).login("ada", "wrong horse battery").status)
	}
	waiting := w.open("127.0.1.99").login("ada", password)
	require.Equal(t, http.StatusTooManyRequests, waiting.status)
	require.Equal(t, "30", waiting.header.Get("Retry-After"))
	require.Equal(t, http.StatusSeeOther, w.open("127.0.1.99").login("ida", password).status, "others are not concerned")
	w.wait(31 * time.Second)
	require.Equal(t, http.StatusSeeOther, w.open("127.0.1.99").login("ada", password).status)

	for i := range 20 {
		// A stranger behind the proxy that all of them come through.
		w.open("127.0.2.1").login(fmt.Sprintf("user%d", i), "wrong horse battery")
	}
	require.Equal(t, http.StatusSeeOther, w.open("127.0.2.1").login("ida", password).status, "the address is not what is counted")
	for i := range 10 {
		w.open(fmt.Sprintf("127.0.3.%d", i+1)).login("ida", "wrong horse battery")
	}
	require.Equal(t, http.StatusTooManyRequests, w.open("127.0.3.1").login("ida", password).status)
	require.Equal(t, http.StatusSeeOther, w.open("127.0.2.1").login("ida", password).status, "she has signed in from there")
	for range 5 {
		w.open("127.0.2.1").login("ida", "wrong horse battery")
	}
	require.Equal(t, http.StatusTooManyRequests, w.open("127.0.2.1").login("ida", password).status, "what goes wrong there counts")
}

func TestSessionsExpire(t *testing.T) {
	w := startWorld(t, nil)
	b := w.open("127.0.0.1")
	b.login("ada", password)
	for range 3 {
		w.wait(29 * time.Minute)
		require.True(t, b.isIn(), "in use")
	}
	w.wait(20 * time.Minute)
	require.Equal(t, http.StatusOK, b.do(http.MethodGet, "/console/access", nil, map[string]string{"X-Follow": "1"}).status)
	w.wait(11 * time.Minute)
	require.False(t, b.isIn(), "a page that follows by itself is no use")

	b.login("ada", password)
	for range 24 {
		w.wait(29 * time.Minute)
		require.True(t, b.isIn())
	}
	w.wait(25 * time.Minute)
	require.False(t, b.isIn(), "12 hours are over")
}

func TestLoginRenewsTheToken(t *testing.T) {
	w := startWorld(t, nil)
	b := w.open("127.0.0.1")
	b.login("ada", password)
	first := b.cookie()
	b.login("ada", password)
	require.NotEmpty(t, first)
	require.NotEqual(t, first, b.cookie())
	thief := w.open("127.0.0.1")
	stolen := map[string]string{"Cookie": "coach_session=" + first}
	require.Equal(t, http.StatusSeeOther, thief.do(http.MethodGet, "/console/access", nil, stolen).status, "a token from before the login is of no use")
	made := map[string]string{"Cookie": "coach_session=chosen-by-a-stranger"}
	in := thief.do(http.MethodPost, "/console/login", url.Values{"login": {"ada"}, "password": {password}}, made)
	require.NotEqual(t, "chosen-by-a-stranger", in.cookies[0].Value)
	require.Equal(t, http.StatusSeeOther, w.open("127.0.0.1").do(http.MethodGet, "/console/access", nil, made).status)
}

func TestEndedSessionsStayEnded(t *testing.T) {
	w := startWorld(t, nil)
	b := w.open("127.0.0.1")
	b.login("ada", password)
	sessions, err := w.rows.Sessions.List(t.Context(), w.now())
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	// The session ends itself: the end of the same request must not write it anew.
	ended := b.do(http.MethodPost, "/console/access/sessions/"+sessions[0].ID, url.Values{"reason": {"done"}}, nil)
	require.Equal(t, http.StatusSeeOther, ended.status, ended.text)
	require.False(t, b.isIn())

	ida := w.addUser("ida", auth.RoleCoach)
	hers := w.open("127.0.0.1")
	hers.login("ida", password)
	require.Equal(t, http.StatusOK, hers.get("/console/").status)
	_, err = w.rows.Users.UpdateUser(t.Context(), models.UserUpdate{ID: ida.ID, Patch: models.UserChange{Disabled: new(true)}, Now: w.now()})
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, hers.get("/console/").status)
	require.Equal(t, http.StatusUnauthorized, hers.login("ida", password).status)
}

func TestForeignPagesCannotAct(t *testing.T) {
	w := startWorld(t, nil)
	b := w.open("127.0.0.1")
	b.login("ada", password)
	form := url.Values{"login": {"eve"}, "name": {"Eve"}, "role": {"admin"}, "password": {password}, "reason": {"mine"}}
	for _, header := range []map[string]string{{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}} {
		require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, "/console/access/users", form, header).status)
	}
	_, err := w.rows.Users.UserByLogin(t.Context(), "eve")
	require.ErrorIs(t, err, models.ErrNotFound)
	require.Equal(t, http.StatusSeeOther, b.do(http.MethodPost, "/console/access/users", form, map[string]string{"Sec-Fetch-Site": "same-origin"}).status)
}

func TestLoginLeadsNowhereElse(t *testing.T) {
	w := startWorld(t, nil)
	for next, want := range map[string]string{
		"/console/people?cursor=3": "/console/people?cursor=3", "": "/console/", "https://evil.example": "/console/", "//evil.example": "/console/",
		"/console//evil.example": "/console/", `/console/\evil.example`: "/console/", "/elsewhere": "/console/", "/console/\r\nSet-Cookie: a=b": "/console/",
	} {
		form := url.Values{"login": {"ada"}, "password": {password}, "next": {next}}
		require.Equal(t, want, w.open("127.0.0.1").do(http.MethodPost, "/console/login", form, nil).location, next)
	}
}

func TestSecurityHeaders(t *testing.T) {
	w := startWorld(t, nil)
	b := w.open("127.0.0.1")
	b.login("ada", password)
	for _, path := range []string{"/console/login", "/console/", "/console/access", "/console/audit", "/console/nowhere"} {
		got := b.get(path).header
		require.Contains(t, got.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.NotContains(t, got.Get("Content-Security-Policy"), "unsafe", path)
		require.Equal(t, "DENY", got.Get("X-Frame-Options"), path)
		require.Equal(t, "nosniff", got.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-store", got.Get("Cache-Control"), path)
		require.Equal(t, "same-origin", got.Get("Referrer-Policy"), path)
		require.Equal(t, "same-origin", got.Get("Cross-Origin-Opener-Policy"), path)
	}
}
