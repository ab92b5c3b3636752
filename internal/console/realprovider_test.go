//go:build provider

package console_test

import (
	"bufio"
	"flag"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/auth"
	"coachline/internal/console"
	"coachline/models"
	"coachline/starter"
)

var providerDir = flag.String("provider", "../../build/oidc", "folder of the provider, which make oidc fills")

// startRealProvider starts the certified provider with its defaults.
func startRealProvider(t *testing.T) *world {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	require.NoError(t, free.Close())
	cmd := exec.CommandContext(t.Context(), "node", "provider.mjs", port, "http://coach.test/console/oidc/callback")
	cmd.Dir = *providerDir
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start(), "node and make oidc are needed")
	t.Cleanup(func() { _ = cmd.Wait() })
	require.True(t, bufio.NewScanner(out).Scan(), "the provider did not start")
	return startWorld(t, func(cfg *starter.Config) {
		cfg.HTTP.PublicURL = "http://coach.test"
		cfg.HTTP.Provider = console.Provider{Issuer: "http://127.0.0.1:" + port, ClientID: "coach", ClientSecret: "s3cret"}
	})
}

var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	hidden     = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	abort      = regexp.MustCompile(`href="([^"]+/abort)"`)
)

// account is a person at the provider, with a browser of their own there.
type account struct {
	login string
	http  *http.Client
	// forms counts the forms that were filled in.
	forms int
	// declines: the person cancels.
	declines bool
}

func newAccount(t *testing.T, login string) *account {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &account{login: login, http: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// visit goes where the console sends the browser, fills in what the provider asks for, and
// returns the address that it sends the browser back to.
func (a *account) visit(t *testing.T, at string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	require.NoError(t, err)
	for range 20 {
		res, err := a.http.Do(request)
		require.NoError(t, err)
		body := new(strings.Builder)
		_, err = bufio.NewReader(res.Body).WriteTo(body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		here := request.URL
		if next := res.Header.Get("Location"); next != "" {
			to, err := here.Parse(next)
			require.NoError(t, err)
			if to.Host == "coach.test" {
				return to.RequestURI()
			}
			request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, to.String(), http.NoBody)
			require.NoError(t, err)
			continue
		}
		page := body.String()
		action := formAction.FindStringSubmatch(page)
		require.NotNil(t, action, "status %d: %s", res.StatusCode, page)
		if cancel := abort.FindStringSubmatch(page); a.declines && cancel != nil {
			to, err := here.Parse(cancel[1])
			require.NoError(t, err)
			request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, to.String(), http.NoBody)
			require.NoError(t, err)
			continue
		}
		fields := url.Values{"login": {a.login}, "password": {"any"}}
		for _, field := range hidden.FindAllStringSubmatch(page, -1) {
			fields.Set(field[1], field[2])
		}
		to, err := here.Parse(action[1])
		require.NoError(t, err)
		a.forms++
		request, err = http.NewRequestWithContext(t.Context(), http.MethodPost, to.String(), strings.NewReader(fields.Encode()))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	require.Fail(t, "the provider does not send the browser back")
	return ""
}

func (a *account) signIn(t *testing.T, b *browser) page {
	t.Helper()
	began := b.get("/console/oidc/login?next=" + url.QueryEscape("/console/access"))
	require.Equal(t, http.StatusSeeOther, began.status, began.text)
	return b.get(a.visit(t, began.location))
}

// TestRealProvider signs in at a certified provider, in ten ways.
func TestRealProvider(t *testing.T) {
	w := startRealProvider(t)
	w.addUser("ada@example.org", auth.RoleAdmin)
	w.addUser("unverified-ida@example.org", auth.RoleAdmin)
	gone := w.addUser("gus@example.org", auth.RoleAdmin)
	_, err := w.rows.Users.UpdateUser(t.Context(), models.UserUpdate{ID: gone.ID, Patch: models.UserChange{Disabled: new(true)}, Now: w.now()})
	require.NoError(t, err)
	ada, b := newAccount(t, "ada"), w.open("127.0.0.1")
	isIn := func(got page) { t.Helper(); require.Equal(t, http.StatusSeeOther, got.status, got.text) }
	for _, way := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"first, with the address from UserInfo", func(t *testing.T) { isIn(ada.signIn(t, b)); require.Equal(t, 2, ada.forms); require.True(t, b.isIn()) }},
		{"again, without a form", func(t *testing.T) { isIn(ada.signIn(t, w.open("127.0.0.1"))); require.Equal(t, 2, ada.forms) }},
		{"from another device", func(t *testing.T) { isIn(newAccount(t, "ada").signIn(t, w.open("127.0.0.2"))) }},
		{"two tabs at once", func(t *testing.T) {
			b := w.open("127.0.0.1")
			first, second := b.get("/console/oidc/login").location, b.get("/console/oidc/login").location
			isIn(b.get(ada.visit(t, second)))
			isIn(b.get(ada.visit(t, first)))
		}},
		{"a code twice", func(t *testing.T) {
			b := w.open("127.0.0.1")
			back := ada.visit(t, b.get("/console/oidc/login").location)
			isIn(b.get(back))
			require.Equal(t, http.StatusUnauthorized, b.get(back).status)
		}},
		{"the answer of another browser", func(t *testing.T) {
			back := ada.visit(t, w.open("127.0.0.1").get("/console/oidc/login").location)
			require.Equal(t, http.StatusUnauthorized, w.open("127.0.0.1").get(back).status)
		}},
		{"cancelled", func(t *testing.T) {
			eve := newAccount(t, "ada")
			eve.declines = true
			require.Contains(t, eve.signIn(t, w.open("127.0.0.1")).text, "cancelled")
		}},
		{"an address that is not verified", func(t *testing.T) {
			require.Equal(t, http.StatusForbidden, newAccount(t, "unverified-ida").signIn(t, w.open("127.0.0.1")).status)
		}},
		{"without an account here, and disabled", func(t *testing.T) {
			require.Equal(t, http.StatusForbidden, newAccount(t, "mallory").signIn(t, w.open("127.0.0.1")).status)
			require.Equal(t, http.StatusForbidden, newAccount(t, "gus").signIn(t, w.open("127.0.0.1")).status)
		}},
		{"after signing out, asked again", func(t *testing.T) {
			require.Equal(t, http.StatusOK, b.do(http.MethodPost, "/console/logout", nil, nil).status)
			require.False(t, b.isIn())
			before := ada.forms
			isIn(ada.signIn(t, b))
			require.Greater(t, ada.forms, before)
		}},
	} {
		t.Run(way.name, way.run)
	}
}
